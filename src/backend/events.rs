//! Events.

use super::StreamHandle;
use pygpu_base::error::Result;

/// A driver's event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventHandle(pub usize);

/// Options of a new event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventFlags {
    /// Records the time.
    pub timing: bool,
    /// `synchronize` sleeps instead of spinning.
    pub blocking_sync: bool,
    /// Can be shared with other processes; requires `timing` off.
    pub interprocess: bool,
}

/// Events of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes an address or a handle guarantees that it belongs to the
/// device and is alive.
pub trait Events: Send + Sync {
    /// Creates an event.
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle>;
    /// Destroys an event; streams that wait for it continue to wait.
    ///
    /// # Safety
    /// The handle came from `create_event` and is not used again.
    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Marks the current end of the stream.
    ///
    /// # Safety
    /// Stream and event are alive and belong to one device.
    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()>;
    /// Marks the current end of all streams of the device; returns `false` if the driver does not support it.
    ///
    /// # Safety
    /// The event is alive and belongs to the device.
    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Returns whether the marked point was reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Waits until the marked point is reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn synchronize_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Returns the milliseconds between two recorded events.
    ///
    /// # Safety
    /// The events are alive.
    unsafe fn elapsed(&self, device: i32, start: EventHandle, end: EventHandle) -> Result<f32>;
}
