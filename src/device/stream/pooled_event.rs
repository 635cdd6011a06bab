//! Events that are lent for one wait, kept for the next, and the wait of one stream for another.

use std::mem::ManuallyDrop;

use super::{Event, Stream};
use crate::{Device, PerDevice, per_device};
use pygpu_backend::EventFlags;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::Global;

/// Events without timing that are kept for the next use: making one costs more than recording it.
static SPARE: PerDevice<Global<Vec<Event>>> = per_device!(Global::new(Vec::new()));

/// Most spare events of one device.
const MAX_SPARE: usize = 64;

/// A recorded event from the store of spare ones, to which it returns when dropped: a stream that was told to wait for it
/// keeps waiting for the point it marked then.
pub struct Mark {
    event: ManuallyDrop<Event>,
}

impl Mark {
    /// Marks the point that a stream has reached.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(stream: &Stream) -> Result<Self> {
        let mark = Self::unrecorded(stream.device)?;
        mark.event.record(stream)?;
        Ok(mark)
    }

    /// Marks the point that all streams of a device have reached; `None` where its driver cannot.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_device(device: Device) -> Result<Option<Self>> {
        let mark = Self::unrecorded(device)?;
        // SAFETY: the event is alive and of the device.
        let recorded = unsafe { device.backend().record_event_of_device(device.index(), mark.event.handle)? };
        Ok(recorded.then_some(mark))
    }

    /// The event.
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

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the event is taken out once, here.
        let event = unsafe { ManuallyDrop::take(&mut self.event) };
        let mut spare = spare_of(event.device).lock();
        if spare.len() < MAX_SPARE {
            spare.push(event);
            return;
        }
        drop(spare); // before the event, whose destruction calls the driver
        drop(event);
    }
}

fn spare_of(device: Device) -> &'static Global<Vec<Event>> {
    SPARE.of(device)
}

impl Stream {
    /// Lets work put on this stream from now on wait for all that is on `first` now.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_for(&self, first: &Self) -> Result<()> {
        if self == first {
            return Ok(());
        }
        let mark = Mark::record(first)?;
        self.wait_event(&mark.event)
    }
}
