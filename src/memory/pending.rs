//! Things that must outlive a stream's work, such as the host array of an asynchronous copy.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use crate::device::{Device, MAX_DEVICES};
use crate::error::Result;
use crate::lifetime;
use crate::memory::capture;
use crate::stream::{Mark, Stream};

type Kept = (Mark, Box<dyn Any + Send>);

static PENDING: [[Mutex<Vec<Kept>>; MAX_DEVICES]; 3] = [const { [const { Mutex::new(Vec::new()) }; MAX_DEVICES] }; 3];

/// Keeps `thing` until the stream has passed its present end.
///
/// # Errors
/// The driver's; then the stream was waited for and `thing` is not needed any more.
pub fn keep_until_passed(stream: &Stream, thing: Box<dyn Any + Send>) -> Result<()> {
    let device = stream.device();
    if let Some(capture) = capture::of(stream)? {
        capture.keep(thing);
        return Ok(());
    }
    if stream.is_foreign() && capture::number_of(stream)?.is_some() {
        // It is somebody else's capture, whose graph may be launched at any time: nobody will know that it is over.
        std::mem::forget(thing);
        return Ok(());
    }
    sweep(device);
    match Mark::record(stream) {
        Ok(mark) => {
            list(device).push((mark, thing));
            Ok(())
        }
        Err(error) => {
            stream.synchronize()?;
            drop(thing);
            Err(error)
        }
    }
}

/// Keeps `thing` until the device has passed all that is on its streams now; for ever where its driver cannot mark that.
///
/// # Errors
/// The driver's; `thing` is kept for ever if the device could not be waited for either.
pub fn keep_until_device_passed(device: Device, thing: Box<dyn Any + Send>) -> Result<()> {
    if device.is_cpu() {
        return Ok(()); // nothing is ever under way
    }
    if capture::is_any() {
        // An event over all streams would make the captures invalid.
        capture::drop_afterwards(Box::new(Late { device, thing: Some(thing) }));
        return Ok(());
    }
    match Mark::record_device(device) {
        Ok(Some(mark)) => {
            list(device).push((mark, thing));
            sweep(device);
            Ok(())
        }
        // No event covers all streams, or none could be recorded: the host waits.
        other => match device.synchronize() {
            Ok(()) => {
                drop(thing);
                other.map(drop)
            }
            Err(error) => {
                std::mem::forget(thing);
                other.and(Err(error))
            }
        },
    }
}

/// What is kept until the device has passed, from its drop on.
struct Late {
    device: Device,
    thing: Option<Box<dyn Any + Send>>,
}

impl Drop for Late {
    fn drop(&mut self) {
        if let Some(thing) = self.thing.take() {
            lifetime::defer(keep_until_device_passed(self.device, thing));
        }
    }
}

/// Lets go of everything whose stream has passed or was reset. What cannot be asked for is kept: better leaked than torn
/// away.
pub fn sweep(device: Device) {
    let mut kept = std::mem::take(&mut *list(device));
    if kept.is_empty() {
        return;
    }
    // The lock is free while the driver is asked and while things are dropped.
    let is_over = |mark: &Mark| !mark.event().is_alive() || mark.event().query().unwrap_or(false);
    let passed: Vec<Kept> = kept.extract_if(.., |(mark, _)| is_over(mark)).collect();
    list(device).append(&mut kept);
    drop(passed);
}

fn list(device: Device) -> std::sync::MutexGuard<'static, Vec<Kept>> {
    PENDING[device.kind() as usize][device.slot()].lock().unwrap_or_else(PoisonError::into_inner)
}
