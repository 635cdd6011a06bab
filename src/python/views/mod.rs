//! Implements access to parts of an array, as in `a[key]` and `a[key] = value`, and methods that return views of an
//! array's memory.

use crate::exported_names::ExportedNames;

pub(crate) mod advanced_key;
pub(crate) mod assign;
pub(crate) mod basic_key;
mod byteswap;
pub(crate) mod copyto;
mod cupy_methods;
pub(crate) mod element_encoding;
pub(crate) mod fields;
pub(crate) mod fill;
mod flat;
pub(crate) mod gather;
pub(crate) mod index;
mod key_items;
mod selection_methods;
pub(crate) mod take;
pub(crate) mod view;

/// Adds the functions to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    copyto::register(names);
    take::register(names);
    view::register(names);
}
