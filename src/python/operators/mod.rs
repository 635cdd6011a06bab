//! Operators and protocols of Python and NumPy.

pub(crate) mod compute;
pub(crate) mod protocols;
pub(crate) mod slots;
pub(crate) mod ufunc;

use pyo3::prelude::*;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    ufunc::register(module)
}
