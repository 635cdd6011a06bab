//! Streams.

use std::ffi::c_void;

use super::EventHandle;
use pygpu_base::error::Result;

/// A function of the host that a stream calls with a number of the caller's.
pub type HostFunction = extern "C" fn(*mut c_void);

/// A driver's stream. `DEFAULT` is the legacy default stream of the device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StreamHandle(pub usize);

impl StreamHandle {
    /// The legacy default stream.
    pub const DEFAULT: Self = Self(0);
}

/// How a stream is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StreamFlags {
    /// Does not wait for the legacy default stream, nor it for this one.
    pub non_blocking: bool,
    /// Lower numbers run first; 0 is the default.
    pub priority: i32,
}

/// Streams of one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes an address or a handle promises that it belongs to the device and is alive.
pub trait Streams: Send + Sync {
    /// Makes a stream.
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle>;
    /// Ends a stream; work in flight still completes.
    ///
    /// # Safety
    /// The handle came from `create_stream` and is not used again.
    unsafe fn destroy_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Waits until the stream has nothing left to do.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()>;
    /// Whether the stream has nothing left to do.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool>;
    /// Work put on the stream from now on waits for the event.
    ///
    /// # Safety
    /// Stream and event are alive.
    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()>;
    /// The device a stream belongs to; `None` where the driver cannot say.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>>;
    /// Calls a function of the host in the order of the stream, on a thread of the driver's; or at each launch of the graph that
    /// the stream captures. On the CPU it is called now, on this thread.
    ///
    /// # Safety
    /// The stream is alive, and the function may be called with `data` at any time from now on.
    ///
    /// # Errors
    /// The driver's; the function is not called then.
    unsafe fn call_host(
        &self,
        device: i32,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<()>;
}
