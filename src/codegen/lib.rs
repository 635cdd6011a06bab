//! What generated and built-in kernels have in common.
//!
//! - [`access`] is how a kernel is told where the elements of its arrays are, and its half in device code;
//! - [`store`] keeps what was compiled, for the whole process.

pub mod access;
pub mod store;
