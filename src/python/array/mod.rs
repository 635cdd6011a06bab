//! The class `GPUArray`: its object, its attributes, and its rarely used fields.

pub(crate) mod attributes;
pub(crate) mod class;
pub(crate) mod heritage;
pub(crate) mod host_side;
mod nowhere;
pub(crate) mod own;
pub(crate) mod owner;
pub(crate) mod rare;
pub(crate) mod waiting;
