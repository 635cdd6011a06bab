//! Defines functions and classes that implement PyCUDA's interface of contexts, functions and sources.

use pyo3::prelude::*;

pub(crate) mod array;
pub(crate) mod compile;
pub(crate) mod context;
pub(crate) mod function;
pub(crate) mod function_attributes;
pub(crate) mod texture_references;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    context::register(module)?;
    texture_references::register(module)?;
    function::register(module)?;
    compile::register(module)
}
