//! Views of the same memory, `a[key]` and `a[key] = value`.

pub(crate) mod assign;
pub(crate) mod basic;
pub(crate) mod copyto;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod gather;
pub(crate) mod index;
pub(crate) mod item;
mod key;
mod select;
pub(crate) mod selection;
pub(crate) mod take;
pub(crate) mod view;
