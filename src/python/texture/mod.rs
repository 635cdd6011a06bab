//! The classes `TextureArray`, an array in the driver's memory layout for textures, `Texture` and `Surface`.

use pyo3::prelude::*;

pub(crate) mod array;
mod enum_names;
pub(crate) mod object;

/// Adds the three classes to the Python module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    array::register(module)?;
    object::register(module)
}
