//! What an argument may be: numbers, shapes, dtypes, ndarrays, and what strict mode says of them. Knows no array of ours.

use pyo3::prelude::*;

pub(crate) mod buffer;
pub(crate) mod c_types;
pub(crate) mod dtype;
pub(crate) mod ndarray;
pub(crate) mod number;
pub(crate) mod pointer;
pub(crate) mod shape;
pub(crate) mod strict;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    c_types::register(module)?;
    strict::register(module)
}
