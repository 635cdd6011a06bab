//! The class `GPUArray`: its object, its attributes, and its rarely used fields.

use pyo3::prelude::*;

pub(crate) mod allocator_inheritance;
pub(crate) mod array_argument;
pub(crate) mod attributes;
pub(crate) mod class;
pub(crate) mod cold_fields;
pub(crate) mod deferred;
pub(crate) mod host_mirror;
pub(crate) mod memory_owner;
mod unallocated;

/// Puts the classes into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    attributes::register(module)?;
    class::register(module)
}
