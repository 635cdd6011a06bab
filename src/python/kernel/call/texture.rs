//! Textures and surfaces as arguments of a kernel.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::pack::CallContext;
use crate::texture::object;
use pygpu_base::dtype::ScalarType;
use pygpu_kernel::{Parameter, ParameterKind};

impl CallContext<'_, '_> {
    /// Adds a texture or a surface. Returns whether the value is one.
    pub(super) fn add_texture(
        &mut self,
        position: usize,
        parameter: Option<&Parameter>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let Some((object, is_surface)) = object::of_python(value) else { return Ok(false) };
        let fits = match parameter.map(|parameter| parameter.kind) {
            None | Some(ParameterKind::Unknown | ParameterKind::Bytes(8)) => true,
            Some(ParameterKind::Scalar(ScalarType::UInt64 | ScalarType::Int64)) => true,
            Some(_) => false,
        };
        let spelled = parameter.map_or("", |parameter| &parameter.spelled);
        let other = if is_surface { "TextureObject" } else { "SurfaceObject" };
        if !fits || spelled.contains(other) {
            let (given, wanted) = if is_surface { ("Surface", "Surface") } else { ("Texture", "Texture") };
            return Err(PyTypeError::new_err(format!(
                "{}: a {given} was given; it is for a parameter of the type cuda{wanted}Object_t",
                self.place(position, parameter)
            )));
        }
        if object.device() != self.function.device() {
            return Err(PyValueError::new_err(format!(
                "{}: the texture or surface is on {}, and the kernel on {}",
                self.place(position, parameter),
                object.device(),
                self.function.device()
            )));
        }
        self.push_object(object.number(), object.uses().map(|(block, access)| (block.clone(), access)));
        Ok(true)
    }
}
