//! Graphs: work of a stream that was captured once, and is launched as a whole many times.
//!
//! A graph owns everything that it uses: the blocks, the kernels, the host memory of its copies. A launch is one use of each
//! block, ordered like any other, and costs one call of the driver where the blocks are used on one stream only.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::backend::{CaptureMode, ExecutableHandle, GraphHandle, Graphs, StreamHandle};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::global::{Global, Guard};
use crate::lifetime;
use crate::memory::capture::{self, Capture, Contents, Noted, Thing};
use crate::memory::{Access, Use, ordered, overrun, pending};
use crate::stream::Stream;

/// A capture that goes on; one that is dropped is ended, and what was captured is forgotten.
struct Capturing {
    stream: Stream,
    capture: Option<Arc<Capture>>,
}

/// What can be launched.
pub struct Graph {
    parts: Arc<Parts>,
    nodes: usize,
    /// The streams of ours where launches may still be under way.
    launched: Mutex<Vec<Stream>>,
}

/// What must be there as long as a launch is under way.
struct Parts {
    device: Device,
    epoch: u32,
    executable: ExecutableHandle,
    blocks: Vec<Noted>,
    /// Only held.
    things: Mutex<Vec<Thing>>,
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
struct Captured<'a> {
    graphs: &'a dyn Graphs,
    device: Device,
    graph: GraphHandle,
}

impl Drop for Captured<'_> {
    fn drop(&mut self) {
        // SAFETY: it is alive and nobody else's.
        lifetime::defer(unsafe { self.graphs.destroy_graph(self.device.index(), self.graph) });
    }
}

impl Capturing {
    fn end(mut self) -> Result<Graph> {
        let device = self.stream.device();
        let graphs = device.backend().graphs()?;
        let (ended, contents) = self.finish(graphs)?;
        let captured = Captured { graphs, device, graph: ended? };
        // SAFETY: the graph is alive until the end of the block.
        let (nodes, executable) = unsafe {
            (graphs.node_count(device.index(), captured.graph)?, graphs.instantiate(device.index(), captured.graph)?)
        };
        let (blocks, things) = (contents.blocks, Mutex::new(contents.things));
        let parts = Arc::new(Parts { device, epoch: device.epoch(), executable, blocks, things });
        Ok(Graph { parts, nodes, launched: Mutex::default() })
    }

    fn finish(&mut self, graphs: &dyn Graphs) -> Result<(Result<GraphHandle>, Contents)> {
        let Some(capture) = self.capture.take() else {
            return Err(Error::value("the capture is over already"));
        };
        let end = || {
            // SAFETY: the stream is ours or kept by its keeper.
            unsafe { graphs.end_capture(self.stream.device().index(), self.stream.handle()) }
        };
        let ended = end();
        if ended.is_err() && capture::number_of(&self.stream).is_ok_and(|number| number.is_some()) {
            // A capture that goes on would make every later wait fail. What it has captured is not trusted.
            if let Ok(graph) = end() {
                drop(Captured { graphs, device: self.stream.device(), graph });
            }
        }
        Ok((ended, capture.close()))
    }
}

impl Drop for Capturing {
    fn drop(&mut self) {
        if self.capture.is_none() || lifetime::exiting() {
            return;
        }
        let device = self.stream.device();
        let Ok(graphs) = device.backend().graphs() else { return };
        if let Ok((Ok(graph), _contents)) = self.finish(graphs) {
            drop(Captured { graphs, device, graph });
        }
    }
}

impl Graph {
    /// Its device.
    pub fn device(&self) -> Device {
        self.parts.device
    }

    /// How many operations it has.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    fn check(&self, stream: &Stream) -> Result<()> {
        if stream.device() != self.device() {
            return Err(Error::value(format!(
                "the graph is of {} and the stream of {}; give a stream of its device",
                self.device(),
                stream.device()
            )));
        }
        if self.parts.epoch != self.device().epoch() {
            return Err(Error::value(format!(
                "the graph was destroyed when {} was reset; capture it again",
                self.device()
            )));
        }
        Ok(())
    }

    /// Brings what a launch needs to the device, so that the first launch costs no more than the next.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        let graphs = self.device().backend().graphs()?;
        // SAFETY: both are alive.
        unsafe { graphs.upload(self.device().index(), self.parts.executable, stream.handle()) }?;
        self.hold_on(stream)
    }

    /// Puts all operations on a stream, behind whatever the blocks wait for; later users of the blocks wait for them.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        if capture::is_capturing(stream)? {
            return Err(capture::refusal("the launch of a graph"));
        }
        let graphs = self.device().backend().graphs()?;
        let uses: SmallVec<[Use<'_>; 8]> = self.parts.blocks.iter().map(|noted| (&noted.block, noted.access)).collect();
        ordered(&uses, stream, || {
            // SAFETY: both are alive, and `parts` holds all memory until the stream has passed.
            unsafe { graphs.launch_graph(self.device().index(), self.parts.executable, stream.handle()) }?;
            self.hold_on(stream)
        })?;
        self.check_ends()
    }

    /// Looks behind each block that was written, as after the launch of one kernel.
    fn check_ends(&self) -> Result<()> {
        if self.device().is_cpu() {
            for noted in &self.parts.blocks {
                let beyond = if noted.access == Access::Write { noted.block.overrun() } else { 0 };
                if beyond != 0 {
                    return Err(overrun(
                        &noted.block,
                        beyond,
                        "a kernel of the graph",
                        "of an array that it was captured with",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Keeps the parts until the stream has passed: from now on, if it may be gone when the graph ends.
    fn hold_on(&self, stream: &Stream) -> Result<()> {
        if stream.is_foreign() {
            return pending::keep_until_passed(stream, Box::new(Arc::clone(&self.parts)));
        }
        let mut launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if !launched.contains(stream) {
            launched.push(stream.clone());
        }
        Ok(())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let launched = std::mem::take(self.launched.get_mut().unwrap_or_else(PoisonError::into_inner));
        if lifetime::exiting() || self.parts.epoch != self.device().epoch() {
            return;
        }
        for stream in launched {
            lifetime::defer(pending::keep_until_passed(&stream, Box::new(Arc::clone(&self.parts))));
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if lifetime::exiting() {
            // Blocks and things are left to the process, as everything is.
            std::mem::forget((std::mem::take(&mut self.blocks), std::mem::take(&mut self.things)));
            return;
        }
        if self.epoch != self.device.epoch() {
            return;
        }
        let Ok(graphs) = self.device.backend().graphs() else { return };
        // SAFETY: the last launch has been passed, or there was none.
        lifetime::defer(unsafe { graphs.destroy_executable(self.device.index(), self.executable) });
    }
}
