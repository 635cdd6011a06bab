//! Runs kernels on the CPU: implements the backend's [`DeviceCode`] and its [`Compiler`].
//!
//! A launch returns when the kernel is complete, so failures inside the kernel are errors of the launch. This module
//! owns the loaded images. docs/design/kernels_on_the_cpu.md describes the execution of a kernel.

mod compiler;
pub(crate) mod keyboard_interrupt;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, c_void};
use std::path::PathBuf;

use self::compiler::HostCompiler;
use pygpu_cpu_engine::{HostEnvironment, HostKernel, LoadedImage, Shape, StartOrder};

use super::driver::{Cpu, check_device};
use super::error_codes::{self, NOT_FOUND, refuse};
use super::host_properties::attributes::{self, BLOCK, GRID, SHARED_BYTES, SHARED_BYTES_OPTIN};
use super::host_properties::{self, THREADS_PER_BLOCK};
use crate::launch_attributes::no_clusters;
use crate::{
    Address, Compiler, Contexts, DeviceCode, FunctionAttributes, FunctionHandle, FunctionSetting, LaunchAttributes,
    LaunchLimits, LaunchShape, Launches, LoadOptions, Loaded, ModuleHandle, ParameterPlace, StreamHandle,
};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{ForkSafeMutex, ForkSafeOnce};
use pygpu_base::settings::{self, Settings, Variable};

static COMPILER: ForkSafeOnce<HostCompiler> = ForkSafeOnce::new();

/// Returns the engine's configuration, built from the environment variables.
fn host() -> &'static HostEnvironment {
    static HOST: ForkSafeOnce<HostEnvironment> = ForkSafeOnce::new();
    let settings = settings::get();
    HOST.get_or_init(|| {
        let named = |variable: Variable| Some((variable.name(), settings.text(variable)?));
        HostEnvironment {
            environment: settings.environment(),
            named: [Variable::OWN_CXX, Variable::CXX].into_iter().filter_map(named).collect(),
            path: settings.get(Variable::PATH).unwrap_or_default().to_owned(),
            temporary: settings.temporary(),
            kept: settings.cache_folder(),
            // An invalid value of the environment variable was already rejected when the backend was opened.
            order: order_of(settings).unwrap_or_default(),
            options: settings
                .text(Variable::CPU_OPTIONS)
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            breaks: settings.is_on(Variable::CPU_BREAK, false),
        }
    })
}

fn order_of(settings: &Settings) -> Option<StartOrder> {
    StartOrder::named(&settings.text(Variable::CPU_ORDER).unwrap_or_default())
}

/// Checks the start order of threads that an environment variable selects. An invalid value is an error, because a run
/// that should find races must not silently use the default order.
///
/// # Errors
/// `Value` for an unknown word.
pub fn check_order(settings: &Settings) -> Result<()> {
    order_of(settings).map(drop).ok_or_else(|| {
        let variable = Variable::CPU_ORDER.name();
        let text = settings.text(Variable::CPU_ORDER).unwrap_or_default();
        Error::value(format!(
            "{variable} is '{text}'; the orders are 'reversed', 'shuffled' and, with any number, 'shuffled:7'"
        ))
    })
}

fn open_compiler() -> Result<&'static HostCompiler> {
    if let Some(compiler) = COMPILER.get() {
        return Ok(compiler);
    }
    let compiler = HostCompiler::open(host())?;
    Ok(COMPILER.get_or_init(|| compiler))
}

/// Returns the loaded library that a module handle refers to.
///
/// # Safety
/// The handle came from `load` and was not unloaded.
unsafe fn library<'a>(module: ModuleHandle) -> &'a LoadedImage {
    // SAFETY: the handle is the address of a leaked box, which unloading frees. The caller guarantees that the library
    // was not unloaded.
    unsafe { &*(module.0 as *const LoadedImage) }
}

/// Returns the kernel that a function handle refers to.
///
/// # Safety
/// The handle came from `function`, and its module is loaded.
unsafe fn kernel<'a>(function: FunctionHandle) -> &'a HostKernel {
    // SAFETY: the handle is the address of an entry in the module's list of kernels, which does not change while the
    // module is loaded.
    unsafe { &*(function.0 as *const HostKernel) }
}

fn name_of(name: &CStr) -> Result<&str> {
    name.to_str().map_err(|_| Error::value(format!("the name {name:?} is not UTF-8")))
}

/// The engine's error code of a launch that Ctrl-C interrupted.
const INTERRUPTED: i32 = 9;

/// Converts the engine's error code of a failed launch to the CUDA runtime's code.
fn code_of(failure: i32) -> u32 {
    match failure {
        1 => error_codes::ASSERT,
        2 => error_codes::LAUNCH_FAILURE,
        3 => error_codes::LAUNCH_TIMEOUT,
        4 => error_codes::INVALID_CONFIGURATION,
        6 => error_codes::ILLEGAL_ADDRESS,
        7 => error_codes::HARDWARE_STACK,
        8 => error_codes::LAUNCH_FAILURE,
        _ => error_codes::OUT_OF_RESOURCES,
    }
}

/// Runs a kernel and converts its failure to an error.
///
/// # Safety
/// The conditions of [`HostKernel::launch`] apply.
unsafe fn run(kernel: &HostKernel, shape: &Shape, arguments: *const *const c_void) -> Result<()> {
    // SAFETY: the caller guarantees the conditions of `launch`.
    let ran = unsafe { kernel.launch(shape, arguments) };
    ran.map_err(|(failure, text)| match keyboard_interrupt::raised().filter(|_| failure == INTERRUPTED) {
        Some(raised) => raised,
        None => refuse("launch", code_of(failure), text),
    })
}

/// Storage for part of a kernel argument, with the maximum alignment of any parameter.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct ParameterCell([u8; 128]);

/// Copies of the argument values of a captured launch, which is executed later.
struct CapturedArguments(Vec<Vec<ParameterCell>>);

impl CapturedArguments {
    /// Copies the arguments of a launch.
    ///
    /// # Safety
    /// There is one pointer for each parameter, and each points to as many bytes as its parameter has.
    unsafe fn of(kernel: &HostKernel, arguments: *const *const c_void) -> Self {
        let copied = kernel.parameters.iter().enumerate().map(|(place, &(bytes, _))| {
            let mut cells = vec![ParameterCell([0; 128]); bytes.div_ceil(size_of::<ParameterCell>()).max(1)];
            // SAFETY: the caller guarantees that each pointer refers to the parameter's bytes; the cells have room for
            // them.
            unsafe {
                std::ptr::copy_nonoverlapping((*arguments.add(place)).cast(), cells.as_mut_ptr().cast::<u8>(), bytes);
            }
            cells
        });
        Self(copied.collect())
    }

    fn pointers(&self) -> Vec<*const c_void> {
        self.0.iter().map(|cells| cells.as_ptr().cast()).collect()
    }
}

/// The host has no contexts, so all methods are the defaults.
impl Contexts for Cpu {}

/// Launch attributes only affect how kernels run concurrently. On the CPU, kernels run one after another, so attributes
/// are ignored.
impl Launches for Cpu {
    unsafe fn launch_with(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        _: &LaunchAttributes,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `launch`.
        unsafe { self.launch(device, function, shape, stream, arguments) }
    }
}

impl DeviceCode for Cpu {
    fn load(&self, device: i32, image: &[u8], _: &LoadOptions) -> Result<Loaded> {
        check_device("load", device)?;
        // A lock that `fork` also acquires is held while the loader opens a library. Otherwise a child that is forked
        // meanwhile could contain a partially loaded library.
        static LOADING: ForkSafeMutex<()> = ForkSafeMutex::new(());
        let loading = LOADING.lock();
        let library = LoadedImage::load(image, host()).map_err(Error::value)?;
        drop(loading);
        let module = ModuleHandle(Box::into_raw(Box::new(library)) as usize);
        Ok(Loaded { module, log: String::new() })
    }

    unsafe fn unload(&self, device: i32, module: ModuleHandle) -> Result<()> {
        check_device("unload", device)?;
        // SAFETY: the caller promises that the handle came from `load` and is not used again.
        drop(unsafe { Box::from_raw(module.0 as *mut LoadedImage) });
        Ok(())
    }

    unsafe fn function(&self, _: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle> {
        // SAFETY: the caller promises that the module is alive.
        let found = unsafe { library(module) }.kernel(name_of(name)?);
        let found = found.ok_or_else(|| refuse("function", NOT_FOUND, format!("kernel {name:?}")))?;
        Ok(FunctionHandle(std::ptr::from_ref(found) as usize))
    }

    unsafe fn global(&self, _: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)> {
        // SAFETY: the caller promises that the module is alive.
        let found = unsafe { library(module) }.global(name_of(name)?);
        found.ok_or_else(|| refuse("global", NOT_FOUND, format!("variable {name:?}")))
    }

    unsafe fn names(&self, _: i32, module: ModuleHandle) -> Result<Option<Vec<String>>> {
        // SAFETY: the caller promises that the module is alive.
        Ok(Some(unsafe { library(module) }.names()))
    }

    unsafe fn function_attributes(&self, _: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
        // SAFETY: the caller promises that the function is alive.
        let kernel = unsafe { kernel(function) };
        let bound = kernel.max_threads;
        let most =
            if bound == 0 { THREADS_PER_BLOCK.cast_unsigned() } else { bound.min(THREADS_PER_BLOCK.cast_unsigned()) };
        Ok(FunctionAttributes {
            max_threads_per_block: most.cast_signed(),
            static_shared_bytes: kernel.shared_bytes.cast_signed(),
            constant_bytes: kernel.constant_bytes.cast_signed(),
            max_dynamic_shared_bytes: SHARED_BYTES_OPTIN.cast_signed(),
            preferred_carveout: -1,
            ..FunctionAttributes::default()
        })
    }

    unsafe fn set_function(&self, _: i32, _: FunctionHandle, setting: FunctionSetting) -> Result<()> {
        match setting {
            FunctionSetting::MaxDynamicSharedBytes(bytes) if bytes > SHARED_BYTES_OPTIN.cast_signed() => {
                let detail = format!("{bytes} bytes of dynamic shared memory; {SHARED_BYTES_OPTIN} is the most");
                Err(refuse("set_function", error_codes::INVALID_VALUE, detail))
            }
            FunctionSetting::NonPortableClusters(true) => Err(no_clusters()),
            _ => Ok(()),
        }
    }

    unsafe fn parameters(&self, _: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
        let mut end = 0usize;
        // SAFETY: the caller promises that the function is alive.
        let places = unsafe { kernel(function) }.parameters.iter().map(|&(size, alignment)| {
            let offset = end.next_multiple_of(alignment);
            end = offset + size;
            ParameterPlace { offset, size }
        });
        Ok(Some(places.collect()))
    }

    unsafe fn active_blocks(&self, device: i32, function: FunctionHandle, threads: u32, shared: u32) -> Result<u32> {
        if threads == 0 {
            return Err(refuse("active_blocks", error_codes::INVALID_VALUE, "a block of no threads".to_owned()));
        }
        // SAFETY: the caller guarantees the conditions of `function_attributes`.
        let known = unsafe { self.function_attributes(device, function) }?;
        let bytes = shared.saturating_add(known.static_shared_bytes.cast_unsigned());
        let fits = threads <= known.max_threads_per_block.cast_unsigned() && bytes <= SHARED_BYTES_OPTIN;
        Ok(u32::from(fits))
    }

    unsafe fn suggested_shape(&self, _: i32, _: FunctionHandle, _: u32, limit: u32) -> Result<(u32, u32)> {
        let blocks = host_properties::properties().multiprocessor_count.max(1).cast_unsigned();
        Ok((blocks, if limit == 0 { 256 } else { limit.min(256) }))
    }

    unsafe fn launch(
        &self,
        _: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        // SAFETY: the caller promises that the function is alive.
        let kernel = unsafe { kernel(function) };
        let LaunchShape { grid, block, shared, cooperative } = *shape;
        let shape = Shape { grid, block, shared: u64::from(shared), cooperative };
        let arguments: *const *const c_void = arguments.cast_const().cast();
        if self.captures.next("launch", stream)?.is_none() {
            // SAFETY: the caller guarantees the conditions of `run`.
            return unsafe { run(kernel, &shape, arguments) };
        }
        // SAFETY: the caller promises one pointer to a value for each parameter of the kernel.
        let (kernel, values) = (kernel.clone(), unsafe { CapturedArguments::of(kernel, arguments) });
        self.run("launch", stream, move || {
            // SAFETY: the copied values match the kernel's parameters; the owner of the graph keeps the module and the
            // memory alive.
            unsafe { run(&kernel, &shape, values.pointers().as_ptr()) }
        })
    }

    fn launch_limits(&self, device: i32) -> Result<LaunchLimits> {
        check_device("launch_limits", device)?;
        Ok(LaunchLimits {
            threads_per_block: THREADS_PER_BLOCK.cast_unsigned(),
            block: BLOCK,
            grid: GRID,
            shared_per_block: SHARED_BYTES,
            shared_per_block_optin: SHARED_BYTES_OPTIN,
            cooperative: true,
            clusters: false,
            // The number of threads resident on a multiprocessor is that of one block, because a processor of the host
            // runs one block at a time.
            threads_per_multiprocessor: THREADS_PER_BLOCK.cast_unsigned(),
        })
    }

    fn device_attribute(&self, device: i32, number: i32) -> Result<i32> {
        check_device("device_attribute", device)?;
        attributes::attribute(number).ok_or_else(|| {
            let detail = format!("attribute {number}; CUDA has none of that number, or none that a host could answer");
            refuse("device_attribute", error_codes::INVALID_VALUE, detail)
        })
    }

    fn compiler(&self, _: &[PathBuf]) -> Result<&dyn Compiler> {
        open_compiler().map(|compiler| compiler as &dyn Compiler)
    }
}
