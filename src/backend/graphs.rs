//! Graphs: work that is captured from a stream once, and launched as a whole many times.
//!
//! What a capture forbids, and who keeps the memory of a graph alive, is the caller's work (`memory::capture`, `graph`); here
//! everything is raw, as in [`Backend`](super::Backend).

use std::any::Any;
use std::sync::Arc;

use super::StreamHandle;
use pygpu_base::error::{Error, Result};

/// A captured graph, as the driver describes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GraphHandle(pub usize);

/// A graph that can be launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExecutableHandle(pub usize);

/// An operation of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeHandle(pub usize);

/// What an operation of a graph is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NodeKind {
    /// A kernel.
    Kernel,
    /// A copy.
    Copy,
    /// A fill.
    Fill,
    /// A function of the host.
    Host,
    /// Something else, by the driver's number.
    Other(u32),
}

impl NodeKind {
    /// The kind of a number, which CUDA and HIP have in common as far as there are names here.
    pub const fn of(number: u32) -> Self {
        match number {
            0 => Self::Kernel,
            1 => Self::Copy,
            2 => Self::Fill,
            3 => Self::Host,
            other => Self::Other(other),
        }
    }

    /// As users see it: the driver's word.
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

/// What decides in a graph, by a number that kernels set: the driver's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConditionHandle(pub u64);

/// A condition, and what it must not outlive.
#[derive(Clone)]
pub struct Condition {
    /// The driver's, which kernels get.
    pub handle: ConditionHandle,
    /// Kept by whoever gives the handle to kernels.
    pub keeper: Option<Arc<dyn Any + Send + Sync>>,
}

/// What a condition decides, in the driver's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branching {
    /// Whether the first body is done; if not, the second one where there are two.
    If = 0,
    /// Whether the body is done, and then again.
    While = 1,
    /// Which body is done.
    Switch = 2,
}

/// What a capture under way holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured {
    /// How many operations.
    pub nodes: usize,
    /// The one that comes last on the stream, if it is one.
    pub last: Option<NodeHandle>,
}

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
    unsafe fn put_work(&self, _device: i32, _stream: StreamHandle, _kind: NodeKind, _work: HostWork) -> Result<()> {
        Err(Error::not_supported("a GPU's graph holds work of the device only"))
    }
    /// What the capture holds in which a stream takes part; nothing, if it is spoiled or over.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn captured(&self, device: i32, stream: StreamHandle) -> Result<Captured>;

    /// Makes a condition for the graph that a stream captures, with its number at the beginning of each launch; without one it has
    /// what the launch before left.
    ///
    /// # Safety
    /// The stream is alive.
    ///
    /// # Errors
    /// `NotSupported` where drivers have none; the driver's, for a stream that does not capture.
    unsafe fn create_condition(&self, _device: i32, _stream: StreamHandle, _default: Option<u32>) -> Result<Condition> {
        Err(no_conditions())
    }
    /// Puts an operation on a capturing stream in which a condition decides what is done; its bodies, which are empty and end with
    /// the graph.
    ///
    /// # Safety
    /// The stream is alive, and the condition is one of the graph that it captures, or of one around it.
    ///
    /// # Errors
    /// As for [`Graphs::create_condition`].
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
    /// As [`Graphs::begin_capture`], into a body. To end it gives the body again.
    ///
    /// # Safety
    /// The stream is alive, and so is the graph that the body is part of.
    ///
    /// # Errors
    /// As there.
    unsafe fn begin_body(
        &self,
        _device: i32,
        _stream: StreamHandle,
        _body: GraphHandle,
        _mode: CaptureMode,
    ) -> Result<()> {
        Err(no_conditions())
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
    /// The operations of a graph.
    ///
    /// # Safety
    /// The graph is alive.
    unsafe fn nodes(&self, device: i32, graph: GraphHandle) -> Result<Vec<NodeHandle>>;
    /// What an operation of a graph is.
    ///
    /// # Safety
    /// The graph is alive, and the operation is one of it.
    unsafe fn node_kind(&self, device: i32, graph: GraphHandle, node: NodeHandle) -> Result<NodeKind>;
    /// Gives an operation of an executable graph the parameters that one of another graph has: for later launches, not for those
    /// that are under way.
    ///
    /// # Safety
    /// All are alive, both operations are of the kind, and `to` is one of the graph of which the executable was made. No
    /// launch is made meanwhile.
    ///
    /// # Errors
    /// The driver's, for parameters that it cannot exchange; nothing is changed then.
    unsafe fn set_node(
        &self,
        device: i32,
        executable: ExecutableHandle,
        kind: NodeKind,
        to: (GraphHandle, NodeHandle),
        from: (GraphHandle, NodeHandle),
    ) -> Result<()>;
    /// Gives an executable graph, and what it was made of, all parameters of another graph, for later launches.
    ///
    /// # Safety
    /// All are alive, and no launch is made meanwhile.
    ///
    /// # Errors
    /// The driver's with its reason, for graphs that differ by more than parameters.
    unsafe fn update(&self, device: i32, executable: (ExecutableHandle, GraphHandle), graph: GraphHandle)
    -> Result<()>;
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

/// Why a graph cannot be updated as a whole, by the number that CUDA and HIP have for it.
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

/// What a backend answers that has no graphs.
pub(super) fn unsupported(backend: &str) -> Error {
    Error::not_supported(format!("graphs are not supported by the {backend} backend"))
}

/// What a backend answers whose graphs do the same at each launch.
#[cold]
pub(super) fn no_conditions() -> Error {
    Error::not_supported(
        "HIP's graphs have no conditional nodes: CUDA's have, and those of the cpu backend; capture the part that is to be repeated, \
         or left out, as a graph of its own, and decide on the host whether to launch it",
    )
}
