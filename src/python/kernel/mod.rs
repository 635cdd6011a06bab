//! Defines the kernel classes `Kernel`, `Module`, `LaunchConfig`, `Launcher`, `GraphNode`, `GraphCondition` and
//! `GraphBody`, and arguments that contain addresses.

use crate::exported_names::ExportedNames;

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
pub(crate) fn register(names: &mut ExportedNames) {
    argument::register(names);
    tensor_map::register(names);
    class::register(names);
    graph_node::register(names);
    graph_condition::register(names);
    launcher::register(names);
    launch_config::register(names);
    module::register(names);
    call::register(names);
}
