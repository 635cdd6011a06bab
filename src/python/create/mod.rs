//! Defines functions that create arrays: of a shape, from values, from arrays of other libraries, over memory at an
//! address, and in memory of allocators.

use crate::exported_names::ExportedNames;

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
pub(crate) fn register(names: &mut ExportedNames) {
    from_address::register(names);
    allocator::register(names);
    asarray::register(names);
    astype::register(names);
    filled::register(names);
    from_dlpack::register(names);
    from_pointer::register(names);
    join::register(names);
    like::register(names);
    arange::register(names);
    triangle::register(names);
    upload::register(names);
}
