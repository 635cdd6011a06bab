//! Defines functions for `PyGPU.compiler` and `PyGPU.driver`. These functions load modules without Python warnings for
//! compiler messages, compile images without loading them, and query device attributes by CUDA's numbers.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::kernel::module::PyKernelModule;
use crate::kernel::source::{load_quietly, options as parse_options};
use crate::runtime::compiler::with_compiler;
use crate::runtime::device as device_argument;
use pygpu_backend::BackendKind;
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, Cache, Declarations, KernelSource};

/// Reads the argument `cache`: `None` and `True` select the default cache folder, `False` disables the cache, and a
/// path selects a folder.
fn cache_setting(cache: Option<&Bound<'_, PyAny>>) -> PyResult<Cache> {
    let Some(cache) = cache else { return Ok(Cache::Usual) };
    match cache.extract::<bool>() {
        Ok(true) => Ok(Cache::Usual),
        Ok(false) => Ok(Cache::Off),
        Err(_) => Ok(Cache::Folder(cache.extract::<PathBuf>()?)),
    }
}

fn source(
    text: String,
    options: Option<&Bound<'_, PyAny>>,
    compiler: Option<String>,
    extern_c: bool,
    cache: Option<&Bound<'_, PyAny>>,
) -> PyResult<KernelSource> {
    Ok(KernelSource {
        text,
        name: "kernel.cu".to_owned(),
        options: parse_options(options)?,
        instances: Vec::new(),
        extern_c,
        compiler,
        cache: cache_setting(cache)?,
    })
}

/// Load a module from source; the compiler output is stored only in the module's log.
///
/// Parameters
/// ----------
/// text : str
///     The source.
/// options, compiler, extern_c : optional
///     As for `Kernel`.
/// cache : bool or path, optional
///     As for `Kernel`, or the folder in which to cache the image.
///
/// Returns
/// -------
/// Module
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> module = _core.load_source('__global__ void one(int *x) { *x = 1; }')
#[pyfunction]
#[pyo3(signature = (
    text: "str", options: "str | Sequence[str] | None" = None, compiler: "str | None" = None,
    extern_c: "bool" = false, cache: "bool | str | PathLike[str] | None" = None
) -> "Module")]
fn load_source(
    py: Python<'_>,
    text: String,
    options: Option<&Bound<'_, PyAny>>,
    compiler: Option<String>,
    extern_c: bool,
    cache: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyKernelModule> {
    let names = Declarations::read(&text, &[]).described();
    let source = source(text, options, compiler, extern_c, cache)?;
    let device = device_argument::from_argument(py, None)?;
    Ok(PyKernelModule::wrap(load_quietly(py, device, source)?, names))
}

/// Compile a source to an image without loading it, and return the compiler output.
///
/// Parameters
/// ----------
/// text : str
///     The source.
/// options, compiler, extern_c : optional
///     As for `Kernel`; with an architecture such as ``compute_90`` the image is PTX.
/// cache : bool or path, optional
///     As for `Kernel`, or the folder in which to cache the image.
///
/// Returns
/// -------
/// image : bytes
/// log : str
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> image, log = _core.compile_source('__global__ void one(int *x) { *x = 1; }')
#[pyfunction]
#[pyo3(signature = (
    text: "str", options: "str | Sequence[str] | None" = None, compiler: "str | None" = None,
    extern_c: "bool" = false, cache: "bool | str | PathLike[str] | None" = None
) -> "tuple[bytes, str]")]
fn compile_source<'py>(
    py: Python<'py>,
    text: String,
    options: Option<&Bound<'py, PyAny>>,
    compiler: Option<String>,
    extern_c: bool,
    cache: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let source = source(text, options, compiler, extern_c, cache)?;
    let device = device_argument::from_argument(py, None)?;
    let compiled = with_compiler(py, device, &source, |hints| Ok(kernel::build(device, &source, hints)?.compiled))?;
    Ok((PyBytes::new(py, &compiled.image), compiled.log.clone()))
}

/// Queries a device attribute by CUDA's number. CUDA's driver and the CPU backend use these numbers. On AMD devices the
/// result is the equivalent limit or property.
fn attribute(device: Device, number: i32) -> Result<i32> {
    let device_code = device.backend().device_code()?;
    if device.kind() != BackendKind::Hip {
        return device_code.device_attribute(device.index(), number);
    }
    let limits = device_code.launch_limits(device.index())?;
    let properties = device.properties()?;
    let clamped = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    Ok(match number {
        1 => clamped(limits.threads_per_block),
        2..=4 => clamped(limits.block[number as usize - 2]),
        5..=7 => clamped(limits.grid[number as usize - 5]),
        8 => clamped(limits.shared_per_block),
        97 => clamped(limits.shared_per_block_optin),
        95 => i32::from(limits.cooperative),
        10 => properties.warp_size,
        13 => properties.clock_rate,
        15 => i32::from(properties.async_engine_count > 0),
        16 => properties.multiprocessor_count,
        18 => i32::from(properties.integrated),
        20 => 0,
        33 => properties.pci.1,
        34 => properties.pci.2,
        50 => properties.pci.0,
        38 => properties.l2_cache_size,
        40 => properties.async_engine_count,
        75 => properties.compute_capability.0,
        76 => properties.compute_capability.1,
        115 => i32::from(properties.memory_pools),
        _ => return device_code.device_attribute(device.index(), number),
    })
}

/// Return an attribute of a device by CUDA's number.
///
/// Parameters
/// ----------
/// number : int
///     A value of ``CUdevice_attribute``.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int
///
/// Raises
/// ------
/// NotSupportedError
///     For attributes without an equivalent in a driver other than CUDA's.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.device_attribute(10) > 0
/// True
#[pyfunction]
#[pyo3(signature = (number: "int", device: "DeviceLike" = None) -> "int")]
fn device_attribute(py: Python<'_>, number: i32, device: Option<&Bound<'_, PyAny>>) -> PyResult<i32> {
    let device = device_argument::from_argument(py, device)?;
    Ok(py.without_gil(|| attribute(device, number))?)
}

names! {
    internal_functions: load_source, compile_source, device_attribute;
}
