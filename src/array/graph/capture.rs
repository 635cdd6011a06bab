//! How a capture begins and ends.

use std::sync::Arc;

use super::{Graph, conditional};
use pygpu_backend::{CaptureMode, GraphHandle, Graphs, NodeHandle, NodeKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::capture::{self, Capture, Contents};

/// A capture that goes on; one that is dropped is ended, and what was captured is forgotten.
struct Capturing {
    stream: Stream,
    capture: Option<Arc<Capture>>,
}

/// The captures that go on; whoever ends one names its stream.
static OPEN: Global<Vec<Capturing>> = Global::new(Vec::new());

fn open() -> Guard<Vec<Capturing>> {
    OPEN.lock()
}

/// Captures what is put on a stream from now on.
///
/// # Errors
/// `ValueError` for a default stream; the driver's, for one that captures already.
pub fn begin(stream: &Stream, mode: CaptureMode) -> Result<()> {
    stream.device().backend().graphs()?;
    if matches!(stream.handle(), StreamHandle(0 | 1)) {
        return Err(Error::value("the default stream cannot capture; capture on a Stream()"));
    }
    let capture = Some(Capture::begin(stream, mode)?);
    open().push(Capturing { stream: stream.clone(), capture });
    Ok(())
}

/// Ends the capture that began on a stream, also where an error comes of it.
///
/// # Errors
/// `ValueError` where none began; the driver's, for a capture that something has made invalid.
pub fn end(stream: &Stream) -> Result<Graph> {
    Graph::new(cut(stream)?)
}

/// As [`end`], of a part that is to replace one of another graph.
///
/// # Errors
/// As there.
pub fn cut(stream: &Stream) -> Result<Fragment> {
    match take(stream) {
        Some(capturing) => capturing.end(),
        None => Err(Error::value("no capture of PyGPU began on the stream")),
    }
}

/// Ends the capture that began on a stream, if there is one, and forgets what was captured.
pub fn abandon(stream: &Stream) {
    drop(take(stream));
}

fn take(stream: &Stream) -> Option<Capturing> {
    let mut open = open();
    let place = open.iter().rposition(|capturing| capturing.stream.has_handle_of(stream))?;
    Some(open.remove(place))
}

/// A captured graph of the driver, ended when dropped.
pub(super) struct Template {
    pub device: Device,
    pub epoch: u32,
    pub handle: GraphHandle,
}

impl Template {
    fn new(device: Device, handle: GraphHandle) -> Self {
        Self { device, epoch: device.epoch(), handle }
    }

    /// Its operations, in the order in which they were captured.
    pub fn nodes(&self) -> Result<Vec<NodeHandle>> {
        // SAFETY: the graph is alive.
        unsafe { self.device.backend().graphs()?.nodes(self.device.index(), self.handle) }
    }

    /// What one of them is.
    pub fn kind(&self, node: NodeHandle) -> Result<NodeKind> {
        // SAFETY: the graph is alive, and the operation one of it.
        unsafe { self.device.backend().graphs()?.node_kind(self.device.index(), self.handle, node) }
    }
}

impl Drop for Template {
    fn drop(&mut self) {
        if shutdown::exiting() || self.epoch != self.device.epoch() {
            return;
        }
        let Ok(graphs) = self.device.backend().graphs() else { return };
        // SAFETY: it is alive and nobody else's.
        shutdown::defer(unsafe { graphs.destroy_graph(self.device.index(), self.handle) });
    }
}

/// What was captured, with all that it uses.
pub struct Fragment {
    pub(super) template: Template,
    pub(super) contents: Contents,
}

impl Capturing {
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

    fn finish(&mut self, graphs: &dyn Graphs) -> Result<(Result<GraphHandle>, Contents)> {
        let Some(capture) = self.capture.take() else {
            return Err(Error::value("the capture is over already"));
        };
        conditional::end_within(&capture);
        let end = || {
            // SAFETY: the stream is ours or kept by its keeper.
            unsafe { graphs.end_capture(self.stream.device().index(), self.stream.handle()) }
        };
        let ended = end();
        if ended.is_err() && capture::number_of(&self.stream).is_ok_and(|number| number.is_some()) {
            // A capture that goes on would make every later wait fail. What it has captured is not trusted.
            if let Ok(graph) = end() {
                drop(Template::new(self.stream.device(), graph));
            }
        }
        Ok((ended, capture.close()))
    }
}

impl Drop for Capturing {
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
