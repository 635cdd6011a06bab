//! Events.

use super::StreamHandle;
use pygpu_base::error::Result;

/// A driver's event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventHandle(pub usize);

/// How an event is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventFlags {
    /// Records the time.
    pub timing: bool,
    /// `synchronize` sleeps instead of spinning.
    pub blocking_sync: bool,
    /// May be shared with other processes; needs `timing` off.
    pub interprocess: bool,
}

/// Events of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes an address or a handle promises that it belongs to the device and is alive.
pub trait Events: Send + Sync {
    /// Makes an event.
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle>;
    /// Ends an event; streams that wait for it still do.
    ///
    /// # Safety
    /// The handle came from `create_event` and is not used again.
    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Marks this point of the stream.
    ///
    /// # Safety
    /// Stream and event are alive and of one device.
    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()>;
    /// Marks this point of all the device's streams at once; `false` where the driver cannot.
    ///
    /// # Safety
    /// The event is alive and of the device.
    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Whether the marked point was reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Waits until the marked point was reached.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn synchronize_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Milliseconds between two recorded events.
    ///
    /// # Safety
    /// The events are alive.
    unsafe fn elapsed(&self, device: i32, start: EventHandle, end: EventHandle) -> Result<f32>;
}
