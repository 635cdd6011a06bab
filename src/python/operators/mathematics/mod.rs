//! Computations for which PyGPU uses the vendors' libraries only.

mod linalg;

use pyo3::prelude::*;

/// Adds the functions to the module. All of them are private.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    linalg::register(module)
}
