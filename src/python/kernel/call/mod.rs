//! One call of a kernel: its arguments read, checked and packed.

use pyo3::prelude::*;

mod finish;
mod number;
pub(crate) mod on_host;
pub(crate) mod pack;
pub(crate) mod pointers;
pub(crate) mod refusal;
mod texture;
pub(crate) mod values;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    on_host::register(module)
}
