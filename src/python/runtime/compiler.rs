//! Searches for the library files of kernel compilers through Python, and calls functions that need a compiler.

use std::path::PathBuf;

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::ffi::interpreter::with_interpreter;
use crate::gil::WithoutGil;
use crate::library_search::search_paths;
use crate::py_once::intern;
use pygpu_backend::{BackendKind, libraries};
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_kernel::{self as kernel, KernelSource};

/// Calls `work` with the paths at which a fast search by Python code found the library of the compiler. If `work` finds
/// no usable compiler there, calls `work` again with the paths that a thorough search found.
pub(crate) fn with_hints<T: Send>(
    py: Python<'_>,
    kind: BackendKind,
    work: impl Fn(&[PathBuf]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    let candidates = hints(py, kind, intern!(py, "candidates"))?;
    let result = match py.without_gil(|| work(&candidates)) {
        Err(Error::Unavailable(text)) => {
            let thorough_hints = hints(py, kind, intern!(py, "by_pathfinder"))?;
            if thorough_hints.is_empty() {
                return Err(Error::Unavailable(text).into());
            }
            py.without_gil(|| work(&thorough_hints))?
        }
        other => other?,
    };
    warn_untrusted_cache(py)?;
    Ok(result)
}

/// Issues a Python warning for each untrusted folder of the kernel cache, once for each folder.
pub(crate) fn warn_untrusted_cache(py: Python<'_>) -> PyResult<()> {
    let Some(text) = kernel::untold_cache_refusal() else { return Ok(()) };
    let text = std::ffi::CString::new(text.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

fn hints(py: Python<'_>, kind: BackendKind, function: &Bound<'_, PyString>) -> PyResult<Vec<PathBuf>> {
    if kind != BackendKind::Cuda {
        return Ok(Vec::new());
    }
    py.import(intern!(py, "PyGPU._paths.library_files"))?.getattr(function)?.call0()?.extract()
}

/// Registers Python's search for the compilers of PyGPU's own kernels and for the vendors' libraries.
pub(crate) fn register() {
    kernel::search_with(|kind, thorough| {
        let paths = with_interpreter(|py| {
            let function = if thorough { intern!(py, "by_pathfinder") } else { intern!(py, "candidates") };
            // If Python's search fails, or if the interpreter can no longer be called, only the default locations are
            // searched.
            hints(py, kind, function).unwrap_or_default()
        });
        paths.unwrap_or_default()
    });
    libraries::search_with(|name| {
        with_interpreter(|py| search_paths(py, name).unwrap_or_default()).unwrap_or_default()
    });
}

/// Calls `work`, which compiles a source or loads its compiled image from the cache. `work` receives the paths at which
/// a search found the compiler's library, or no paths if the source specifies its own compiler.
pub(crate) fn with_compiler<T: Send>(
    py: Python<'_>,
    device: Device,
    source: &KernelSource,
    work: impl Fn(&[PathBuf]) -> Result<T> + Send + Sync,
) -> PyResult<T> {
    match source.compiler {
        None => with_hints(py, device.kind(), work),
        Some(_) => {
            let result = py.without_gil(|| work(&[]))?;
            warn_untrusted_cache(py)?;
            Ok(result)
        }
    }
}
