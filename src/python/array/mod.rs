//! Contains the class `GPUArray`: the constructors of its objects, their attributes, and their rarely used fields.

use crate::exported_names::ExportedNames;

pub(crate) mod allocator_inheritance;
pub(crate) mod array_argument;
pub(crate) mod attributes;
pub(crate) mod class;
pub(crate) mod deferred_operands;
pub(crate) mod host_mirror;
pub(crate) mod memory_owner;
pub(crate) mod output_argument;
pub(crate) mod rare_fields;
mod shape_setter;
mod unallocated;

/// Adds the classes to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    attributes::register(names);
    class::register(names);
}
