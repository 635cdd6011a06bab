//! Operators and protocols of Python and NumPy.

pub(crate) mod operators;
pub(crate) mod protocols;
