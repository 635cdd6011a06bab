//! Other layouts of the same memory, `a[key]` and `a[key] = value`.

pub(crate) mod assign;
pub(crate) mod basic;
pub(crate) mod copyto;
pub(crate) mod fields;
pub(crate) mod fill;
pub(crate) mod gather;
pub(crate) mod index;
pub(crate) mod item;
pub(crate) mod selection;
pub(crate) mod view;
