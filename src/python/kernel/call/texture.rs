//! Passes textures and surfaces as arguments of a kernel.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::argument_packing::CallContext;
use crate::texture::object;
use pygpu_base::dtype::ScalarType;
use pygpu_kernel::{Parameter, ParameterKind};

impl CallContext<'_, '_> {
    /// Adds the handle of a texture or surface as an argument. Returns false for other objects, for which no argument
    /// is added.
    pub(super) fn add_texture(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let Some((object, is_surface)) = object::from_python(value) else { return Ok(false) };
        let is_compatible = match parameter.map(|parameter| parameter.kind) {
            None | Some(ParameterKind::Unknown | ParameterKind::Bytes(8)) => true,
            Some(ParameterKind::Scalar(ScalarType::UInt64 | ScalarType::Int64)) => true,
            Some(_) => false,
        };
        let spelled = parameter.map_or("", |parameter| &parameter.spelled);
        let other_type = if is_surface { "TextureObject" } else { "SurfaceObject" };
        if !is_compatible || spelled.contains(other_type) {
            let (class, type_prefix) = if is_surface { ("Surface", "Surface") } else { ("Texture", "Texture") };
            return Err(PyTypeError::new_err(format!(
                "{}: a {class} was given; it is for a parameter of the type cuda{type_prefix}Object_t",
                self.argument_label(position, parameter)
            )));
        }
        if object.device() != self.function.device() {
            return Err(PyValueError::new_err(format!(
                "{}: the texture or surface is on {}, and the kernel on {}",
                self.argument_label(position, parameter),
                object.device(),
                self.function.device()
            )));
        }
        self.push_object(object.number(), object.uses().map(|(block, access)| (block.clone(), access)));
        Ok(true)
    }
}
