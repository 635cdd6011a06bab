//! Kernel calls: arguments are read, checked and packed.

use pyo3::prelude::*;

mod finish;
mod number;
pub(crate) mod on_host;
mod other;
pub(crate) mod pack;
pub(crate) mod pointers;
mod rare;
pub(crate) mod refusal;
mod texture;
pub(crate) mod values;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    on_host::register(module)
}
