//! Creates ndarrays over the memory of CPU arrays.

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::array::class::GpuArray;
use crate::convert::dtype;
use crate::convert::ndarray::{over_borrowed, over_memory};
use pygpu_array::Array;
use pygpu_base::error::Error;

/// Creates an ndarray over the memory of a CPU array. The ndarray keeps the array alive.
///
/// # Errors
/// `TypeError` for an array of another device.
pub(crate) fn view<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let owner = array.clone().into_any();
    view_with_owner(array.py(), array.get().array(array.py())?, owner)
}

/// Creates a view like [`view`], whose `base` is another Python object than the array.
fn view_with_owner<'py>(
    py: Python<'py>,
    array: &Array,
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    check_device(array)?;
    let descr = dtype::to_python(py, array.dtype())?;
    over_memory(py, array.address(), array.layout(), descr, !array.readonly(), owner)
}

/// Creates a view like [`view`], for an array without a Python object. The view keeps the memory alive, because it may
/// exist longer than the call, e.g. in a traceback.
pub(crate) fn owning<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    let capsule = PyCapsule::new_with_value(py, array.clone(), c"PyGPU.Array")?;
    view_with_owner(py, array, capsule.into_any())
}

/// Creates a view like [`view`], for a single call of a C function. The caller keeps the array alive during that call,
/// because the view does not. Creating such a view takes half as long as [`view`].
pub(crate) fn borrowed<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    check_device(array)?;
    let descr = dtype::to_python(py, array.dtype())?;
    over_borrowed(py, array.address(), array.layout(), descr, !array.readonly())
}

#[inline]
fn check_device(array: &Array) -> PyResult<()> {
    match array.device().is_cpu() {
        true => Ok(()),
        false => Err(Error::type_error(format!("the memory of {} cannot be read by the host", array.device())).into()),
    }
}
