//! Events, which mark a point of a stream, and the wait for one.

use super::{Stream, reset_error};
use crate::Device;
use crate::shutdown;
use pygpu_backend::{EventFlags, EventHandle, HANDLE_BYTES};
use pygpu_base::error::{Error, Result};

/// A point of a stream that others can wait for.
pub struct Event {
    pub(super) device: Device,
    pub(super) handle: EventHandle,
    pub(super) epoch: u32,
}

impl Event {
    /// A new event that marks nothing yet.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(device: Device, flags: EventFlags) -> Result<Self> {
        let epoch = device.epoch();
        Ok(Self { device, handle: device.backend().create_event(device.index(), flags)?, epoch })
    }

    /// An event of another process, by the name that it was given there.
    ///
    /// # Errors
    /// The driver's; `NotSupported` on the CPU.
    pub fn open_shared(device: Device, handle: &[u8; HANDLE_BYTES]) -> Result<Self> {
        let epoch = device.epoch();
        let handle = device.backend().driver_memory()?.open_shared_event(device.index(), handle)?;
        Ok(Self { device, handle, epoch })
    }

    /// Names the event for other processes.
    ///
    /// # Errors
    /// The driver's, for one that was not made for that; `NotSupported` on the CPU.
    pub fn share(&self) -> Result<[u8; HANDLE_BYTES]> {
        self.check_alive("share")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().driver_memory()?.share_event(self.device.index(), self.handle) }
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// The driver's handle.
    pub fn handle(&self) -> EventHandle {
        self.handle
    }

    /// Marks the point that the stream has reached.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        self.check_alive("record")?;
        stream.check_alive("record")?;
        if stream.device != self.device {
            return Err(Error::value(format!(
                "record: the event is of {} and the stream of {}; an event marks streams of its own device",
                self.device, stream.device
            )));
        }
        // SAFETY: both handles are alive and of one device.
        unsafe { self.device.backend().record_event(self.device.index(), self.handle, stream.handle()) }
    }

    /// Whether the marked point was reached; true for an event that marks nothing.
    ///
    /// # Errors
    /// The driver's.
    pub fn query(&self) -> Result<bool> {
        self.check_alive("query")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().query_event(self.device.index(), self.handle) }
    }

    /// Waits until the marked point was reached.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<()> {
        self.check_alive("synchronize")?;
        // SAFETY: the handle is alive.
        unsafe { self.device.backend().synchronize_event(self.device.index(), self.handle) }
    }

    /// Milliseconds from this event to `end`.
    ///
    /// # Errors
    /// The driver's: both must be recorded, reached, and made with timing.
    pub fn elapsed(&self, end: &Self) -> Result<f32> {
        self.check_alive("elapsed")?;
        end.check_alive("elapsed")?;
        // SAFETY: both handles are alive.
        unsafe { self.device.backend().elapsed(self.device.index(), self.handle, end.handle) }
    }

    /// Whether the driver still knows it: not after its device was reset.
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
            // SAFETY: this is the only owner of a handle that `create_event` gave.
            shutdown::defer(unsafe { self.device.backend().destroy_event(self.device.index(), self.handle) });
        }
    }
}

impl Stream {
    /// Lets work put on the stream from now on wait for an event, which may be of another device.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.check_alive("wait_event")?;
        event.check_alive("wait_event")?;
        if self.device.kind() != event.device.kind() {
            return Err(Error::value(format!(
                "wait_event: a stream of {} cannot wait for an event of {}: no driver serves both",
                self.device, event.device
            )));
        }
        // SAFETY: the event is borrowed, the stream alive as in `synchronize`.
        unsafe { self.device.backend().wait_event(self.device.index(), self.handle(), event.handle) }
    }
}
