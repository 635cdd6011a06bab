//! Executes kernels on the CPU. A kernel's image is produced by the machine's C++ compiler and runs on the thread of
//! its stream.
//!
//! Compiling, loading and running use `pygpu_cpu_engine`, the crate of PyGPU's CPU backend. The memory accesses of a
//! kernel are invisible to this driver, so kernels are not checked for races.

pub use pygpu_cpu_engine as engine;

use std::collections::HashMap;
use std::ffi::c_void;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::driver::Driver;
use crate::error_codes::{
    ASSERT, HARDWARE_STACK_ERROR, ILLEGAL_ADDRESS, INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, LAUNCH_FAILED,
    LAUNCH_OUT_OF_RESOURCES, LAUNCH_TIMEOUT, NOT_FOUND, OPERATING_SYSTEM, Outcome,
};
use crate::graph::Node;
use crate::history::History;
use crate::memory::Allocation;
use crate::worker::Then;

use super::rtc::{images, translation_units};

use self::engine::{HostEnvironment, HostKernel, LoadedImage, Shape, StartOrder};

/// Returns the environment variables for the CPU engine. The variables are read only once, because a real driver reads
/// its environment when it is opened.
pub fn host() -> &'static HostEnvironment {
    static HOST: OnceLock<HostEnvironment> = OnceLock::new();
    HOST.get_or_init(|| {
        let filled = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let named = |name: &'static str| Some((name, filled(name)?.trim().to_owned()));
        HostEnvironment {
            environment: std::env::vars_os().collect(),
            named: ["PYGPU_CXX", "CXX"].into_iter().filter_map(named).collect(),
            path: std::env::var_os("PATH").unwrap_or_default(),
            temporary: std::env::temp_dir(),
            kept: images::folder().cloned(),
            order: StartOrder::named(filled("PYGPU_CPU_ORDER").unwrap_or_default().trim()).unwrap_or_default(),
            options: Vec::new(),
            breaks: filled("PYGPU_CPU_BREAK").is_some(),
        }
    })
}

/// Describes a kernel that belongs to a loaded image.
#[derive(Clone)]
pub struct Function {
    module: Arc<Module>,
    /// The kernel as an object of the CPU engine.
    pub kernel: HostKernel,
}

struct Module {
    library: LoadedImage,
    device: usize,
    /// Number of the kernel within its library, if several sources were compiled to one library.
    number: Option<u32>,
}

impl Module {
    fn kernel(&self, name: &str) -> Option<&HostKernel> {
        let Some(number) = self.number else { return self.library.kernel(name) };
        let names = self.library.names();
        let listed = names.iter().find(|listed| translation_units::own_name(listed, number) == Some(name))?;
        self.library.kernel(listed)
    }

    fn names(&self) -> Vec<String> {
        let names = self.library.names();
        let Some(number) = self.number else { return names };
        names.iter().filter_map(|listed| translation_units::own_name(listed, number)).map(str::to_owned).collect()
    }
}

#[derive(Default)]
struct Tables {
    modules: HashMap<u64, Arc<Module>>,
    functions: HashMap<u64, (u64, Function)>,
    by_name: HashMap<(u64, String), u64>,
}

/// Images that were loaded and not yet unloaded.
#[derive(Default)]
pub struct Modules(Mutex<Tables>);

impl Modules {
    fn with<T>(&self, work: impl FnOnce(&mut Tables) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Driver {
    /// Loads an image.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn load_module(&self, device: usize, image: &[u8]) -> Outcome<u64> {
        let (number, plain) = translation_units::chosen(image).unzip();
        let library = LoadedImage::load(plain.as_deref().unwrap_or(image), host()).map_err(|text| {
            say(&text);
            INVALID_IMAGE
        })?;
        let mut state = self.lock();
        let handle = state.new_handle();
        for &(_, address, bytes) in library.globals() {
            let (bytes, history) = (bytes as u64, History::default());
            state.allocations.insert(address as u64, Allocation { device, bytes, pool: None, history });
        }
        drop(state);
        self.modules.with(|tables| tables.modules.insert(handle, Arc::new(Module { library, device, number })));
        Ok(handle)
    }

    /// Unloads an image. Launches that were already enqueued still run.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn unload_module(&self, device: usize, module: u64) -> Outcome<()> {
        self.lock().refuse_unsafe()?;
        drop(self.drain(device));
        let gone = self.modules.with(|tables| {
            tables.functions.retain(|_, (owner, _)| *owner != module);
            tables.by_name.retain(|(owner, _), _| *owner != module);
            tables.modules.remove(&module)
        });
        let gone = gone.ok_or(INVALID_HANDLE)?;
        let mut state = self.lock();
        for (_, address, _) in gone.library.globals() {
            state.allocations.remove(&(*address as u64));
        }
        Ok(())
    }

    /// Returns the handle of the kernel with the given name.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn function(&self, module: u64, name: &str) -> Outcome<u64> {
        let fresh = self.lock().new_handle();
        self.modules.with(|tables| {
            let owner = tables.modules.get(&module).ok_or(INVALID_HANDLE)?;
            let kernel = owner.kernel(name).ok_or(NOT_FOUND)?.clone();
            let function = Function { module: Arc::clone(owner), kernel };
            let handle = *tables.by_name.entry((module, name.to_owned())).or_insert(fresh);
            tables.functions.entry(handle).or_insert((module, function));
            Ok(handle)
        })
    }

    /// Returns the handles of all kernels of a module.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn functions(&self, module: u64) -> Outcome<Vec<u64>> {
        let names = self.modules.with(|tables| tables.modules.get(&module).map(|known| known.names()));
        let names = names.ok_or(INVALID_HANDLE)?;
        names.iter().map(|name| self.function(module, name)).collect()
    }

    /// Returns the address and the size of the variable with the given name.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn global(&self, module: u64, name: &str) -> Outcome<(u64, u64)> {
        self.modules.with(|tables| {
            let owner = tables.modules.get(&module).ok_or(INVALID_HANDLE)?;
            let (address, bytes) = owner.library.global(name).ok_or(NOT_FOUND)?;
            Ok((address as u64, bytes as u64))
        })
    }

    /// Returns the kernel that a handle refers to.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn function_of(&self, handle: u64) -> Outcome<Function> {
        self.modules
            .with(|tables| tables.functions.get(&handle).map(|(_, function)| function.clone()).ok_or(INVALID_HANDLE))
    }

    /// Enqueues a kernel launch on a stream. `arguments` contains the bytes of each parameter.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn launch(
        &self,
        call: &'static str,
        device: usize,
        function: Function,
        shape: Shape,
        arguments: Vec<Vec<u8>>,
        stream: u64,
    ) -> Outcome<()> {
        if function.module.device != device {
            return Err(INVALID_HANDLE);
        }
        let most = if function.kernel.max_threads == 0 { 1024 } else { function.kernel.max_threads };
        let threads = shape.block.iter().fold(1u32, |product, &length| product.saturating_mul(length));
        if threads == 0
            || threads > most
            || shape.grid.contains(&0)
            || arguments.len() != function.kernel.parameters.len()
        {
            return Err(INVALID_VALUE);
        }
        self.launch_work(call, device, stream, move || run(&function, &shape, &arguments))
    }

    /// Enqueues work that accesses device memory like a kernel, at the addresses that programs use.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn launch_work(
        &self,
        call: &'static str,
        device: usize,
        stream: u64,
        run: impl Fn() -> Outcome<()> + Send + Sync + 'static,
    ) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let shared = Arc::clone(&self.shared);
        let work = move || {
            let opened = shared.arenas.iter().map(|arena| arena.enter_kernel()).collect::<Result<Vec<_>, _>>();
            let result = if opened.is_ok() { run() } else { Err(OPERATING_SYSTEM) };
            shared.arenas.iter().for_each(|arena| arena.leave_kernel());
            if let Err(code) = result {
                shared.lock().devices[device].sticky.get_or_insert(code);
            }
        };
        if let Some(capture) = state.capture_of(stream)? {
            state.keep_node(capture, stream, Node::new(Arc::new(work), Vec::new(), None, call));
            return Ok(());
        }
        state.append(stream, Some(Box::new(work)), Then::Nothing).map(drop)
    }
}

/// Unit of storage with the greatest alignment that a kernel parameter can require.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Cell([u8; 128]);

/// Copies the value of a parameter to aligned storage.
fn aligned(bytes: &[u8]) -> Vec<Cell> {
    let mut cells = vec![Cell([0; 128]); bytes.len().div_ceil(size_of::<Cell>()).max(1)];
    for (cell, part) in cells.iter_mut().zip(bytes.chunks(size_of::<Cell>())) {
        cell.0[..part.len()].copy_from_slice(part);
    }
    cells
}

fn run(function: &Function, shape: &Shape, arguments: &[Vec<u8>]) -> Outcome<()> {
    let arguments: Vec<Vec<Cell>> = arguments.iter().map(|bytes| aligned(bytes)).collect();
    let pointers: Vec<*const c_void> = arguments.iter().map(|cells| cells.as_ptr().cast()).collect();
    // SAFETY: `function` keeps the module loaded. There are as many arguments as parameters, each with the size that
    // its parameter requires.
    let result = unsafe { function.kernel.launch(shape, pointers.as_ptr()) };
    result.map_err(|(code, text)| {
        say(&text);
        match code {
            1 => ASSERT,
            3 => LAUNCH_TIMEOUT,
            4 | 5 => LAUNCH_OUT_OF_RESOURCES,
            6 => ILLEGAL_ADDRESS,
            7 => HARDWARE_STACK_ERROR,
            _ => LAUNCH_FAILED,
        }
    })
}

/// Prints a message to stderr, as a driver does for a failed assertion.
fn say(text: &str) {
    // A failure to print to stderr is ignored.
    let _ = writeln!(std::io::stderr(), "{text}");
}
