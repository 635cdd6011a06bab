//! Defines events. An event marks a point of a stream, for which other streams or the host can wait.

use super::{Stream, reset_error};
use crate::Device;
use crate::shutdown;
use pygpu_backend::{EventFlags, EventHandle, HANDLE_BYTES};
use pygpu_base::error::{Error, Result};

/// A point of a stream that other streams and the host can wait for.
pub struct Event {
    pub(super) device: Device,
    pub(super) handle: EventHandle,
    pub(super) epoch: u32,
}

impl Event {
    /// Creates an event that marks no point yet.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn create(device: Device, flags: EventFlags) -> Result<Self> {
        let epoch = device.epoch();
        Ok(Self { device, handle: device.backend().create_event(device.index(), flags)?, epoch })
    }

    /// Opens an event of another process by its shared handle.
    ///
    /// # Errors
    /// Errors of the driver; `NotSupported` on the CPU.
    pub fn open_shared(device: Device, handle: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let epoch = device.epoch();
        let handle = device.backend().driver_memory()?.open_shared_event(device.index(), handle)?;
        Ok(Self { device, handle, epoch })
    }

    /// Returns a handle by which other processes can open the event.
    ///
    /// # Errors
    /// Errors of the driver, for example for an event created without the `interprocess` flag; `NotSupported` on the
    /// CPU.
    pub fn share(&self) -> Result<[u8; HANDLE_BYTES]> {
        self.check_alive("share")?;
        // SAFETY: `self` owns the event, so its handle is valid.
        unsafe { self.device.backend().driver_memory()?.share_event(self.device.index(), self.handle) }
    }

    /// Returns the device of the event.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the driver's handle of the event.
    pub fn handle(&self) -> EventHandle {
        self.handle
    }

    /// Records the event at the current end of the stream.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; errors of the driver.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.check_alive("record")?;
        stream.check_alive("record")?;
        if stream.device != self.device {
            return Err(Error::value(format!(
                "record: the event is of {} and the stream of {}; an event marks streams of its own device",
                self.device, stream.device
            )));
        }
        // SAFETY: the handles of event and stream are valid, and belong to one device, as checked above.
        unsafe { self.device.backend().record_event(self.device.index(), self.handle, stream.handle()) }
    }

    /// Returns whether all work that precedes the event on its stream is complete; true for an event that was never
    /// recorded.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn query(&self) -> Result<bool> {
        self.check_alive("query")?;
        // SAFETY: `self` owns the event, so its handle is valid.
        unsafe { self.device.backend().query_event(self.device.index(), self.handle) }
    }

    /// Blocks the host until all work that precedes the event on its stream is complete.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn synchronize(&self) -> Result<()> {
        self.check_alive("synchronize")?;
        // SAFETY: `self` owns the event, so its handle is valid.
        unsafe { self.device.backend().synchronize_event(self.device.index(), self.handle) }
    }

    /// Returns the milliseconds from this event to `end`.
    ///
    /// # Errors
    /// Errors of the driver, e.g. if an event was created without timing, was not recorded, or is not complete.
    pub fn elapsed(&self, end: &Self) -> Result<f32> {
        self.check_alive("elapsed")?;
        end.check_alive("elapsed")?;
        // SAFETY: `self` and `end` own their events, so the handles are valid.
        unsafe { self.device.backend().elapsed(self.device.index(), self.handle, end.handle) }
    }

    /// Returns whether the event is valid, i.e. the device was not reset since the event was created.
    pub fn is_alive(&self) -> bool {
        self.epoch == self.device.epoch()
    }

    fn check_alive(&self, operation: &str) -> Result<()> {
        if self.is_alive() { Ok(()) } else { Err(reset_error(operation, "event", self.device)) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !shutdown::exiting() && self.epoch == self.device.epoch() {
            // SAFETY: `self` is the only owner of the handle, which `create_event` returned.
            shutdown::defer(unsafe { self.device.backend().destroy_event(self.device.index(), self.handle) });
        }
    }
}

impl Stream {
    /// Makes all work that is enqueued on the stream from now on wait for an event. The event may belong to another
    /// device.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.check_alive("wait_event")?;
        event.check_alive("wait_event")?;
        if self.device.kind() != event.device.kind() {
            return Err(Error::value(format!(
                "wait_event: a stream of {} cannot wait for an event of {}: no driver serves both",
                self.device, event.device
            )));
        }
        // SAFETY: the borrow keeps the event alive, and the stream's handle is valid as in `synchronize`.
        unsafe { self.device.backend().wait_event(self.device.index(), self.handle(), event.handle) }
    }
}
