//! Contains code that both generated and built-in kernels use.
//!
//! - [`array_access`] passes addresses, lengths and strides to kernels, and contains the device code that uses them.
//! - [`variant_cache`] caches compiled variants for the whole process.

pub mod array_access;
pub mod variant_cache;
