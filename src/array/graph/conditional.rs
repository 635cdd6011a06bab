//! Conditions: what of a graph is done, or done again, is decided while it runs, by a number that its kernels set.
//!
//! A body is a graph of its own, captured by a stream of its own right after the operation that it belongs to was put down. So the
//! operation comes after all that the capture around held then, and the body may use any block without an order of its own; what
//! it uses counts as used by the operation. While bodies are open the capture around takes in nothing else.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pygpu_backend::{Branching, CaptureMode, Condition as Raw, GraphHandle, StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Global;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::capture::{self, Capture};

/// What kernels set and an operation asks.
pub struct Condition {
    raw: Raw,
    capture: Arc<Capture>,
    /// Whether an operation was put in which it decides: drivers allow one.
    decides: AtomicBool,
}

/// What is done where a condition says so; to be captured.
pub struct Body {
    around: Arc<Capture>,
    /// The stream on which the operation was put.
    stream: Stream,
    graph: GraphHandle,
    /// How much the capture around held just after the operation.
    notes: usize,
}

/// A body that is being captured; one that is dropped is ended.
struct Open {
    stream: Stream,
    capture: Arc<Capture>,
}

/// The bodies that are being captured; whoever ends one names its stream.
static OPEN: Global<Vec<Open>> = Global::new(Vec::new());

fn capture_of(stream: &Stream) -> Result<Arc<Capture>> {
    stream.device().backend().graphs()?;
    capture::of(stream)?.ok_or_else(|| {
        Error::value("conditions are of a graph that is being captured: use them inside of `with graph:`")
    })
}

impl Condition {
    /// For the graph that a stream captures, with its number at the beginning of each launch.
    ///
    /// # Errors
    /// `ValueError` for a stream that captures nothing of ours; `NotSupported` where drivers have no conditions; the driver's.
    pub fn new(stream: &Stream, default: Option<u32>) -> Result<Self> {
        let capture = capture_of(stream)?;
        let device = stream.device();
        // SAFETY: the stream is borrowed, and so alive.
        let raw = unsafe { device.backend().graphs()?.create_condition(device.index(), stream.handle(), default) }?;
        if let Some(keeper) = &raw.keeper {
            // Kernels of the graph have its address.
            capture.keep(Box::new(Arc::clone(keeper)));
        }
        Ok(Self { raw, capture, decides: AtomicBool::new(false) })
    }

    /// What kernels get.
    pub fn handle(&self) -> u64 {
        self.raw.handle.0
    }

    /// What kernels must not outlive that have the handle.
    pub fn keeper(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.raw.keeper.clone()
    }

    /// Puts an operation on a capturing stream in which the condition decides, with so many bodies.
    ///
    /// # Errors
    /// `ValueError` for a condition of another graph, or that decides elsewhere already; `NotSupported` where the driver has no such operation; the driver's.
    pub fn put(&self, stream: &Stream, branching: Branching, bodies: usize) -> Result<Vec<Body>> {
        let around = capture_of(stream)?;
        if !is_within(&around, &self.capture) {
            return Err(Error::value("the condition is of another graph; make one in this capture"));
        }
        if self.decides.load(Ordering::Relaxed) {
            return Err(Error::value(
                "the condition decides in another operation already, and drivers allow one; make one more",
            ));
        }
        around.check_open()?;
        around.gather(stream)?;
        let device = stream.device();
        // SAFETY: the stream is borrowed, and so alive; the condition is of the graph that it captures, or of one around.
        let made = unsafe {
            let graphs = device.backend().graphs()?;
            graphs.put_conditional(device.index(), stream.handle(), self.raw.handle, branching, bodies)
        }?;
        self.decides.store(true, Ordering::Relaxed);
        let notes = around.notes();
        let body = |graph| Body { around: Arc::clone(&around), stream: stream.clone(), graph, notes };
        Ok(made.into_iter().map(body).collect())
    }
}

/// Whether a capture is another one, or of a body in it.
fn is_within(inner: &Arc<Capture>, outer: &Arc<Capture>) -> bool {
    let mut next = Some(inner);
    while let Some(capture) = next {
        if Arc::ptr_eq(capture, outer) {
            return true;
        }
        next = capture.around();
    }
    false
}

impl Body {
    /// Captures it: on a stream of its own, from now on until [`end`].
    ///
    /// # Errors
    /// `ValueError` when the capture around went on, or is over; the driver's.
    pub fn begin(&self) -> Result<Stream> {
        let late = "a body of a conditional node is captured right after the node, before the graph goes on";
        if !capture::of(&self.stream)?.is_some_and(|now| Arc::ptr_eq(&now, &self.around)) {
            return Err(Error::value(format!("the graph of the body is not being captured any more: {late}")));
        }
        self.around.check_open()?;
        if self.around.notes() != self.notes {
            return Err(Error::value(format!("other work was captured since: {late}")));
        }
        let stream = Stream::create(self.stream.device(), StreamFlags { non_blocking: true, priority: 0 })?;
        let around = (Arc::clone(&self.around), self.stream.clone());
        // SAFETY: the operation is in the graph of `around`, which was just found to be under way.
        let capture = unsafe { Capture::begin_body(&stream, self.graph, CaptureMode::Relaxed, around) }?;
        OPEN.lock().push(Open { stream: stream.clone(), capture });
        Ok(stream)
    }
}

/// Ends the capture of a body.
///
/// # Errors
/// `ValueError` where it is over already; the driver's, for a capture that something has made invalid.
pub fn end(stream: &Stream) -> Result<()> {
    let found = take(|open| open.stream.has_handle_of(stream));
    found.ok_or_else(|| Error::value("the capture of the body is over already"))?.end()
}

fn take(is_wanted: impl Fn(&Open) -> bool) -> Option<Open> {
    let mut open = OPEN.lock();
    let place = open.iter().rposition(is_wanted)?;
    Some(open.remove(place))
}

/// Ends the bodies that are still being captured into a capture, innermost first; whether there were any.
pub(super) fn end_within(capture: &Arc<Capture>) -> bool {
    let mut any = false;
    while let Some(open) = take(|open| is_within(&open.capture, capture)) {
        any = true;
        shutdown::defer(open.end());
    }
    any
}

impl Open {
    fn end(self) -> Result<()> {
        end_within(&self.capture);
        let (device, handle): (_, StreamHandle) = (self.stream.device(), self.stream.handle());
        // SAFETY: the stream is ours. The graph is a part of the one around.
        let ended = device.backend().graphs().and_then(|graphs| unsafe { graphs.end_capture(device.index(), handle) });
        self.capture.close_body();
        ended.map(drop)
    }
}
