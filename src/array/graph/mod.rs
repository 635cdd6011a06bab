//! Graphs: work of a stream that was captured once, and is launched as a whole many times.
//!
//! A graph owns everything that it uses: the blocks, the kernels, the host memory of its copies. A launch is one use of each
//! block, ordered like any other, and costs one call of the driver where the blocks are used on one stream only.
//!
//! - `capture` begins and ends captures, and [`conditional`] those of bodies of which a condition decides;
//! - `resources` is what a graph holds, and `update` exchanges it together with what the driver launches.

mod capture;
pub mod conditional;
mod resources;
mod update;

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use smallvec::SmallVec;

use self::capture::Template;
pub use self::capture::{Fragment, abandon, begin, cut, end};
use self::resources::Held;
pub use self::resources::Node;
use pygpu_backend::ExecutableHandle;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::{Access, Use, ordered, overrun, pending};

/// What can be launched.
pub struct Graph {
    parts: Arc<Parts>,
    /// The streams of ours where launches may still be under way.
    launched: Mutex<Vec<Stream>>,
    /// A stream for the captures of updates, when none is under way.
    spare: Mutex<Option<Stream>>,
}

/// What must be there as long as a launch is under way.
struct Parts {
    device: Device,
    epoch: u32,
    executable: ExecutableHandle,
    /// Of which the executable was made, and by whose operations it is updated.
    template: Template,
    /// Locked for writing while the executable is updated: a launch finds the memory that it uses.
    held: RwLock<Arc<Held>>,
}

impl Parts {
    fn held(&self) -> RwLockReadGuard<'_, Arc<Held>> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Graph {
    /// What was captured, ready for launches.
    ///
    /// # Errors
    /// The driver's.
    fn new(fragment: Fragment) -> Result<Self> {
        let Fragment { template, contents } = fragment;
        let (device, epoch) = (template.device, template.epoch);
        let held = RwLock::new(Arc::new(Held::new(&template, contents)?));
        // SAFETY: the graph is alive.
        let executable = unsafe { device.backend().graphs()?.instantiate(device.index(), template.handle) }?;
        let parts = Arc::new(Parts { device, epoch, executable, template, held });
        Ok(Self { parts, launched: Mutex::default(), spare: Mutex::default() })
    }

    /// Its device.
    pub fn device(&self) -> Device {
        self.parts.device
    }

    /// How many operations it has.
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

    /// Brings what a launch needs to the device, so that the first launch costs no more than the next.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn upload(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        let graphs = self.device().backend().graphs()?;
        let held = self.parts.held();
        // SAFETY: both are alive.
        unsafe { graphs.upload(self.device().index(), self.parts.executable, stream.handle()) }?;
        self.hold_on(stream, &held)
    }

    /// Puts all operations on a stream, behind whatever the blocks wait for; later users of the blocks wait for them.
    ///
    /// # Errors
    /// `ValueError` for a stream of another device; the driver's.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        self.check(stream)?;
        if pygpu_memory::capture::is_capturing(stream)? {
            return Err(pygpu_memory::capture::refusal("the launch of a graph"));
        }
        let graphs = self.device().backend().graphs()?;
        let held = self.parts.held();
        let uses: SmallVec<[Use<'_>; 8]> = held.uses.iter().map(|(block, access)| (block, *access)).collect();
        ordered(&uses, stream, || {
            // SAFETY: both are alive, and `parts` holds all memory until the stream has passed.
            unsafe { graphs.launch_graph(self.device().index(), self.parts.executable, stream.handle()) }?;
            self.hold_on(stream, &held)
        })?;
        self.check_ends(&held)
    }

    /// Looks behind each block that was written, as after the launch of one kernel.
    fn check_ends(&self, held: &Held) -> Result<()> {
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

    /// Keeps the parts until the stream has passed: from now on, if it may be gone when the graph ends.
    fn hold_on(&self, stream: &Stream, held: &Arc<Held>) -> Result<()> {
        if stream.is_foreign() {
            return pending::keep_until_passed(stream, Box::new((Arc::clone(&self.parts), Arc::clone(held))));
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
            shutdown::defer(pending::keep_until_passed(&stream, Box::new(Arc::clone(&self.parts))));
        }
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if shutdown::exiting() {
            // What is held is left to the process, as everything is.
            std::mem::forget(Arc::clone(self.held.get_mut().unwrap_or_else(PoisonError::into_inner)));
            return;
        }
        if self.epoch != self.device.epoch() {
            return;
        }
        let Ok(graphs) = self.device.backend().graphs() else { return };
        // SAFETY: the last launch has been passed, or there was none.
        shutdown::defer(unsafe { graphs.destroy_executable(self.device.index(), self.executable) });
    }
}
