//! Contains the mathematical functions outside NumPy's table of ufuncs. These are factorizations by the vendors'
//! libraries, the parts of complex numbers, and special functions.

mod complex_parts;
mod linalg;
pub(super) mod scipy_fallback;
mod special;

use crate::exported_names::ExportedNames;

/// Adds the functions to the module.
pub(super) fn register(names: &mut ExportedNames) {
    complex_parts::register(names);
    linalg::register(names);
    special::register(names);
}
