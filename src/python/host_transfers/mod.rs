//! Transfers values between arrays and ndarrays: views, pinned memory, and copies in both directions.

use pyo3::prelude::*;

use crate::ffi::host_range;

mod bytes;
pub(crate) mod cast;
pub(crate) mod copies;
pub(crate) mod cpu_view;
pub(crate) mod device_arrays;
pub(crate) mod host_mirror_transfers;
pub(crate) mod host_operand;
pub(crate) mod pinned;
pub(crate) mod result_arrays;
pub(crate) mod transfer;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    host_range::register(module)?;
    pinned::register(module)
}
