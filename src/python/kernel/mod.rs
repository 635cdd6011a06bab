//! Defines the kernel classes `Kernel`, `Module`, `LaunchConfig`, `Launcher`, `GraphNode`, `GraphCondition` and
//! `GraphBody`, and arguments that contain addresses.

use pyo3::prelude::*;

pub(crate) mod argument;
pub(crate) mod attributes;
pub(crate) mod call;
pub(crate) mod class;
mod compiled_text;
pub(crate) mod dimensions;
mod graph_condition;
pub(crate) mod graph_node;
pub(crate) mod kernel_lookup;
pub(crate) mod launch_config;
pub(crate) mod launcher;
pub(crate) mod module;
pub(crate) mod source;
mod tensor_map;

/// Adds the kernel classes to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    argument::register(module)?;
    tensor_map::register(module)?;
    class::register(module)?;
    graph_node::register(module)?;
    graph_condition::register(module)?;
    launcher::register(module)?;
    launch_config::register(module)?;
    module::register(module)?;
    call::register(module)
}
