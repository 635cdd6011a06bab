//! Computations that only the vendors' libraries perform.

mod linalg;

use pyo3::prelude::*;

/// Adds the functions to the module; none of them is public.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    linalg::register(module)
}
