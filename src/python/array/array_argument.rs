//! Converts array arguments of Python functions, and creates the error for arguments that are not arrays.

use std::ops::Deref;

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::ffi::objects::value_of;
use crate::finalization;
use crate::py_once::intern;
use pygpu_array::Array;

/// A parameter that must be a PyGPU array, or a list or tuple of numbers. A list or tuple is copied to the current
/// device.
pub(crate) struct ArrayArg<'py>(Bound<'py, GpuArray>);

impl<'a, 'py> FromPyObject<'a, 'py> for ArrayArg<'py> {
    type Error = PyErr;

    #[inline(never)] // not inlined, because two dozen callers would each contain a copy of the machine code
    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<GpuArray>() {
            Ok(array) => Ok(Self(array.to_owned())),
            Err(_) => sequence_or_error(&object).map(Self),
        }
    }
}

impl<'py> Deref for ArrayArg<'py> {
    type Target = Bound<'py, GpuArray>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// Returns the core array of a `GPUArray` object, for the lifetime of the borrow. Returns `None` for other objects.
///
/// # Errors
/// The errors of [`GpuArray::array`].
#[inline]
pub(crate) fn array_if_gpu<'a>(object: Borrowed<'a, '_, PyAny>) -> PyResult<Option<&'a Array>> {
    match object.cast::<GpuArray>() {
        Ok(array) => value_of(array).array(object.py()).map(Some),
        Err(_) => Ok(None),
    }
}

/// Copies a list or tuple of numbers, nested or not, to the current device.
///
/// # Errors
/// `TypeError` for any other object, and for a list that contains an array; `ValueError` for rows of different lengths;
/// driver errors.
#[cold]
pub(crate) fn sequence_or_error<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let py = object.py();
    let array = finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._functions.array_arguments"))?;
        module.call_method1(intern!(py, "sequence"), (object,))
    })?;
    Ok(array.cast_into()?)
}

/// Returns the error for an object that is not a PyGPU array. The message describes the object and names a function
/// that converts the object to an array.
#[cold]
pub(crate) fn type_error(object: &Bound<'_, PyAny>) -> PyErr {
    let py = object.py();
    finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._functions.array_arguments"))?;
        module.call_method1(intern!(py, "invalid_array_error"), (object,))
    })
    .map_or_else(|error| error, PyErr::from_value)
}
