//! Graphs: work that is captured from a stream once, and launched as a whole many times.
//!
//! What a capture forbids, and who keeps the memory of a graph alive, is the caller's work (`memory::capture`, `graph`); here
//! everything is raw, as in [`Backend`](super::Backend).

use super::StreamHandle;
use crate::error::{Error, Result};

/// A captured graph, as the driver describes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GraphHandle(pub usize);

/// A graph that can be launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExecutableHandle(pub usize);

/// What other calls may be made while a capture is under way, in the driver's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureMode {
    /// Nobody in the process may do what could wait.
    Global = 0,
    /// The capturing thread may not.
    ThreadLocal = 1,
    /// Everybody may.
    Relaxed = 2,
}

/// Work of the host in a graph, done at each launch. It holds what it uses.
pub type HostWork = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// Captures and launches on one backend's devices.
///
/// # Safety of the callers
/// As in [`Backend`](super::Backend): who passes a handle promises that it belongs to the device and is alive.
pub trait Graphs: Send + Sync {
    /// From now on what is put on the stream is captured and does not run.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// The driver's, for a default stream and one that captures already.
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()>;
    /// Ends the capture that began on the stream.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// The driver's, for a capture that something has made invalid; it is over then, too.
    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle>;
    /// The number of the capture in which a stream takes part, also one that began elsewhere; `None` if it runs what it is given.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>>;
    /// Puts work of the host's on a stream: it is done now, or at each launch of the graph that the stream captures. Arrays in host
    /// memory are copied and filled above the backend, which would not know of it.
    ///
    /// # Safety
    /// The stream is alive; the work may be done at any time until the graph is destroyed.
    unsafe fn put_work(&self, _device: i32, _stream: StreamHandle, _work: HostWork) -> Result<()> {
        Err(Error::not_supported("a GPU's graph holds work of the device only"))
    }

    /// Makes a graph that can be launched.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle>;
    /// How many operations a graph has.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn node_count(&self, device: i32, graph: GraphHandle) -> Result<usize>;
    /// Ends a graph; what was instantiated of it lives on.
    ///
    /// # Safety
    /// It is alive and not used again.
    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()>;

    /// Brings what a launch needs to the device already, in the order of the stream.
    ///
    /// # Safety
    /// Both are alive.
    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()>;
    /// Puts all operations on a stream.
    ///
    /// # Safety
    /// Both are alive, and so is all memory that the operations use, until the stream has passed them.
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()>;
    /// Ends an executable graph.
    ///
    /// # Safety
    /// It is alive, not used again, and no launch of it is under way.
    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()>;
}

/// What a backend answers that has no graphs.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("graphs are not supported by the {backend} backend"))
}
