//! The class `GPUArray`: its object, its attributes, what it remembers of the host.

pub(crate) mod attributes;
pub(crate) mod class;
pub(crate) mod heritage;
pub(crate) mod host_side;
pub(crate) mod owner;
