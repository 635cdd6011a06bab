//! Where the vendors' libraries of mathematics may be, asked of Python, which knows wheels and conda environments.

use pyo3::prelude::*;

use crate::once::intern;
use pygpu_backend::libraries::SearchPaths;

/// The places of a library, by NVIDIA's name for it: `cublas`.
///
/// # Errors
/// Python's.
pub fn places(py: Python<'_>, name: &str) -> PyResult<SearchPaths> {
    let module = py.import(intern!(py, "PyGPU._native.library_files"))?;
    let (named, hints) = module.call_method1(intern!(py, "mathematics"), (name,))?.extract()?;
    Ok(SearchPaths { named, hints })
}
