//! Declares graphs: work that is captured from a stream once and launched as a whole many times.
//!
//! The callers (`memory::stream_captures`, `graph`) handle the restrictions of a capture, and keep the memory of a
//! graph alive. This module only wraps the driver's calls, as does [`Backend`](super::Backend).

use std::any::Any;
use std::sync::Arc;

use super::StreamHandle;
use pygpu_base::error::{Error, Result};

/// Driver handle of a captured graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GraphHandle(pub usize);

/// Driver handle of a graph that can be launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExecutableHandle(pub usize);

/// Driver handle of one operation of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeHandle(pub usize);

/// Kind of an operation in a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind {
    /// A kernel launch.
    Kernel,
    /// A copy.
    Copy,
    /// A fill.
    Fill,
    /// A host function.
    Host,
    /// Any other kind of operation, with the driver's enum value for this kind.
    Other(u32),
}

impl NodeKind {
    /// Converts the driver's value to a kind. CUDA and HIP use equal values for the named kinds.
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::Kernel,
            1 => Self::Copy,
            2 => Self::Fill,
            3 => Self::Host,
            other => Self::Other(other),
        }
    }

    /// Returns the driver's name of the kind, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Copy => "memcpy",
            Self::Fill => "memset",
            Self::Host => "host",
            Self::Other(4) => "graph",
            Self::Other(5) => "empty",
            Self::Other(6) => "wait_event",
            Self::Other(7) => "event_record",
            Self::Other(10) => "mem_alloc",
            Self::Other(11) => "mem_free",
            Self::Other(13) => "conditional",
            Self::Other(_) => "other",
        }
    }
}

/// Driver handle of a condition: a number that kernels set and that decides which operations of a graph run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConditionHandle(pub u64);

/// A condition's handle, and the object that must stay alive as long as kernels may set the condition.
#[derive(Clone)]
pub struct Condition {
    /// Driver handle, which kernels receive.
    pub handle: ConditionHandle,
    /// The object that the caller must keep alive, if there is one.
    pub owner: Option<Arc<dyn Any + Send + Sync>>,
}

/// Kinds of conditional operations, with the driver's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branching {
    /// Executes the first body if the condition's value is not 0, otherwise the second body if it exists.
    If = 0,
    /// Executes the body while the condition's value is not 0.
    While = 1,
    /// Executes the body whose index is the condition's value.
    Switch = 2,
}

/// State of an active capture and of one stream that takes part in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// Number of operations captured so far.
    pub nodes: usize,
    /// The operation on which the stream's next operation will depend; `None` unless there is exactly one.
    pub last: Option<NodeHandle>,
}

/// Determines which calls are rejected while a capture is active, with the driver's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaptureMode {
    /// While a capture is active, no thread of the process may make calls that could wait for the device.
    Global = 0,
    /// While a capture is active, the capturing thread may not make calls that could wait for the device.
    ThreadLocal = 1,
    /// No calls are rejected.
    Relaxed = 2,
}

/// Host work in a graph, executed at each launch of the graph. The work owns the objects that it uses.
pub type HostWork = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// Captures and graph launches on one backend's devices.
///
/// As in [`Backend`](super::Backend): a caller that passes a handle guarantees that the handle belongs to the device
/// and is alive.
pub trait Graphs: Send + Sync {
    /// Begins a capture: later operations of the stream are recorded and not executed.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// Errors of the driver, for instance if the stream is a default stream or is already capturing.
    unsafe fn begin_capture(&self, device: i32, stream: StreamHandle, mode: CaptureMode) -> Result<()>;
    /// Ends the capture of the stream.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// Errors of the driver, for instance if the capture was invalidated; such a capture ends, too.
    unsafe fn end_capture(&self, device: i32, stream: StreamHandle) -> Result<GraphHandle>;
    /// Returns the id of the capture in which a stream takes part, even if it began on another stream, or `None`
    /// without a capture.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn capture_of(&self, device: i32, stream: StreamHandle) -> Result<Option<u64>>;
    /// Enqueues host work on a stream. If the stream is capturing, each launch of the graph executes the work.
    /// Otherwise the work is executed at once. Layers above the backend copy and fill arrays in host memory themselves,
    /// and record this work in a graph by this function.
    ///
    /// # Safety
    /// The stream is alive; the work may be executed at any time until the graph is destroyed.
    unsafe fn put_work(&self, _device: i32, _stream: StreamHandle, _kind: NodeKind, _work: HostWork) -> Result<()> {
        Err(Error::not_supported("a GPU's graph holds work of the device only"))
    }
    /// Returns the state of the capture in which a stream takes part; empty if the capture is invalid or has ended.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn captured(&self, device: i32, stream: StreamHandle) -> Result<Captured>;

    /// Creates a condition for the graph that a stream captures. Each launch resets the condition to the value
    /// `default`; if `default` is `None`, the condition keeps the value of the previous launch.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// `NotSupported` if the driver has no conditions; errors of the driver, for instance if the stream is not
    /// capturing.
    unsafe fn create_condition(&self, _device: i32, _stream: StreamHandle, _default: Option<u32>) -> Result<Condition> {
        Err(no_conditions())
    }
    /// Adds a conditional operation to the graph that a stream captures. Returns its bodies, which are empty and exist
    /// as long as the graph.
    ///
    /// # Safety
    /// The stream is alive. The condition belongs to the graph that the stream captures, or to an enclosing graph.
    ///
    /// # Errors
    /// The errors of [`Graphs::create_condition`].
    unsafe fn put_conditional(
        &self,
        _device: i32,
        _stream: StreamHandle,
        _condition: ConditionHandle,
        _branching: Branching,
        _bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        Err(no_conditions())
    }
    /// Begins to capture a stream into the body of a conditional operation. Ending the capture returns the body.
    ///
    /// # Safety
    /// The stream is alive, and so is the graph that contains the body.
    ///
    /// # Errors
    /// The errors of [`Graphs::begin_capture`].
    unsafe fn begin_body(
        &self,
        _device: i32,
        _stream: StreamHandle,
        _body: GraphHandle,
        _mode: CaptureMode,
    ) -> Result<()> {
        Err(no_conditions())
    }

    /// Creates an executable graph from a captured graph.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn instantiate(&self, device: i32, graph: GraphHandle) -> Result<ExecutableHandle>;
    /// Returns the number of operations of a graph.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn node_count(&self, device: i32, graph: GraphHandle) -> Result<usize>;
    /// Returns the operations of a graph.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn nodes(&self, device: i32, graph: GraphHandle) -> Result<Vec<NodeHandle>>;
    /// Returns the kind of an operation.
    ///
    /// # Safety
    /// The graph is alive and contains the operation.
    unsafe fn node_kind(&self, device: i32, graph: GraphHandle, node: NodeHandle) -> Result<NodeKind>;
    /// Copies the parameters of another graph's operation to an operation of an executable graph. Affects launches that
    /// begin later, not those in progress.
    ///
    /// # Safety
    /// All handles are alive, both operations are of kind `kind`, and `to` belongs to the graph from which the
    /// executable was instantiated. No launch happens concurrently.
    ///
    /// # Errors
    /// Errors of the driver, for parameters that cannot be exchanged; then nothing is changed.
    unsafe fn set_node(
        &self,
        device: i32,
        executable: ExecutableHandle,
        kind: NodeKind,
        to: (GraphHandle, NodeHandle),
        from: (GraphHandle, NodeHandle),
    ) -> Result<()>;
    /// Copies all parameters of another graph to an executable graph and to the graph from which it was instantiated.
    /// Affects launches that begin later, not those in progress.
    ///
    /// # Safety
    /// All handles are alive, and no launch happens concurrently.
    ///
    /// # Errors
    /// The driver's error with its reason, if the graphs differ in more than parameters.
    unsafe fn update(&self, device: i32, executable: (ExecutableHandle, GraphHandle), graph: GraphHandle)
    -> Result<()>;
    /// Destroys a graph. Executable graphs instantiated from it stay valid.
    ///
    /// # Safety
    /// The graph is alive and not used again.
    unsafe fn destroy_graph(&self, device: i32, graph: GraphHandle) -> Result<()>;

    /// Uploads an executable graph to the device before its first launch, as an operation on a stream.
    ///
    /// # Safety
    /// Both handles are alive.
    unsafe fn upload(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()>;
    /// Launches a graph: enqueues all its operations on a stream.
    ///
    /// # Safety
    /// Both handles are alive, and all memory that the operations use stays valid until the stream has completed them.
    unsafe fn launch_graph(&self, device: i32, executable: ExecutableHandle, stream: StreamHandle) -> Result<()>;
    /// Destroys an executable graph.
    ///
    /// # Safety
    /// The executable graph is alive and not used again, and no launch of it is in progress.
    unsafe fn destroy_executable(&self, device: i32, executable: ExecutableHandle) -> Result<()>;
}

/// Returns a text that explains why a graph cannot be updated as a whole. `number` is the driver's value for the
/// reason, which is equal in CUDA and HIP.
pub(super) const fn update_reason(number: u32) -> &'static str {
    match number {
        2 => "the topology changed: the graphs have other operations or other dependencies",
        3 => "the kind of an operation changed",
        4 => "the kernel of an operation changed",
        5 => "the parameters of an operation changed in a way that is not supported",
        6 => "something about an operation is not supported",
        7 => "the kernel of an operation changed in a way that is not supported",
        8 => "the attributes of an operation changed in a way that is not supported",
        _ => "the driver gives no reason",
    }
}

/// Returns the error of a backend without graphs.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("graphs are not supported by the {backend} backend"))
}

/// Returns the error of a backend that does not support conditions in graphs.
#[cold]
pub(super) fn no_conditions() -> Error {
    Error::not_supported(
        "HIP's graphs have no conditional nodes: CUDA's have, and those of the cpu backend; capture the part that is to be repeated, \
         or left out, as a graph of its own, and decide on the host whether to launch it",
    )
}
