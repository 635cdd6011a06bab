//! Provides reusable events without timing, and the wait of one stream for another.

use std::mem::ManuallyDrop;

use super::{Event, Stream};
use crate::{Device, PerDevice, per_device};
use pygpu_backend::EventFlags;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;

/// Idle events of each device. They are kept for reuse, because creating an event costs more than recording one.
static SPARE: PerDevice<ForkSafeMutex<Vec<Event>>> = per_device!(ForkSafeMutex::new(Vec::new()));

/// Maximum number of idle events that are kept per device.
const MAX_SPARE: usize = 64;

/// A recorded event, which returns to the pool when dropped. A stream that already waits for the event keeps waiting
/// for the original point, even if the event is recorded again.
pub struct PooledEvent {
    event: ManuallyDrop<Event>,
}

impl PooledEvent {
    /// Records an event of the pool at the current end of a stream.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn record(stream: &Stream) -> Result<Self> {
        let mark = Self::unrecorded(stream.device)?;
        mark.event.record(stream)?;
        Ok(mark)
    }

    /// Records an event of the pool at the current end of all streams of a device; `None` if the driver does not
    /// support this.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn record_device(device: Device) -> Result<Option<Self>> {
        let mark = Self::unrecorded(device)?;
        // SAFETY: the event is alive and was created for this device.
        let recorded = unsafe { device.backend().record_event_of_device(device.index(), mark.event.handle)? };
        Ok(recorded.then_some(mark))
    }

    /// Returns the driver event that this value contains.
    pub fn event(&self) -> &Event {
        &self.event
    }

    fn unrecorded(device: Device) -> Result<Self> {
        let epoch = device.epoch();
        let spare = spare_of(device).lock().pop().filter(|event| event.epoch == epoch);
        let event = match spare {
            Some(event) => event,
            None => Event::create(device, EventFlags { timing: false, blocking_sync: false, interprocess: false })?,
        };
        Ok(Self { event: ManuallyDrop::new(event) })
    }
}

impl Drop for PooledEvent {
    fn drop(&mut self) {
        // SAFETY: `event` is taken exactly once, in this `drop`.
        let event = unsafe { ManuallyDrop::take(&mut self.event) };
        let mut spare = spare_of(event.device).lock();
        if spare.len() < MAX_SPARE {
            spare.push(event);
            return;
        }
        drop(spare); // releases the lock before the event is dropped, because its destruction calls the driver
        drop(event);
    }
}

fn spare_of(device: Device) -> &'static ForkSafeMutex<Vec<Event>> {
    SPARE.of(device)
}

impl Stream {
    /// Makes all work enqueued on this stream from now on wait for all work already enqueued on `first`.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_for(&self, first: &Self) -> Result<()> {
        if self == first {
            return Ok(());
        }
        let mark = PooledEvent::record(first)?;
        self.wait_event(&mark.event)
    }
}
