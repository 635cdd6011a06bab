//! Defines graphs: work of a stream that is captured once and launched repeatedly as a whole.
//!
//! A graph owns everything it uses: memory blocks, kernels, and the host memory of its copies. For hazard tracking, a
//! launch is one use of each memory block. If only one stream uses the blocks, a launch costs one driver call.
//!
//! - `capture` begins and ends captures of streams, [`conditional`] captures of the bodies of conditional nodes.
//! - `resources` lists the resources of a graph; `update` changes the parameters of operations in the executable graph,
//!   and replaces the resources of these operations.

mod capture;
pub mod conditional;
mod resources;
mod update;

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use smallvec::SmallVec;

use self::capture::Template;
pub use self::capture::{Fragment, abandon, begin, cut, end};
pub use self::resources::GraphOperation;
use self::resources::GraphResources;
use pygpu_backend::ExecutableHandle;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::{Access, BlockUse, ordered, overrun, retired_objects};

/// A graph that can be launched.
pub struct Graph {
    parts: Arc<GraphState>,
    /// PyGPU streams on which launches of the graph may still be running.
    launched: Mutex<Vec<Stream>>,
    /// An idle stream that the next update of the graph reuses for its capture.
    spare: Mutex<Option<Stream>>,
}

/// The driver's graph handles, and the resources that must stay alive while a launch is running.
struct GraphState {
    device: Device,
    epoch: u32,
    executable: ExecutableHandle,
    /// The graph from which the executable graph was instantiated. An update identifies an operation by the operation's
    /// handle in this graph.
    template: Template,
    /// The resources of the executable graph. The lock is held for writing while the executable graph is updated, so
    /// that the resources always belong to the parameters with which a launch runs.
    held: RwLock<Arc<GraphResources>>,
}

impl GraphState {
    fn held(&self) -> RwLockReadGuard<'_, Arc<GraphResources>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Graph {
    /// Instantiates captured work as an executable graph.
    ///
    /// # Errors
    /// Driver errors.
    fn new(fragment: Fragment) -> Result<Self> {
        let Fragment { template, contents } = fragment;
        let (device, epoch) = (template.device, template.epoch);
        let held = RwLock::new(Arc::new(GraphResources::new(&template, contents)?));
        // SAFETY: `template` owns the graph and is alive.
        let executable = unsafe { device.backend().graphs()?.instantiate(device.index(), template.handle) }?;
        let parts = Arc::new(GraphState { device, epoch, executable, template, held });
        Ok(Self { parts, launched: Mutex::default(), spare: Mutex::default() })
    }

    /// Returns the device of the graph.
    pub fn device(&self) -> Device {
        self.parts.device
    }

    /// Returns the number of operations in the graph.
    pub fn count(&self) -> usize {
        self.parts.held().nodes.len()
    }

    fn check(&self, stream: &Stream) -> Result<()> {
        if stream.device() != self.device() {
            return Err(Error::value(format!(
                "the graph is of {} and the stream of {}; give a stream of its device",
                self.device(),
                stream.device()
            )));
        }
        self.check_epoch()
    }

    fn check_epoch(&self) -> Result<()> {
        if self.parts.epoch == self.device().epoch() {
            return Ok(());
        }
        Err(Error::value(format!("the graph was destroyed when {} was reset; capture it again", self.device())))
    }

    /// Uploads the executable graph to the device, so that its first launch costs no more than later launches.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; driver errors.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        let graphs = self.device().backend().graphs()?;
        let held = self.parts.held();
        // SAFETY: `self` and the borrow keep the executable and the stream alive.
        unsafe { graphs.upload(self.device().index(), self.parts.executable, stream.handle()) }?;
        self.hold_on(stream, &held)
    }

    /// Launches the graph on a stream, after all uses that conflict with the graph's uses of its memory blocks. Later
    /// uses of these blocks wait for the launch.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; driver errors.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        if pygpu_memory::stream_captures::is_capturing(stream)? {
            return Err(pygpu_memory::stream_captures::refusal("the launch of a graph"));
        }
        let graphs = self.device().backend().graphs()?;
        let held = self.parts.held();
        let uses: SmallVec<[BlockUse<'_>; 8]> = held.uses.iter().map(|(block, access)| (block, *access)).collect();
        ordered(&uses, stream, || {
            // SAFETY: the handles of graph and stream are alive, and `parts` keeps the graph's memory alive until the
            // stream has completed the launch.
            unsafe { graphs.launch_graph(self.device().index(), self.parts.executable, stream.handle()) }?;
            self.hold_on(stream, &held)
        })?;
        self.check_ends(&held)
    }

    /// Checks the red zone after each memory block that the graph writes. Does nothing on a GPU. On the CPU, launches
    /// of single kernels are checked in the same way.
    fn check_ends(&self, held: &GraphResources) -> Result<()> {
        if self.device().is_cpu() {
            for (block, access) in &held.uses {
                let beyond = if *access == Access::Write { block.overrun() } else { 0 };
                if beyond != 0 {
                    return Err(overrun(
                        block,
                        beyond,
                        "a kernel of the graph",
                        "of an array that it was captured with",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Keeps the graph's resources alive until the stream has completed the launch. For a borrowed stream, which may be
    /// destroyed before the graph, an event is recorded immediately. For any other stream, the event is recorded when
    /// the graph is dropped.
    fn hold_on(&self, stream: &Stream, held: &Arc<GraphResources>) -> Result<()> {
        if stream.is_foreign() {
            return retired_objects::keep_until_passed(stream, Box::new((Arc::clone(&self.parts), Arc::clone(held))));
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
        if shutdown::exiting() || self.parts.epoch != self.device().epoch() {
            return;
        }
        for stream in launched {
            shutdown::defer(retired_objects::keep_until_passed(&stream, Box::new(Arc::clone(&self.parts))));
        }
    }
}

impl Drop for GraphState {
    fn drop(&mut self) {
        if shutdown::exiting() {
            // At process exit PyGPU frees nothing, so the graph's resources are leaked.
            std::mem::forget(Arc::clone(self.held.get_mut().unwrap_or_else(PoisonError::into_inner)));
            return;
        }
        if self.epoch != self.device.epoch() {
            return;
        }
        let Ok(graphs) = self.device.backend().graphs() else { return };
        // SAFETY: all launches of the executable graph are complete, and `self` is its only owner.
        shutdown::defer(unsafe { graphs.destroy_executable(self.device.index(), self.executable) });
    }
}
