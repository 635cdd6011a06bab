//! Kernels from a few lines of the user's C: elementwise, reduction, scan.

use pyo3::prelude::*;

pub(crate) mod arguments;
pub(crate) mod elementwise;
mod recipe;
pub(crate) mod reduction;
pub(crate) mod scan;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    elementwise::register(module)?;
    reduction::register(module)?;
    scan::register(module)
}
