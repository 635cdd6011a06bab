//! Contains the class `GPUArray`: the constructors of its objects, their attributes, and their rarely used fields.

use pyo3::prelude::*;

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
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    attributes::register(module)?;
    class::register(module)
}
