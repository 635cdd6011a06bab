//! Declares events of a backend: points of a stream that other streams and the host can wait for.

use super::StreamHandle;
use pygpu_base::error::Result;

/// Driver handle of an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EventHandle(pub usize);

/// Options for creating an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventFlags {
    /// Whether the event records the time.
    pub timing: bool,
    /// Whether a thread that waits for the event sleeps instead of spinning.
    pub blocking_sync: bool,
    /// Whether the event can be shared with other processes; requires `timing` off.
    pub interprocess: bool,
}

/// Declares operations on the events of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait Events: Send + Sync {
    /// Creates an event.
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle>;
    /// Destroys an event. Streams that already wait for it continue to wait.
    ///
    /// # Safety
    /// The handle came from `create_event` and is not used again.
    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()>;
    /// Records the event at the current end of the stream.
    ///
    /// # Safety
    /// Stream and event are alive and belong to one device.
    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()>;
    /// Records the event at the current end of all streams of the device. Returns `false` if the driver does not
    /// support this.
    ///
    /// # Safety
    /// The event is alive and belongs to the device.
    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Returns whether all work that precedes the event on its stream is complete.
    ///
    /// # Safety
    /// The event is alive.
    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool>;
    /// Blocks the host until all work that precedes the event on its stream is complete.
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
