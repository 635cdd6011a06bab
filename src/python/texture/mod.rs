//! Defines the classes `Texture`, `Surface`, and `TextureArray` (an array in the driver's memory layout for textures).

use pyo3::prelude::*;

pub(crate) mod array;
mod enum_names;
pub(crate) mod object;

/// Adds the three classes to the Python module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    array::register(module)?;
    object::register(module)
}
