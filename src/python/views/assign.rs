//! Assigns a value to a view, as in `a[view] = value`. The value is a scalar, a host array or a device array; it is
//! broadcast, converted to the view's dtype, and may overlap the view.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::element_encoding;
use crate::array::class::GpuArray;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::strict_mode;
use crate::ffi::numbers::is_number;
use crate::fusion::record_node::{defer_into, is_pending};
use crate::gil::WithoutGil;
use crate::host_transfers::cast::{self, CastValues, cast_into};
use crate::host_transfers::copies;
use crate::host_transfers::transfer;
use crate::interop::import;
use crate::py_once::intern;
use pygpu_array::{Array, DeferredArray};
use pygpu_copy as copy;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{Dims, Layout};
use pygpu_ops::fusion::{DeferredOp, Operands};
use pygpu_ops::ufunc::as_it_is;

/// Assigns a value to all elements of `target`.
///
/// # Errors
/// `ValueError` if the value cannot be broadcast; NumPy's error if the value cannot be converted; driver errors.
pub(crate) fn assign(py: Python<'_>, target: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Some(item) = element_encoding::python_number_bytes(target.dtype().kind(), value) {
        return Ok(py.without_gil(|| copy::fill(target, &item, &stream::current(target.device())))?);
    }
    match import::device_array(value)? {
        Some(source) => assign_array(py, target, &source, None, &stream::current(target.device())),
        None => assign_host(py, target, value),
    }
}

/// Defers the assignment of a pending array with the target's shape. Returns whether the assignment was deferred.
///
/// # Errors
/// Driver errors of pending operations.
pub(super) fn try_defer(target: &DeferredArray, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !pygpu_base::flush_points::has_pending() {
        return Ok(false);
    }
    let Ok(value) = value.cast_exact::<GpuArray>() else { return Ok(false) };
    let source = value.get().without_flush()?;
    let has_same_shape = source.device() == target.device() && source.layout().shape().eq(target.layout().shape());
    if !has_same_shape || !is_pending(source) || !cast::is_silent(source.dtype(), target.dtype()) {
        return Ok(false);
    }
    let work = DeferredOp::Loop(as_it_is(), source.dtype().kind());
    defer_into(work, Operands::of(source), target)
}

/// Assigns an array of any device and dtype to all elements of `target`, or, if there is a mask, only to the elements
/// for which it is true. The mask must be on the target's device.
///
/// # Errors
/// The errors of [`assign`].
pub(super) fn assign_array(
    py: Python<'_>,
    target: &Array,
    source: &Array,
    mask: Option<&Array>,
    stream: &Stream,
) -> PyResult<()> {
    let layout = broadcast(source.layout(), target.layout())?;
    if source.device() == target.device() {
        return cast_into(py, target, CastValues::Array(&source.view(layout)?), mask, stream);
    }
    // The elements are converted to the target's dtype on the source's device, before they are transferred to the
    // target's device.
    let converted = match source.dtype() == target.dtype() {
        true => source.clone(),
        false => cast::cast_like(py, source, target.dtype())?,
    };
    if mask.is_none() && converted.layout().shape().eq(target.layout().shape()) {
        return Ok(py.without_gil(|| copy::between(target, &converted, stream))?);
    }
    let on_target = copies::copy_to(py, &converted, target.device(), converted.layout().dense_like())?;
    let on_target = on_target.view(broadcast(on_target.layout(), target.layout())?)?;
    cast_into(py, target, CastValues::Array(&on_target), mask, stream)
}

fn assign_host(py: Python<'_>, target: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let source = to_target_dtype(py, target, value)?;
    let buffer = ndarray::host_buffer(&source, target.dtype().itemsize())?;
    if buffer.layout.ndim() == 0 {
        let item = element_encoding::scalar_bytes(&source, target.dtype().itemsize());
        py.without_gil(|| copy::fill(target, &item, &stream::current(target.device())))?;
        return Ok(());
    }
    let layout = broadcast(&buffer.layout, target.layout())?;
    if layout != buffer.layout {
        // The array is uploaded in its own shape and broadcast on the device, because the broadcast array has more
        // elements to upload.
        let shape: Dims = buffer.layout.shape().collect();
        let uploaded =
            Array::empty(&shape, target.dtype(), pygpu_layout::MemoryOrder::C, stream::current(target.device()))?;
        transfer::upload(py, &uploaded, &source)?;
        let uploaded = uploaded.view(broadcast(uploaded.layout(), target.layout())?)?;
        py.without_gil(|| copy::between(target, &uploaded, &stream::current(target.device())))?;
        return Ok(());
    }
    transfer::upload(py, target, &source)
}

/// Converts a value to an ndarray of the target's dtype, by NumPy's rules for assignment.
fn to_target_dtype<'py>(
    py: Python<'py>,
    target: &Array,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let numpy_dtype = dtype::to_python(py, target.dtype())?;
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && dtype::from_numpy(array.dtype().as_any()).is_ok_and(|dtype| dtype == target.dtype())
    {
        return Ok(array.clone());
    }
    let numpy = ndarray::numpy(py)?;
    let is_number = is_number(value) && !value.hasattr(intern!(py, "__len__"))?;
    let shape = if is_number {
        ().into_pyobject(py)?.into_any()
    } else if target.dtype().kind() == pygpu_base::dtype::ScalarType::Opaque
        && !value.is_instance_of::<PyUntypedArray>()
    {
        // NumPy converts values for a structured dtype, where a tuple is one item and a list is a sequence of items.
        return ndarray::as_ndarray(value, Some(target.dtype()));
    } else {
        let values = ndarray::as_ndarray(value, None)?;
        check_depth(value, &values, target)?;
        // The shapes are checked before the conversion, because the conversion must not issue warnings if the
        // assignment fails.
        broadcast(&ndarray::host_buffer(&values, values.dtype().itemsize())?.layout, target.layout())?;
        values.getattr(intern!(py, "shape"))?
    };
    let result = numpy.getattr(intern!(py, "empty"))?.call1((shape, numpy_dtype))?;
    // NumPy's item assignment converts the values instead of `astype`, because `astype` accepts values out of range,
    // such as 300 for uint8.
    strict_mode::without_host_arrays(|| result.set_item(pyo3::types::PyEllipsis::get(py), value))?;
    Ok(result.cast_into::<PyUntypedArray>()?)
}

/// Rejects lists with more nesting levels than the target has axes, as NumPy does. Arrays are not rejected, because
/// they may have additional leading axes of length 1.
fn check_depth(value: &Bound<'_, PyAny>, values: &Bound<'_, PyUntypedArray>, target: &Array) -> PyResult<()> {
    let is_nested = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    let rank = target.layout().ndim();
    if is_nested && values.ndim() > rank {
        return Err(PyValueError::new_err(format!(
            "setting an array element with a sequence: the value is nested {} deep, the target has {rank} axes",
            values.ndim()
        )));
    }
    Ok(())
}

/// Broadcasts the source's layout to the target's shape. Drops leading axes of length 1 that the target lacks, as NumPy
/// does.
pub(super) fn broadcast(source: &Layout, target: &Layout) -> PyResult<Layout> {
    let shape: Dims = target.shape().collect();
    let surplus = source.ndim().saturating_sub(shape.len());
    let leading: Vec<i64> = (0..surplus as i64).collect();
    let trimmed = if surplus > 0 { source.squeeze(Some(&leading)) } else { Ok(source.clone()) };
    trimmed.and_then(|trimmed| trimmed.broadcast_to(&shape)).map_err(|_| {
        PyValueError::new_err(format!(
            "could not broadcast input array from shape {} into shape {}",
            tuple(source),
            tuple(target)
        ))
    })
}

fn tuple(layout: &Layout) -> String {
    let items: Vec<String> = layout.shape().map(|len| len.to_string()).collect();
    if items.len() == 1 { format!("({},)", items[0]) } else { format!("({})", items.join(",")) }
}
