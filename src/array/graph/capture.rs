//! Begins and ends stream captures.

use std::sync::Arc;

use super::{Graph, conditional};
use pygpu_backend::{CaptureMode, GraphHandle, Graphs, NodeHandle, NodeKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::stream_captures::{self, Capture, GraphContents};

/// An active capture. Dropping it ends the capture and discards the captured work.
struct CaptureSession {
    stream: Stream,
    capture: Option<Arc<Capture>>,
}

/// All captures that this module began and that are active, each identified by its stream.
static OPEN: ForkSafeMutex<Vec<CaptureSession>> = ForkSafeMutex::new(Vec::new());

fn open() -> ForkSafeGuard<Vec<CaptureSession>> {
    OPEN.lock()
}

/// Begins to capture the work that is enqueued on a stream.
///
/// # Errors
/// `ValueError` for a default stream; driver errors, e.g. for a stream that is already capturing.
pub fn begin(stream: &Stream, mode: CaptureMode) -> Result<()> {
    stream.device().backend().graphs()?;
    if matches!(stream.handle(), StreamHandle(0 | 1)) {
        return Err(Error::value("the default stream cannot capture; capture on a Stream()"));
    }
    let capture = Some(Capture::begin(stream, mode)?);
    open().push(CaptureSession { stream: stream.clone(), capture });
    Ok(())
}

/// Ends the capture of a stream and returns the graph. The capture is ended even if an error is returned.
///
/// # Errors
/// `ValueError` if the stream is not capturing; driver errors, e.g. for an invalidated capture.
pub fn end(stream: &Stream) -> Result<Graph> {
    Graph::new(cut(stream)?)
}

/// Ends the capture of a stream, and returns the captured work without instantiating a graph. An update uses this work
/// to replace a part of another graph.
///
/// # Errors
/// `ValueError` if the stream is not capturing; driver errors, e.g. for an invalidated capture.
pub fn cut(stream: &Stream) -> Result<Fragment> {
    match take(stream) {
        Some(capturing) => capturing.end(),
        None => Err(Error::value("no capture of PyGPU began on the stream")),
    }
}

/// Ends the capture of a stream, if one is active, and discards the captured work.
pub fn abandon(stream: &Stream) {
    drop(take(stream));
}

fn take(stream: &Stream) -> Option<CaptureSession> {
    let mut open = open();
    let place = open.iter().rposition(|capturing| capturing.stream.has_handle_of(stream))?;
    Some(open.remove(place))
}

/// A graph that the driver captured, from which executable graphs are instantiated. The graph is destroyed when this
/// value is dropped.
pub(super) struct Template {
    pub device: Device,
    pub epoch: u32,
    pub handle: GraphHandle,
}

impl Template {
    fn new(device: Device, handle: GraphHandle) -> Self {
        Self { device, epoch: device.epoch(), handle }
    }

    /// Returns the operations of the graph, in the order of their capture.
    pub fn nodes(&self) -> Result<Vec<NodeHandle>> {
        // SAFETY: `self` keeps the graph alive.
        unsafe { self.device.backend().graphs()?.nodes(self.device.index(), self.handle) }
    }

    /// Returns the kind of an operation.
    pub fn kind(&self, node: NodeHandle) -> Result<NodeKind> {
        // SAFETY: `self` keeps the graph alive, and the operation belongs to it.
        unsafe { self.device.backend().graphs()?.node_kind(self.device.index(), self.handle, node) }
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        if shutdown::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let Ok(graphs) = self.device.backend().graphs() else { return };
        // SAFETY: the graph is alive, and `self` is its only owner.
        shutdown::defer(unsafe { graphs.destroy_graph(self.device.index(), self.handle) });
    }
}

/// Captured work that is not instantiated, with the resources that it uses.
pub struct Fragment {
    pub(super) template: Template,
    pub(super) contents: GraphContents,
}

impl CaptureSession {
    fn end(mut self) -> Result<Fragment> {
        let device = self.stream.device();
        if self.capture.as_ref().is_some_and(conditional::end_within) {
            return Err(Error::value(
                "the graph ended before the body of a conditional node: leave the body's `with` first",
            ));
        }
        let (ended, contents) = self.finish(device.backend().graphs()?)?;
        Ok(Fragment { template: Template::new(device, ended?), contents })
    }

    fn finish(&mut self, graphs: &dyn Graphs) -> Result<(Result<GraphHandle>, GraphContents)> {
        let Some(capture) = self.capture.take() else {
            return Err(Error::value("the capture is over already"));
        };
        conditional::end_within(&capture);
        let end = || {
            // SAFETY: the stream is alive, because PyGPU owns it or its owner keeps it alive.
            unsafe { graphs.end_capture(self.stream.device().index(), self.stream.handle()) }
        };
        let ended = end();
        if ended.is_err() && stream_captures::number_of(&self.stream).is_ok_and(|number| number.is_some()) {
            // The capture must be ended, because an active capture would make every later synchronization fail. The
            // captured work is incomplete and therefore discarded.
            if let Ok(graph) = end() {
                drop(Template::new(self.stream.device(), graph));
            }
        }
        Ok((ended, capture.close()))
    }
}

impl Drop for CaptureSession {
    fn drop(&mut self) {
        if self.capture.is_none() || shutdown::exiting() {
            return;
        }
        let device = self.stream.device();
        let Ok(graphs) = device.backend().graphs() else { return };
        if let Ok((Ok(graph), _contents)) = self.finish(graphs) {
            drop(Template::new(device, graph));
        }
    }
}
