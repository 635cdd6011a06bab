//! Arrays with a driver layout, textures and surfaces: the classes `TextureArray`, `Texture` and `Surface`.

use pyo3::prelude::*;

pub(crate) mod array;
pub(crate) mod object;
mod words;

/// Adds the classes to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<array::TextureArray>()?;
    module.add_class::<object::Texture>()?;
    module.add_class::<object::Surface>()
}
