//! New arrays of a shape: `empty`, `zeros`, `ones`, `full`.

use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::foreign;
use crate::array::class::{GpuArray, new_exact, new_on};
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::shape::{self, OrderArgument};
use crate::ending;
use crate::exchange::import;
use crate::gil::WithoutGil;
use crate::host::new::{new_array, new_block, new_dense};
use crate::host::transfer;
use crate::names::names;
use crate::once::intern;
use crate::runtime::device as device_argument;
use crate::views::{assign, item};
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::{Dense, Dims, Layout, Order};

/// Which of two arguments is the order and which the allocator: NumPy's users write the order in the third place, PyCUDA's the
/// allocator.
#[inline]
pub(super) fn order_and_allocator<'a, 'py>(
    order: Option<&'a Bound<'py, PyAny>>,
    allocator: Option<&'a Bound<'py, PyAny>>,
) -> (Option<&'a Bound<'py, PyAny>>, Option<&'a Bound<'py, PyAny>>) {
    let is_text = |argument: Option<&Bound<'py, PyAny>>| argument.is_some_and(|a| a.is_instance_of::<PyString>());
    match (order, allocator) {
        (None, None) => (None, None),
        _ if is_text(allocator) => (allocator, order),
        (Some(first), _) if !is_text(order) && first.is_callable() => (allocator, order),
        _ => (order, allocator),
    }
}

/// A new array of a shape, from PyGPU's memory or a callable's.
pub(super) fn sized<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    let order = OrderArgument::c_or_f(order)?;
    let dtype = dtype::or_float64(dtype)?;
    let shape = shape::from_python(shape)?;
    let device = Device::current()?;
    match allocator {
        Some(allocator) => {
            let layout = Layout::contiguous(&shape, dtype.itemsize() as i64, order)?;
            foreign::from_callable_or_nothing(allocator, layout, dtype, device)
        }
        None => Ok(GpuArray::from_array(new_array(py, &shape, dtype, order, device)?)),
    }
}

/// A new array in memory of an allocator, or else as [`new_array`].
fn new_array_by(
    py: Python<'_>,
    allocator: Option<&Bound<'_, PyAny>>,
    shape: &[i64],
    dtype: DType,
    order: Order,
    device: Device,
) -> PyResult<Array> {
    match allocator.filter(|allocator| !allocator.is_none()) {
        Some(allocator) => {
            let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
            foreign::from_callable(allocator, layout, dtype, device)
        }
        None => new_array(py, shape, dtype, order, device),
    }
}

/// PybindGPU's form: the ndarray becomes the host side. Its values are uploaded at once: without them the array would show whatever
/// its memory held before, until `to_device`.
pub(super) fn over_ndarray(py: Python<'_>, data: &Bound<'_, PyUntypedArray>, copy: bool) -> PyResult<GpuArray> {
    let dtype = dtype::from_numpy(data.dtype().as_any())?;
    let layout = ndarray::side(data, dtype.itemsize())?.layout.dense_like();
    let array = new_dense(py, layout, dtype, Device::current()?)?;
    let mirror = if copy { data.call_method0(intern!(py, "copy"))? } else { data.clone().into_any() };
    transfer::set_on(py, &array, &mirror, &stream::current(array.device()), true)?;
    Ok(GpuArray::from_array(array).over_host(mirror.unbind()))
}

pub(crate) fn target_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    match device {
        None => Ok(Device::current()?),
        Some(_) => device_argument::from_argument(py, device),
    }
}

/// A new array whose elements are not initialised.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Anything `numpy.dtype` takes; float64 by default.
/// order : {'C', 'F'}, optional
///     How elements follow each other in memory.
/// allocator : callable or object, optional
///     Whose memory it is, as for :func:`set_allocator`; in PyCUDA's way it may also stand in the place of `order`.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
/// shared : bool, optional
///     In memory of its own that other processes can open: see :meth:`GPUArray.share`.
///
/// Returns
/// -------
/// GPUArray
///
/// Raises
/// ------
/// ValueError
///     For negative or too large shapes and for an unknown order.
/// TypeError
///     For a dtype that a device cannot hold.
/// OutOfMemoryError
///     When the device has no room, also after its pool was trimmed.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.empty((2, 3), 'float32').nbytes
/// 24
#[pyfunction]
#[pyo3(signature = (
    shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order | Any" = None, allocator: "Any" = None, *,
    device: "DeviceLike" = None, shared: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    shared: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    if shared {
        return new_shared(py, shape, dtype, (order, allocator), device);
    }
    let dtype = dtype::or_float64(dtype)?;
    let (order, allocator) = order_and_allocator(order, allocator);
    let order = OrderArgument::c_or_f(order)?;
    let mut lengths = Dims::new();
    shape::read(&mut lengths, shape)?;
    let device = target_device(py, device)?;
    if allocator.is_some() {
        let array = new_array_by(py, allocator, &lengths, dtype, order, device)?;
        return new_exact(py, GpuArray::from_array(array));
    }
    let itemsize = dtype.itemsize() as i64;
    let dense = Dense::of(&lengths, itemsize)?;
    new_on(py, Arc::new(new_block(py, dense.bytes(), device)?), dtype, |layout| {
        layout.set_dense(dense, order);
        Ok(())
    })
}

/// A new array in memory of its own that other processes can open.
#[cold]
fn new_shared<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    (order, allocator): (Option<&Bound<'py, PyAny>>, Option<&Bound<'py, PyAny>>),
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let (order, allocator) = order_and_allocator(order, allocator);
    if allocator.is_some_and(|allocator| !allocator.is_none()) {
        return Err(PyTypeError::new_err("shared=True is memory that PyGPU asks the driver for: give no allocator"));
    }
    let made = ending::run_python(py, || {
        py.import(intern!(py, "PyGPU._sharing.arrays"))?
            .call_method1(intern!(py, "new_array"), (shape, dtype, order, device))
    })?;
    Ok(made.cast_into()?)
}

fn filled<'py>(py: Python<'py>, array: Array, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let item = item::item_bytes(py, &array, value)?;
    py.without_gil(|| copy::fill(&array, &item, &stream::current(array.device())))?;
    new_exact(py, GpuArray::from_array(array))
}

/// A new array of zeros.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Anything `numpy.dtype` takes; float64 by default.
/// order : {'C', 'F'}, optional
///     How elements follow each other in memory.
/// allocator : callable or object, optional
///     Whose memory it is, as for :func:`set_allocator`; in PyCUDA's way it may also stand in the place of `order`.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
/// shared : bool, optional
///     In memory of its own that other processes can open: see :meth:`GPUArray.share`.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.zeros(3, 'int32').tolist()
/// [0, 0, 0]
#[pyfunction]
#[pyo3(signature = (
    shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order | Any" = None, allocator: "Any" = None, *,
    device: "DeviceLike" = None, shared: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn zeros<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    shared: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    if shared {
        let made = new_shared(py, shape, dtype, (order, allocator), device)?;
        let array = made.get().array(py)?;
        let item = vec![0; array.dtype().itemsize()];
        py.without_gil(|| copy::fill(array, &item, &stream::current(array.device())))?;
        return Ok(made);
    }
    let dtype = dtype::or_float64(dtype)?;
    let (order, allocator) = order_and_allocator(order, allocator);
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array_by(py, allocator, &shape, dtype, order, target_device(py, device)?)?;
    let item = vec![0; dtype.itemsize()];
    py.without_gil(|| copy::fill(&array, &item, &stream::current(array.device())))?;
    new_exact(py, GpuArray::from_array(array))
}

/// A new array of ones.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Anything `numpy.dtype` takes; float64 by default.
/// order : {'C', 'F'}, optional
///     How elements follow each other in memory.
/// allocator : callable or object, optional
///     Whose memory it is, as for :func:`set_allocator`; in PyCUDA's way it may also stand in the place of `order`.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.ones((1, 2)).tolist()
/// [[1.0, 1.0]]
#[pyfunction]
#[pyo3(signature = (
    shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order | Any" = None, allocator: "Any" = None, *,
    device: "DeviceLike" = None
) -> "GPUArray")]
pub(crate) fn ones<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let dtype = dtype::or_float64(dtype)?;
    let (order, allocator) = order_and_allocator(order, allocator);
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array_by(py, allocator, &shape, dtype, order, target_device(py, device)?)?;
    filled(py, array, &1i64.into_pyobject(py)?.into_any())
}

/// A new array filled with one value.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// fill_value : scalar or array_like
///     Converted to the dtype as NumPy does; broadcast if it is an array.
/// dtype : data-type, optional
///     That of `fill_value`, as NumPy sees it, by default.
/// order : {'C', 'F'}, optional
///     How elements follow each other in memory.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
/// shared : bool, optional
///     In memory of its own that other processes can open: see :meth:`GPUArray.share`.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.full(2, 7).tolist()
/// [7, 7]
#[pyfunction]
#[pyo3(signature = (
    shape: "ShapeLike", fill_value: "Any", dtype: "DTypeLike | None" = None, order: "Order" = None, *,
    device: "DeviceLike" = None, shared: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn full<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    fill_value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    shared: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => dtype::from_python(dtype)?,
        None => match import::device_array(fill_value)? {
            Some(array) => array.dtype(),
            None => dtype::from_numpy(ndarray::as_ndarray(fill_value, None)?.dtype().as_any())?,
        },
    };
    if shared {
        let dtype = dtype::to_python(py, dtype)?;
        let made = new_shared(py, shape, Some(&dtype), (order, None), device)?;
        assign::assign(py, made.get().array(py)?, fill_value)?;
        return Ok(made);
    }
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array(py, &shape, dtype, order, target_device(py, device)?)?;
    assign::assign(py, &array, fill_value)?;
    new_exact(py, GpuArray::from_array(array))
}

names! {
    functions "Making arrays": empty, full, ones, zeros;
}
