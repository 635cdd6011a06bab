//! Finds the search paths of the vendors' libraries. A Python function locates the libraries in wheels and conda
//! environments.

use pyo3::prelude::*;

use crate::py_once::intern;
use pygpu_backend::libraries::SearchPaths;

/// Returns the search paths of a library. `name` is NVIDIA's name of the library, such as `cublas`.
///
/// # Errors
/// The errors of the Python function.
pub fn search_paths(py: Python<'_>, name: &str) -> PyResult<SearchPaths> {
    let module = py.import(intern!(py, "PyGPU._paths.library_files"))?;
    let (named, hints) = module.call_method1(intern!(py, "mathematics"), (name,))?.extract()?;
    Ok(SearchPaths { named, hints })
}
