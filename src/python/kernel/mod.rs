//! Kernels: the classes `Kernel`, `Module`, `LaunchConfig`, `Launcher` and `GraphNode`.

use pyo3::prelude::*;

pub(crate) mod attributes;
pub(crate) mod call;
pub(crate) mod class;
pub(crate) mod config;
pub(crate) mod extent;
pub(crate) mod graph_node;
pub(crate) mod launcher;
pub(crate) mod module;
pub(crate) mod source;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    class::register(module)?;
    graph_node::register(module)?;
    launcher::register(module)?;
    config::register(module)?;
    module::register(module)?;
    call::register(module)
}
