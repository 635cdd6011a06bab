//! Defines kernels that are generated from C expressions of the user: elementwise, reduction and scan kernels.

use crate::exported_names::ExportedNames;

pub(crate) mod arguments;
pub(crate) mod elementwise;
mod pickle_state;
pub(crate) mod reduction;
pub(crate) mod scan;

/// Adds the kernel classes to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    elementwise::register(names);
    reduction::register(names);
    scan::register(names);
}
