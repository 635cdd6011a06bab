//! Defines conditional nodes of graphs. Kernels set a number while the graph runs; this number decides whether, and how
//! often, the body of the node runs.
//!
//! The body of a conditional node is a graph that a separate stream captures directly after the node was added. The
//! node therefore depends on everything captured before it in the enclosing capture, and the body may use any block
//! without further synchronization. In the enclosing graph, the blocks that the body uses are recorded as used by the
//! node. The enclosing capture accepts no work while a body is being captured.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pygpu_backend::{Branching, CaptureMode, Condition as Raw, GraphHandle, StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::stream_captures::{self, Capture};

/// A condition: a number that kernels set and that a conditional node reads.
pub struct Condition {
    raw: Raw,
    capture: Arc<Capture>,
    /// Whether a conditional node already uses the condition. Drivers allow one node per condition.
    decides: AtomicBool,
}

/// The body of a conditional node, whose work is still to be captured.
pub struct ConditionalBody {
    enclosing: Arc<Capture>,
    /// The stream whose capture contains the conditional node.
    stream: Stream,
    graph: GraphHandle,
    /// Number of uses of memory blocks that the enclosing capture had recorded when the node was added.
    recorded: usize,
}

/// A body that is being captured. Dropping it ends the capture of the body.
struct OpenBody {
    stream: Stream,
    capture: Arc<Capture>,
}

/// All bodies that are being captured. Each body is identified by its stream.
static OPEN: ForkSafeMutex<Vec<OpenBody>> = ForkSafeMutex::new(Vec::new());

fn capture_of(stream: &Stream) -> Result<Arc<Capture>> {
    stream.device().backend().graphs()?;
    stream_captures::of(stream)?.ok_or_else(|| {
        Error::value("conditions are of a graph that is being captured: use them inside of `with graph:`")
    })
}

impl Condition {
    /// Creates a condition for the graph that a stream is capturing. `default` is the condition's value at the
    /// beginning of each launch.
    ///
    /// # Errors
    /// `ValueError` for a stream that PyGPU is not capturing; `NotSupported` if the driver has no conditional nodes;
    /// driver errors.
    pub fn new(stream: &Stream, default: Option<u32>) -> Result<Self> {
        let capture = capture_of(stream)?;
        let device = stream.device();
        // SAFETY: the borrow keeps the stream alive.
        let raw = unsafe { device.backend().graphs()?.create_condition(device.index(), stream.handle(), default) }?;
        if let Some(owner) = &raw.owner {
            // The owner contains the value of the condition, which the graph's kernels write. The graph therefore keeps
            // the owner alive.
            capture.retain(Box::new(Arc::clone(owner)));
        }
        Ok(Self { raw, capture, decides: AtomicBool::new(false) })
    }

    /// Returns the handle that kernels receive.
    pub fn handle(&self) -> u64 {
        self.raw.handle.0
    }

    /// Returns the object, if there is one, that must stay alive as long as kernels use the condition's handle.
    pub fn owner(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.raw.owner.clone()
    }

    /// Adds a conditional node with `bodies` bodies to a capturing stream.
    ///
    /// # Errors
    /// `ValueError` for a condition of another graph, or for a condition that a node already uses; `NotSupported` if
    /// the driver lacks this kind of node; driver errors.
    pub fn put(&self, stream: &Stream, branching: Branching, bodies: usize) -> Result<Vec<ConditionalBody>> {
        let enclosing = capture_of(stream)?;
        if !is_within(&enclosing, &self.capture) {
            return Err(Error::value("the condition is of another graph; make one in this capture"));
        }
        if self.decides.load(Ordering::Relaxed) {
            return Err(Error::value(
                "the condition decides in another operation already, and drivers allow one; make one more",
            ));
        }
        enclosing.check_open()?;
        enclosing.gather(stream)?;
        let device = stream.device();
        // SAFETY: the borrow keeps the stream alive; the condition belongs to the captured graph or to an enclosing
        // one, as checked above.
        let made = unsafe {
            let graphs = device.backend().graphs()?;
            graphs.put_conditional(device.index(), stream.handle(), self.raw.handle, branching, bodies)
        }?;
        self.decides.store(true, Ordering::Relaxed);
        let recorded = enclosing.recorded_count();
        let body =
            |graph| ConditionalBody { enclosing: Arc::clone(&enclosing), stream: stream.clone(), graph, recorded };
        Ok(made.into_iter().map(body).collect())
    }
}

/// Returns whether the capture `inner` is the capture `outer`, or captures a body inside `outer`.
fn is_within(inner: &Arc<Capture>, outer: &Arc<Capture>) -> bool {
    let mut next = Some(inner);
    while let Some(capture) = next {
        if Arc::ptr_eq(capture, outer) {
            return true;
        }
        next = capture.enclosing();
    }
    false
}

impl ConditionalBody {
    /// Begins to capture the body on a new stream, which is returned. The caller ends the capture by [`end`].
    ///
    /// # Errors
    /// `ValueError` if the enclosing capture has ended, or has captured other work since the node was added; driver
    /// errors.
    pub fn begin(&self) -> Result<Stream> {
        let late = "a body of a conditional node is captured right after the node, before the graph goes on";
        if !stream_captures::of(&self.stream)?.is_some_and(|now| Arc::ptr_eq(&now, &self.enclosing)) {
            return Err(Error::value(format!("the graph of the body is not being captured any more: {late}")));
        }
        self.enclosing.check_open()?;
        if self.enclosing.recorded_count() != self.recorded {
            return Err(Error::value(format!("other work was captured since: {late}")));
        }
        let stream = Stream::create(self.stream.device(), StreamFlags { non_blocking: true, priority: 0 })?;
        let enclosing = (Arc::clone(&self.enclosing), self.stream.clone());
        // SAFETY: the node is in the graph of `enclosing`, whose capture was just checked to be active.
        let capture = unsafe { Capture::begin_body(&stream, self.graph, CaptureMode::Relaxed, enclosing) }?;
        OPEN.lock().push(OpenBody { stream: stream.clone(), capture });
        Ok(stream)
    }
}

/// Ends the capture of a body on a stream.
///
/// # Errors
/// `ValueError` if the stream captures no body; driver errors, e.g. for an invalidated capture.
pub fn end(stream: &Stream) -> Result<()> {
    let found = take(|open| open.stream.has_handle_of(stream));
    found.ok_or_else(|| Error::value("the capture of the body is over already"))?.end()
}

fn take(condition: impl Fn(&OpenBody) -> bool) -> Option<OpenBody> {
    let mut open = OPEN.lock();
    let place = open.iter().rposition(condition)?;
    Some(open.remove(place))
}

/// Ends all active captures of conditional bodies inside a capture, innermost first. Returns whether there were any.
pub(super) fn end_within(capture: &Arc<Capture>) -> bool {
    let mut any = false;
    while let Some(open) = take(|open| is_within(&open.capture, capture)) {
        any = true;
        shutdown::defer(open.end());
    }
    any
}

impl OpenBody {
    fn end(self) -> Result<()> {
        end_within(&self.capture);
        let (device, handle): (_, StreamHandle) = (self.stream.device(), self.stream.handle());
        // SAFETY: the stream is alive, because PyGPU owns it. The body's graph is part of the enclosing graph.
        let ended = device.backend().graphs().and_then(|graphs| unsafe { graphs.end_capture(device.index(), handle) });
        self.capture.close_body();
        ended.map(drop)
    }
}
