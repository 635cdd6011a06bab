//! Calls kernels from Python. A call reads and checks the arguments, and converts them to bytes.

use crate::exported_names::ExportedNames;

pub(crate) mod argument_errors;
pub(crate) mod argument_packing;
mod foreign_arguments;
pub(crate) mod host_arguments;
mod launch_with_rare_data;
mod number_conversion;
pub(crate) mod pointer_holders;
mod rare_argument_data;
pub(crate) mod scalar_values;
mod texture;

/// Adds the classes of kernel arguments to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    host_arguments::register(names);
}
