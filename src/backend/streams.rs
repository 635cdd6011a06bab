//! Defines the interface to the streams of a backend. A stream is a queue of work on a device.

use std::ffi::c_void;

use super::EventHandle;
use pygpu_base::error::Result;

/// A host function that a stream calls, with a pointer provided by the caller.
pub type HostFunction = extern "C" fn(*mut c_void);

/// Driver handle of a stream. `DEFAULT` is the legacy default stream of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StreamHandle(pub usize);

impl StreamHandle {
    /// The legacy default stream.
    pub const DEFAULT: Self = Self(0);
}

/// Options for creating a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamFlags {
    /// Whether the stream is independent of the legacy default stream, so that neither waits for the other.
    pub non_blocking: bool,
    /// Priority of the stream. Lower numbers run first; 0 is the default.
    pub priority: i32,
}

/// Streams of one backend's devices.
///
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait Streams: Send + Sync {
    /// Creates a stream.
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle>;
    /// Destroys a stream. Work already enqueued on it still completes.
    ///
    /// # Safety
    /// The handle came from `create_stream` and is not used again.
    unsafe fn destroy_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Blocks the host until all work of the stream is complete.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Returns whether all work of the stream is complete.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool>;
    /// Returns the options of the stream, with the priority after the driver's clamping.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn stream_flags(&self, device: i32, stream: StreamHandle) -> Result<StreamFlags>;
    /// Makes work that is enqueued on the stream after this call wait for the event.
    ///
    /// # Safety
    /// Stream and event are alive.
    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()>;
    /// Returns the device of a stream; `None` if the driver does not report it.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>>;
    /// Calls a host function in stream order, on a thread of the driver. If the stream is being captured, calls the
    /// function at each launch of the graph. On the CPU the function is called immediately, on this thread.
    ///
    /// # Safety
    /// The stream is alive, and the function may be called with `data` at any time from now on.
    ///
    /// # Errors
    /// Errors of the driver; the function is then not called.
    unsafe fn call_host(
        &self,
        device: i32,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<()>;
}
