//! Contains the mathematical functions outside NumPy's table of ufuncs. These are factorizations by the vendors'
//! libraries, the parts of complex numbers, and special functions.

mod complex_parts;
mod linalg;
pub(super) mod scipy_fallback;
mod special;

use pyo3::prelude::*;

/// Adds the functions to the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    complex_parts::register(module)?;
    linalg::register(module)?;
    special::register(module)
}
