//! Operators and protocols of Python and NumPy.

pub(crate) mod protocols;
pub(crate) mod slots;
