//! What is computed by the vendors' libraries only.

mod solver;

use pyo3::prelude::*;

/// Puts the functions into the module, of whose public names they are none.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    solver::register(module)
}
