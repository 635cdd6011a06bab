//! Kernels: the classes `Kernel`, `Module`, `LaunchConfig` and `Launcher`.

use pyo3::prelude::*;

pub(crate) mod attributes;
pub(crate) mod call;
pub(crate) mod class;
mod compiled;
pub(crate) mod config;
pub(crate) mod extent;
pub(crate) mod instance;
pub(crate) mod launcher;
pub(crate) mod module;
pub(crate) mod source;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    class::register(module)?;
    launcher::register(module)?;
    config::register(module)?;
    module::register(module)?;
    call::register(module)
}
