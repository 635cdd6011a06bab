//! Code shared by generated and built-in kernels.
//!
//! - [`access`] passes addresses, lengths and strides to kernels, and contains the device code that uses them.
//! - [`store`] caches compiled variants for the whole process.

pub mod access;
pub mod store;
