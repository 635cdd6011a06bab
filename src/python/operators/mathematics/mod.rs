//! Mathematical functions outside the table of ufuncs: factorizations by the vendors' libraries, and the parts of
//! complex numbers.

mod complex_parts;
mod linalg;

use pyo3::prelude::*;

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    complex_parts::register(module)?;
    linalg::register(module)
}
