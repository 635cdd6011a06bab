//! Defines kernels that are generated from C expressions of the user: elementwise, reduction and scan kernels.

use pyo3::prelude::*;

pub(crate) mod arguments;
pub(crate) mod elementwise;
mod pickle_state;
pub(crate) mod reduction;
pub(crate) mod scan;

/// Adds the kernel classes to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    elementwise::register(module)?;
    reduction::register(module)?;
    scan::register(module)
}
