//! `a[mask]`, `a[indices]`: copies of the selected elements, and their assignment.
//!
//! On CPU arrays NumPy does it on a zero-copy view. On a device kernels do it, by a plan that `selection` makes of the key. Keys
//! that are unusual or wrong, and devices without a compiler, take the detour over the host: the array comes down, NumPy selects or
//! refuses, the result goes up. It is right, and slow.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::assign;
use super::selection;
use crate::array::Array;
use crate::copy;
use crate::error::Error;
use crate::layout::{Dims, Order};
use crate::memory::capture;
use crate::python::array::class::{GpuArray, new_like};
use crate::python::array::heritage;
use crate::python::convert::dtype;
use crate::python::convert::ndarray;
use crate::python::convert::strict;
use crate::python::gil::WithoutGil;
use crate::python::host::cpu_view;
use crate::python::host::new;
use crate::python::host::transfer;
use crate::python::once::intern;
use crate::stream;

/// The key with device arrays in it brought to the host.
fn host_key<'py>(key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = key.py();
    if let Ok(array) = key.cast::<GpuArray>() {
        return Ok(values(array)?.into_any());
    }
    match key.cast_exact::<PyTuple>() {
        Ok(items) => {
            let items = items.iter().map(|item| host_key(&item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, items)?.into_any())
        }
        Err(_) => Ok(key.clone()),
    }
}

/// Whether NumPy works on the array's memory in place. Not in a capture, which takes in kernels only.
fn is_numpys(array: &Array) -> PyResult<bool> {
    let device = array.device();
    Ok(device.is_cpu() && !capture::is_capturing(&stream::current(device))?)
}

/// The array's values on the host: a view of a CPU array, a copy of others.
fn values<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if is_numpys(array.get().array(array.py())?)? {
        return cpu_view::view(array);
    }
    transfer::to_ndarray(array.py(), array.get().array(array.py())?)
}

/// The selected elements, by kernels; `None` where NumPy is to do it, or to refuse it.
fn gather_on_device(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if is_numpys(array)? {
        return Ok(None);
    }
    let Some(selection) = selection::plan(array, key)? else { return Ok(None) };
    match key.py().without_gil(|| copy::gather(array, &selection, &stream::current(array.device()))) {
        Err(Error::Index(_)) => Ok(None), // in NumPy's own words
        other => Ok(other?),
    }
}

/// Whether kernels have assigned the value; if not, nothing was changed.
fn scatter_on_device(array: &Array, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = key.py();
    if is_numpys(array)? {
        return Ok(false);
    }
    let Some(selection) = selection::plan(array, key)? else { return Ok(false) };
    let shape = selection.result_shape();
    py.without_gil(|| copy::check_capture(&stream::current(array.device())))?;
    // SAFETY: a type check of a live object.
    let is_number = unsafe { ffi::PyNumber_Check(value.as_ptr()) } != 0 && !value.hasattr(intern!(py, "__len__"))?;
    let own: Dims = if is_number { Dims::new() } else { shape.clone() };
    // A copy of its own: converted, repeated, and out of the way of what is written.
    let values = py.without_gil(|| Array::empty(&own, array.dtype(), Order::C, stream::current(array.device())))?;
    match assign::assign(py, &values, value) {
        Err(refused) if refused.is_instance_of::<PyValueError>(py) || refused.is_instance_of::<PyTypeError>(py) => {
            return Ok(false); // in NumPy's own words
        }
        other => other?,
    }
    let values = values.view(values.layout().broadcast_to(&shape)?)?;
    match py.without_gil(|| copy::scatter(array, &selection, &values, &stream::current(array.device()))) {
        Err(Error::Index(_)) => Ok(false),
        other => Ok(other?),
    }
}

/// The selected elements as a new array on the same device.
///
/// # Errors
/// NumPy's `IndexError`; the driver's.
pub(crate) fn gather<'py>(array: &Bound<'py, GpuArray>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let _inherited = heritage::inherit(py, std::iter::once(array.get().array(py)?))?;
    if let Some(selected) = gather_on_device(array.get().array(array.py())?, key)? {
        return new_like(array, GpuArray::from_array(selected));
    }
    let (values, key) = (values(array)?, host_key(key)?);
    let selected = strict::as_on_a_gpu(|| values.get_item(key))?;
    let selected = ndarray::numpy(py)?.getattr(intern!(py, "asarray"))?.call1((selected,))?;
    let selected = selected.cast_into::<PyUntypedArray>()?;
    let device = array.get().device();
    let dtype = dtype::from_numpy(selected.dtype().as_any())?;
    let result = new::upload_new(py, &selected, dtype, device)?;
    new_like(array, GpuArray::from_array(result))
}

/// Assigns to the selected elements.
///
/// # Errors
/// NumPy's `IndexError` and `ValueError`; the driver's.
pub(crate) fn scatter(array: &Bound<'_, GpuArray>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    if scatter_on_device(array.get().array(array.py())?, key, value)? {
        return Ok(());
    }
    let value = match crate::python::exchange::import::device_array(value)? {
        Some(value) => transfer::to_ndarray(py, &value)?.into_any(),
        None => value.clone(),
    };
    let values = values(array)?;
    let key = host_key(key)?;
    strict::as_on_a_gpu(|| values.set_item(key, value))?;
    if array.get().device().is_cpu() {
        return Ok(());
    }
    transfer::upload(py, array.get().array(array.py())?, &values)
}
