//! Converts the argument `out` of Python functions.

use std::ops::Deref;

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::convert::argument_errors;

/// A parameter `out` that must be a PyGPU array.
pub(crate) struct OutputArg<'py>(Bound<'py, GpuArray>);

impl<'a, 'py> FromPyObject<'a, 'py> for OutputArg<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<GpuArray>() {
            Ok(array) => Ok(Self(array.to_owned())),
            Err(_) => Err(argument_errors::output(None, &object)),
        }
    }
}

impl<'py> Deref for OutputArg<'py> {
    type Target = Bound<'py, GpuArray>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
