//! Defines the classes `Texture`, `Surface`, and `TextureArray` (an array in the driver's memory layout for textures).

use crate::exported_names::ExportedNames;

pub(crate) mod array;
mod enum_names;
pub(crate) mod object;

/// Adds the three classes to the Python module.
pub(crate) fn register(names: &mut ExportedNames) {
    array::register(names);
    object::register(names);
}
