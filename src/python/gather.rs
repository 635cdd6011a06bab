//! `a[mask]`, `a[indices]`: copies of the selected elements, and their assignment.
//!
//! On CPU arrays NumPy does it on a zero-copy view. On a device it takes the detour over the host until run-time compiled
//! kernels replace this file: the array comes down, NumPy selects, the result goes up. It is right, and slow.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use super::array::{GpuArray, new_like};
use super::{dtype, host, transfer, upload};

/// Whether an index item is NumPy's boolean, which has an `__index__` that NumPy does not mean.
pub(super) fn is_numpy_array_or_bool(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    static BOOL: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = item.py();
    let class = BOOL.get_or_try_init(py, || host::numpy(py)?.getattr("bool_").map(Bound::unbind))?;
    item.is_instance(class.bind(py))
}

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

/// The array's values on the host: a view of a CPU array, a copy of others.
fn values<'py>(array: &Bound<'py, GpuArray>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if array.get().array().device().is_cpu() {
        return host::view(array);
    }
    transfer::to_ndarray(array.py(), array.get().array())
}

/// The selected elements as a new array on the same device.
///
/// # Errors
/// NumPy's `IndexError`; the driver's.
pub(super) fn gather<'py>(array: &Bound<'py, GpuArray>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let py = array.py();
    let selected = values(array)?.get_item(host_key(key)?)?;
    let selected = host::numpy(py)?.getattr(intern!(py, "asarray"))?.call1((selected,))?;
    let selected = selected.cast_into::<PyUntypedArray>()?;
    let device = array.get().array().device();
    let dtype = dtype::from_numpy(selected.dtype().as_any())?;
    let result = upload::upload_new(py, &selected, dtype, device)?;
    new_like(array, GpuArray::from_array(result))
}

/// Assigns to the selected elements.
///
/// # Errors
/// NumPy's `IndexError` and `ValueError`; the driver's.
pub(super) fn scatter(array: &Bound<'_, GpuArray>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let value = match super::import::device_array(value)? {
        Some(value) => transfer::to_ndarray(py, &value)?.into_any(),
        None => value.clone(),
    };
    let values = values(array)?;
    values.set_item(host_key(key)?, value)?;
    if array.get().array().device().is_cpu() {
        return Ok(());
    }
    transfer::upload(py, array.get().array(), &values)
}
