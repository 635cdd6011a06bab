//! Things that must outlive a stream's work, such as the host array of an asynchronous copy.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use crate::device::{Device, MAX_DEVICES};
use crate::error::Result;
use crate::stream::{Mark, Stream};

type Kept = (Mark, Box<dyn Any + Send>);

static PENDING: [[Mutex<Vec<Kept>>; MAX_DEVICES]; 3] = [const { [const { Mutex::new(Vec::new()) }; MAX_DEVICES] }; 3];

/// Keeps `thing` until the stream has passed its present end.
///
/// # Errors
/// The driver's; then the stream was waited for and `thing` is not needed any more.
pub fn keep_until_passed(stream: &Stream, thing: Box<dyn Any + Send>) -> Result<()> {
    let device = stream.device();
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
