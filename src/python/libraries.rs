//! Where the vendors' libraries of mathematics may be, asked of Python, which knows wheels and conda environments.

use pyo3::intern;
use pyo3::prelude::*;

use crate::backend::libraries::{self, Places};
use crate::python::callback::with_interpreter;

/// The places of a library, by NVIDIA's name for it: `cublas`.
///
/// # Errors
/// Python's.
pub fn places(py: Python<'_>, name: &str) -> PyResult<Places> {
    let module = py.import(intern!(py, "PyGPU._native.library_files"))?;
    let (named, hints) = module.call_method1(intern!(py, "mathematics"), (name,))?.extract()?;
    Ok(Places { named, hints })
}

/// Lets libraries be found that are opened by what is not asked from Python.
pub(crate) fn register() {
    libraries::search_with(|name| {
        // An interpreter that cannot say it any more leaves the system's own places.
        with_interpreter(|py| places(py, name).unwrap_or_default()).unwrap_or_default()
    });
}
