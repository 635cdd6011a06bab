//! Defines functions and classes that implement PyCUDA's interface of contexts, functions and sources.

use crate::exported_names::ExportedNames;

pub(crate) mod array;
pub(crate) mod compile;
pub(crate) mod context;
pub(crate) mod function;
pub(crate) mod function_attributes;
pub(crate) mod texture_references;

/// Adds classes and functions to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    context::register(names);
    texture_references::register(names);
    function::register(names);
    compile::register(names);
}
