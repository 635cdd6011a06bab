//! Applies keys that are masks or index arrays: `a[mask]` and `a[indices]` copy the selected elements, and an
//! assignment to `a[mask]` or `a[indices]` changes them.
//!
//! For CPU arrays, NumPy works on an ndarray over the same memory. For GPU arrays, there are kernels. A mask of the
//! array's shape uses the kernels of `ops::selection`, and the assignment of a broadcast value through a mask uses a
//! masked copy. All other keys use gather and scatter kernels, for the selection that `advanced_key` builds from the
//! key. For invalid keys, and without a compiler, there is a slow fallback through the host: the array is downloaded,
//! NumPy selects or raises its error, and the result is uploaded.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::advanced_key;
use super::assign;
use super::element_encoding;
use super::key_items::{self, KeyItem};
use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::convert::argument_errors;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::strict_mode;
use crate::ffi::numbers;
use crate::gil::WithoutGil;
use crate::host_transfers::cast::{CastValues, cast_into};
use crate::host_transfers::cpu_view;
use crate::host_transfers::device_arrays;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::error::Error;
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_layout::{Dims, MemoryOrder};
use pygpu_memory::stream_captures;
use pygpu_ops::selection as mask_selection;
use pygpu_ops::ufunc::is_castable;

/// Returns a copy of an indexing key in which ndarrays replace the PyGPU arrays.
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

/// Whether NumPy can work on the array's memory directly: the array must be in host memory, and the current stream must
/// not be capturing, because a capture records only kernels.
fn uses_numpy(array: &Array) -> PyResult<bool> {
    let device = array.device();
    Ok(device.is_cpu() && !stream_captures::is_capturing(&stream::current(device))?)
}

/// Returns the array's values on the host: a view of a CPU array, or a copy of a GPU array.
fn values<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if uses_numpy(array.get().array(array.py())?)? {
        return cpu_view::view(array);
    }
    log_queue::log(LogLevel::Info, || {
        let object = array.get();
        let bytes = object.array(array.py()).map_or(0, |object| object.layout().nbytes());
        format!(
            "{}: an array of {bytes} bytes goes over the host for a selection that has no kernel here",
            object.device()
        )
    });
    transfer::to_ndarray(array.py(), array.get().array(array.py())?)
}

/// Converts the result of a kernel launch. Returns `None` after an index out of range, for which NumPy raises its own
/// error, and without a compiler; the caller then uses NumPy.
fn kernel_result<T>(result: Result<Option<T>, Error>) -> PyResult<Option<T>> {
    match result {
        Err(Error::Index(_) | Error::Unavailable(_)) => Ok(None), // an index is out of range, for which NumPy raises its own error; or no compiler exists
        other => Ok(other?),
    }
}

/// Returns the mask if it is the only item of the key and has the array's shape; otherwise `None`.
fn full_mask<'a>(array: &Array, items: &'a [KeyItem<'_>]) -> Option<&'a Array> {
    match items {
        [KeyItem::Mask(mask)] if mask.layout().ndim() > 0 && mask.layout().shape().eq(array.layout().shape()) => {
            Some(mask)
        }
        _ => None,
    }
}

/// Copies the selected elements with kernels. Returns `None` if NumPy must compute or reject the selection.
fn gather_on_device(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = key.py();
    if uses_numpy(array)? {
        return Ok(None);
    }
    let Some(items) = key_items::read(array, key)? else { return Ok(None) };
    if let Some(mask) = full_mask(array, &items) {
        let selected = py.without_gil(|| mask_selection::take(array, mask, &stream::current(array.device())));
        if let Some(selected) = kernel_result(selected)? {
            return Ok(Some(selected));
        }
    }
    let Some(selection) = advanced_key::plan(py, array, items)? else { return Ok(None) };
    kernel_result(py.without_gil(|| copy::gather(array, &selection, &stream::current(array.device()))))
}

/// Whether the value of an assignment is a single number.
fn is_number(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.ndim() == 0);
    }
    Ok(numbers::is_number(value) && !value.hasattr(intern!(py, "__len__"))?)
}

/// Assigns a value that does not vary along the mask's axes to all true elements of a mask. For such a value, the
/// kernel need not count the true elements. Returns whether the value was assigned.
fn fill_masked(array: &Array, items: &[KeyItem<'_>], value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    if !is_castable(array.dtype(), array.dtype()) {
        return Ok(false);
    }
    let stream = stream::current(array.device());
    if is_number(value)? {
        let Some((view, mask)) = advanced_key::masked_view(py, array, items)? else { return Ok(false) };
        let item = element_encoding::item_bytes(py, array, value)?;
        cast_into(py, &view, CastValues::Item(&item), Some(&mask), &stream)?;
        return Ok(true);
    }
    let Ok(array_value) = value.cast::<GpuArray>() else { return Ok(false) };
    let source = array_value.get().array(py)?;
    // The number of array axes after the mask's axes is computed only if the mask is the key's only item; otherwise it
    // is taken as 0.
    let trailing_axes = match items {
        [KeyItem::Mask(mask)] => array.layout().ndim() - mask.layout().ndim(),
        _ => 0,
    };
    let is_compatible = source.device() == array.device() && is_castable(source.dtype(), array.dtype());
    if !is_compatible || source.layout().ndim() > trailing_axes {
        return Ok(false);
    }
    let Some((view, mask)) = advanced_key::masked_view(py, array, items)? else { return Ok(false) };
    assign::assign_array(py, &view, source, Some(&mask), &stream)?;
    Ok(true)
}

/// Converts the values of an assignment to the array's dtype and device, and broadcasts them to `shape`. The result is
/// a view of `value` if dtype and device match and `value` does not overlap the array; otherwise it is a copy. Returns
/// `None` if NumPy must raise the error for invalid values.
fn device_values(array: &Array, shape: &[i64], value: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = value.py();
    if let Ok(array_value) = value.cast::<GpuArray>() {
        let source = array_value.get().array(py)?;
        let is_separate = source.device() == array.device() && !copy::may_overlap(array, source);
        if is_separate
            && source.dtype() == array.dtype()
            && source.layout().ndim() <= shape.len()
            && let Ok(repeated) = source.layout().broadcast_to(shape)
        {
            return Ok(Some(source.view(repeated)?));
        }
    }
    let value_shape: Dims = if is_number(value)? { Dims::new() } else { shape.iter().copied().collect() };
    // The values are converted to a new array, which has the target's dtype and does not overlap the target.
    let values =
        py.without_gil(|| Array::empty(&value_shape, array.dtype(), MemoryOrder::C, stream::current(array.device())))?;
    match assign::assign(py, &values, value) {
        Err(error) if error.is_instance_of::<PyValueError>(py) || error.is_instance_of::<PyTypeError>(py) => {
            return Ok(None); // NumPy raises the error
        }
        other => other?,
    }
    Ok(Some(values.view(values.layout().broadcast_to(shape)?)?))
}

/// Assigns one value to each true element of a mask that has the array's shape. Returns whether the values were
/// assigned.
fn assign_masked(array: &Array, mask: &Array, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let count = match value.cast::<GpuArray>() {
        Ok(values) if values.get().layout().ndim() == 1 => values.get().layout().size(),
        Ok(_) => return Ok(false),
        Err(_) => match value.cast::<PyUntypedArray>() {
            Ok(values) if values.ndim() == 1 => values.len() as i64,
            _ => return Ok(false),
        },
    };
    if count == 1 || copy::may_overlap(array, mask) {
        // The function's kernel supports neither a single value, which would have to be broadcast, nor a mask that
        // overlaps the array.
        return Ok(false);
    }
    let Some(values) = device_values(array, &[count], value)? else { return Ok(false) };
    let written = py.without_gil(|| mask_selection::put(array, mask, &values, &stream::current(array.device())));
    match kernel_result(written)? {
        Some(true_count) if true_count != count => Err(PyValueError::new_err(format!(
            "NumPy boolean array indexing assignment cannot assign {count} input values to the {true_count} output values where the mask is \
             true"
        ))),
        done => Ok(done.is_some()),
    }
}

/// Assigns a value to the selected elements with kernels. Returns `false`, without changing the array, if NumPy must
/// perform the assignment.
fn scatter_on_device(array: &Array, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = key.py();
    if uses_numpy(array)? {
        return Ok(false);
    }
    let Some(items) = key_items::read(array, key)? else { return Ok(false) };
    if fill_masked(array, &items, value)? {
        return Ok(true);
    }
    py.without_gil(|| copy::check_capture(&stream::current(array.device())))?;
    if let Some(mask) = full_mask(array, &items)
        && assign_masked(array, mask, value)?
    {
        return Ok(true);
    }
    let Some(selection) = advanced_key::plan(py, array, items)? else { return Ok(false) };
    let Some(values) = device_values(array, &selection.result_shape(), value)? else { return Ok(false) };
    let scattered = py.without_gil(|| copy::scatter(array, &selection, &values, &stream::current(array.device())));
    kernel_result(scattered.map(|is_done| is_done.then_some(()))).map(|done| done.is_some())
}

/// Copies the elements that a key selects to a new array on the same device.
///
/// # Errors
/// NumPy's `IndexError`; driver errors.
pub(crate) fn gather<'py>(array: &Bound<'py, GpuArray>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let _inherited = allocator_inheritance::inherit(py, std::iter::once(array.get().array(py)?))?;
    if let Some(selected) = gather_on_device(array.get().array(array.py())?, key)? {
        return new_like(array, GpuArray::from_array(selected));
    }
    let values = values(array)?;
    let selected = strict_mode::without_host_arrays(|| values.get_item(host_key(key)?))
        .map_err(|error| argument_errors::index(key, &error))?;
    let selected = ndarray::numpy(py)?.getattr(intern!(py, "asarray"))?.call1((selected,))?;
    let selected = selected.cast_into::<PyUntypedArray>()?;
    let device = array.get().device();
    let dtype = dtype::from_numpy(selected.dtype().as_any())?;
    let result = device_arrays::upload_new(py, &selected, dtype, device)?;
    new_like(array, GpuArray::from_array(result))
}

/// Assigns a value to the elements that a key selects.
///
/// # Errors
/// NumPy's `IndexError` and `ValueError`; driver errors.
pub(crate) fn scatter(array: &Bound<'_, GpuArray>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    if scatter_on_device(array.get().array(array.py())?, key, value)? {
        return Ok(());
    }
    let value = match crate::interop::import::device_array(value)? {
        Some(value) => transfer::to_ndarray(py, &value)?.into_any(),
        None => value.clone(),
    };
    let values = values(array)?;
    strict_mode::without_host_arrays(|| values.set_item(host_key(key)?, value))
        .map_err(|error| argument_errors::index(key, &error))?;
    if array.get().device().is_cpu() {
        return Ok(());
    }
    transfer::upload(py, array.get().array(array.py())?, &values)
}
