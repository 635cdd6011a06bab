//! Defines functions that create arrays: of a shape, from values, from arrays of other libraries, over memory at an
//! address, and in memory of allocators.

use pyo3::prelude::*;

pub(crate) mod allocator;
pub(crate) mod arange;
pub(crate) mod asarray;
pub(crate) mod astype;
mod constructor;
pub(crate) mod filled;
pub(crate) mod from_address;
pub(crate) mod from_dlpack;
mod from_pointer;
pub(crate) mod from_supplied_memory;
mod join;
pub(crate) mod like;
mod triangle;
pub(crate) mod upload;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    from_address::register(module)?;
    allocator::register(module)?;
    asarray::register(module)?;
    astype::register(module)?;
    filled::register(module)?;
    from_dlpack::register(module)?;
    from_pointer::register(module)?;
    join::register(module)?;
    like::register(module)?;
    arange::register(module)?;
    triangle::register(module)?;
    upload::register(module)
}
