//! Transfers values between arrays and ndarrays: views, pinned memory, and copies in both directions.

use crate::exported_names::ExportedNames;

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
pub(crate) fn register(names: &mut ExportedNames) {
    host_range::register(names);
    pinned::register(names);
}
