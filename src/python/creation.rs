//! New arrays: `GPUArray(...)`, `empty`, `zeros`, `full`, `arange`, `to_gpu` and their kin.

use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::array::{GpuArray, new_exact, new_like, new_of_class, new_on};
use super::shape::{self, OrderArgument};
use super::{assign, device as device_argument, dtype, foreign, host, stream as stream_argument, transfer};
use crate::array::Array;
use crate::copy;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::layout::{Dims, Layout, Order};
use crate::memory::{Allocation, pending};
use crate::stream::{self, Stream};

/// A new array in the order of the thread's current stream. Host memory is had without leaving the GIL: it reaches no
/// driver, and leaving costs more than it.
#[inline]
pub(super) fn new_array(py: Python<'_>, shape: &[i64], dtype: DType, order: Order, device: Device) -> PyResult<Array> {
    if device.is_cpu() {
        return Ok(Array::empty(shape, dtype, order, Stream::default_of(device))?);
    }
    Ok(py.detach(|| Array::empty(shape, dtype, order, stream::current(device)))?)
}

fn new_dense(py: Python<'_>, layout: Layout, dtype: DType, device: Device) -> PyResult<Array> {
    Ok(py.detach(|| Array::on_new_memory(layout, dtype, stream::current(device)))?)
}

/// A new array with the values of an ndarray of that dtype, its axes in the same order in memory.
///
/// # Errors
/// `OutOfMemoryError`; the driver's.
pub(super) fn upload_new(
    py: Python<'_>,
    source: &Bound<'_, PyUntypedArray>,
    dtype: DType,
    device: Device,
) -> PyResult<Array> {
    let side = host::side(source, dtype.itemsize())?;
    let array = new_dense(py, side.layout.dense_like(), dtype, device)?;
    transfer::upload(py, &array, source)?;
    Ok(array)
}

fn upload_new_async(
    py: Python<'_>,
    source: Bound<'_, PyUntypedArray>,
    dtype: DType,
    stream: &Stream,
) -> PyResult<Array> {
    let side = host::side(&source, dtype.itemsize())?;
    let keeper = source.into_any().unbind();
    let array: Result<Array> = py.detach(|| {
        let array = Array::on_new_memory(side.layout.dense_like(), dtype, stream.clone())?;
        // SAFETY: the ndarray is held by `keeper` until the stream has passed.
        unsafe { copy::to_device(&array, &side, stream)? };
        if !stream.device().is_cpu() {
            pending::keep_until_passed(stream, Box::new(keeper))?;
        }
        Ok(array)
    });
    Ok(array?)
}

#[pymethods]
impl GpuArray {
    #[new]
    #[pyo3(signature = (shape=None, dtype=None, allocator=None, base=None, gpudata=None, strides=None, order=None, *,
                        copy=None))]
    #[allow(clippy::too_many_arguments)]
    #[classmethod]
    fn __new__<'py>(
        class: &Bound<'py, PyType>,
        shape: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        allocator: Option<&Bound<'py, PyAny>>,
        base: Option<&Bound<'py, PyAny>>,
        gpudata: Option<&Bound<'py, PyAny>>,
        strides: Option<&Bound<'py, PyAny>>,
        order: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = class.py();
        let given = |argument: Option<&Bound<'py, PyAny>>| argument.filter(|argument| !argument.is_none()).cloned();
        let (dtype, allocator, base) = (given(dtype), given(allocator), given(base));
        // PyCUDA's third positional argument is an allocator, and `order` is what NumPy's users write there.
        let (allocator, order) = match allocator {
            Some(text) if text.is_instance_of::<pyo3::types::PyString>() => (None, Some(text)),
            other => (other, given(order)),
        };
        let value = match (given(shape), given(gpudata)) {
            (None, None) => match allocator {
                Some(allocator) => foreign::from_allocator(py, &allocator, dtype.is_some(), order.as_ref())?,
                None => return Err(PyTypeError::new_err("GPUArray() takes a shape, an ndarray or an allocator")),
            },
            (None, Some(_)) => return Err(PyTypeError::new_err("GPUArray(gpudata=...) needs a shape")),
            (Some(shape), Some(gpudata)) => {
                let layout = given(strides);
                foreign::from_address(py, &shape, dtype.as_ref(), &gpudata, layout.as_ref(), order.as_ref(), base)?
            }
            (Some(shape), None) => {
                if given(strides).is_some() {
                    return Err(PyTypeError::new_err("GPUArray(strides=...) needs gpudata: new memory has no gaps"));
                }
                match shape.cast::<PyUntypedArray>() {
                    Ok(data) if dtype.is_none() => over_ndarray(py, data, copy.unwrap_or(false))?,
                    _ => sized(py, &shape, dtype.as_ref(), allocator.as_ref(), order.as_ref())?,
                }
            }
        };
        new_of_class(class, value)
    }

    /// Accepts whatever `__new__` was given, so that a subclass may call `super().__init__` with it.
    #[pyo3(signature = (*args, **kwargs))]
    fn __init__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) {
        let _ = (args, kwargs);
    }
}

/// A new array of a shape, from PyGPU's memory or a callable's.
fn sized<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    let order = OrderArgument::c_or_f(order)?;
    let dtype = dtype::or_float64(dtype)?;
    let shape = shape::from_python(shape)?;
    match allocator {
        Some(allocator) => foreign::from_callable(py, allocator, &shape, dtype, order),
        None => Ok(GpuArray::from_array(new_array(py, &shape, dtype, order, Device::current()?)?)),
    }
}

/// PybindGPU's form: the ndarray becomes the host side, and nothing is uploaded.
fn over_ndarray(py: Python<'_>, data: &Bound<'_, PyUntypedArray>, copy: bool) -> PyResult<GpuArray> {
    let dtype = dtype::from_numpy(data.dtype().as_any())?;
    let layout = host::side(data, dtype.itemsize())?.layout.dense_like();
    let array = new_dense(py, layout, dtype, Device::current()?)?;
    let mirror = if copy { data.call_method0(intern!(py, "copy"))? } else { data.clone().into_any() };
    Ok(GpuArray::with_host(array, mirror.unbind()))
}

fn target_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
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
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
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
#[pyo3(signature = (shape, dtype=None, order=None, *, device=None))]
pub(super) fn empty<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let dtype = dtype::or_float64(dtype)?;
    let order = OrderArgument::c_or_f(order)?;
    let mut lengths = Dims::new();
    shape::read(&mut lengths, shape)?;
    let device = target_device(py, device)?;
    let itemsize = dtype.itemsize() as i64;
    let bytes = Layout::bytes_of(&lengths, itemsize)? as usize;
    let allocation = if device.is_cpu() {
        Allocation::new(bytes, Stream::default_of(device))?
    } else {
        py.detach(|| Allocation::new(bytes, stream::current(device)))?
    };
    new_on(py, Arc::new(allocation), dtype, |layout| Ok(layout.set_contiguous(&lengths, itemsize, order)?))
}

fn filled<'py>(py: Python<'py>, array: Array, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let item = assign::item_bytes(py, &array, value)?;
    py.detach(|| copy::fill(&array, &item, &stream::current(array.device())))?;
    new_exact(py, GpuArray::from_array(array))
}

fn new_filled<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: DType,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, GpuArray>> {
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array(py, &shape, dtype, order, target_device(py, device)?)?;
    filled(py, array, value)
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
/// >>> PyGPU.zeros(3, 'int32').tolist()
/// [0, 0, 0]
#[pyfunction]
#[pyo3(signature = (shape, dtype=None, order=None, *, device=None))]
pub(super) fn zeros<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let dtype = dtype::or_float64(dtype)?;
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array(py, &shape, dtype, order, target_device(py, device)?)?;
    let item = vec![0; dtype.itemsize()];
    py.detach(|| copy::fill(&array, &item, &stream::current(array.device())))?;
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
#[pyo3(signature = (shape, dtype=None, order=None, *, device=None))]
pub(super) fn ones<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let one = 1i64.into_pyobject(py)?.into_any();
    new_filled(py, shape, dtype::or_float64(dtype)?, order, device, &one)
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
#[pyo3(signature = (shape, fill_value, dtype=None, order=None, *, device=None))]
pub(super) fn full<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    fill_value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => dtype::from_python(dtype)?,
        None => match fill_value.cast::<GpuArray>() {
            Ok(array) => array.get().array().dtype(),
            Err(_) => dtype::from_numpy(host::as_ndarray(fill_value, None)?.dtype().as_any())?,
        },
    };
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array(py, &shape, dtype, order, target_device(py, device)?)?;
    assign::assign(py, &array, fill_value)?;
    new_exact(py, GpuArray::from_array(array))
}

/// What `*_like` functions need to know of the other array.
struct Like<'py> {
    class_of: Option<Bound<'py, GpuArray>>,
    layout: Layout,
    dtype: DType,
    device: Device,
}

/// The layout and dtype of a new array that follows another: a `GPUArray`, or anything NumPy makes an array of.
fn like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Like<'py>> {
    let (class_of, source, own_dtype, own_device) = match other.cast::<GpuArray>() {
        Ok(array) => {
            let inner = array.get().array();
            (Some(array.clone()), inner.layout().clone(), inner.dtype(), inner.device())
        }
        Err(_) => {
            let array = host::as_ndarray(other, None)?;
            let dtype = dtype::from_numpy(array.dtype().as_any())?;
            (None, host::side(&array, dtype.itemsize())?.layout, dtype, Device::current()?)
        }
    };
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => dtype::from_python(dtype)?,
        None => own_dtype,
    };
    let device = match device.filter(|device| !device.is_none()) {
        Some(_) => device_argument::from_argument(py, device)?,
        None => own_device,
    };
    let order = match order.filter(|order| !order.is_none()) {
        Some(order) => OrderArgument::from_python(order)?,
        None => OrderArgument::K,
    };
    let layout = like_layout(&source, dtype.itemsize() as i64, order, shape)?;
    Ok(Like { class_of, layout, dtype, device })
}

fn like_layout(
    source: &Layout,
    itemsize: i64,
    order: OrderArgument,
    shape: Option<&Bound<'_, PyAny>>,
) -> PyResult<Layout> {
    let own: Dims = source.shape().collect();
    let shape = match shape.filter(|shape| !shape.is_none()) {
        Some(shape) => shape::from_python(shape)?,
        None => own.clone(),
    };
    let fortran = source.is_f_contiguous() && !source.is_c_contiguous();
    let contiguous = |order| Layout::contiguous(&shape, itemsize, order);
    Ok(match order {
        OrderArgument::C => contiguous(Order::C)?,
        OrderArgument::F => contiguous(Order::F)?,
        OrderArgument::A | OrderArgument::K if fortran => contiguous(Order::F)?,
        OrderArgument::A => contiguous(Order::C)?,
        OrderArgument::K if shape != own => contiguous(Order::C)?,
        OrderArgument::K => source.dense_like().with_itemsize(itemsize)?,
    })
}

fn new_from_like<'py>(py: Python<'py>, like: Like<'py>) -> PyResult<Bound<'py, GpuArray>> {
    let array = new_dense(py, like.layout, like.dtype, like.device)?;
    match &like.class_of {
        Some(other) => new_like(other, GpuArray::from_array(array)),
        None => new_exact(py, GpuArray::from_array(array)),
    }
}

fn new_filled_like<'py>(py: Python<'py>, like: Like<'py>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let made = new_from_like(py, like)?;
    assign::assign(py, made.get().array(), value)?;
    Ok(made)
}

/// A new uninitialised array with the shape, dtype, device and order of another.
///
/// Parameters
/// ----------
/// other : GPUArray or array_like
/// dtype : data-type, optional
///     Another dtype.
/// order : {'C', 'F', 'A', 'K'}, optional
///     'K', the default, keeps the order of the axes in memory.
/// shape : int or sequence of int, optional
///     Another shape.
/// device : Device, str or int, optional
///     Another device.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.empty_like(PyGPU.empty((2, 3), order='F')).strides
/// (8, 16)
#[pyfunction]
#[pyo3(signature = (other, dtype=None, order=None, *, shape=None, device=None))]
pub(super) fn empty_like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    new_from_like(py, like(py, other, dtype, order, shape, device)?)
}

/// A new array of zeros with the shape, dtype, device and order of another; parameters as in `empty_like`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.zeros_like(PyGPU.arange(3)).tolist()
/// [0, 0, 0]
#[pyfunction]
#[pyo3(signature = (other, dtype=None, order=None, *, shape=None, device=None))]
pub(super) fn zeros_like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let made = new_from_like(py, like(py, other, dtype, order, shape, device)?)?;
    let array = made.get().array();
    let item = vec![0; array.dtype().itemsize()];
    py.detach(|| copy::fill(array, &item, &stream::current(array.device())))?;
    Ok(made)
}

/// A new array of ones with the shape, dtype, device and order of another; parameters as in `empty_like`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.ones_like(PyGPU.arange(3)).tolist()
/// [1, 1, 1]
#[pyfunction]
#[pyo3(signature = (other, dtype=None, order=None, *, shape=None, device=None))]
pub(super) fn ones_like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let one = 1i64.into_pyobject(py)?.into_any();
    new_filled_like(py, like(py, other, dtype, order, shape, device)?, &one)
}

/// A new array filled with one value, with the shape, dtype, device and order of another.
///
/// Parameters
/// ----------
/// other : GPUArray or array_like
/// fill_value : scalar or array_like
///     Converted to the dtype as NumPy does.
/// dtype, order, shape, device : optional
///     As in `empty_like`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.full_like(PyGPU.arange(3), 9).tolist()
/// [9, 9, 9]
#[pyfunction]
#[pyo3(signature = (other, fill_value, dtype=None, order=None, *, shape=None, device=None))]
#[allow(clippy::too_many_arguments)]
pub(super) fn full_like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    fill_value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    new_filled_like(py, like(py, other, dtype, order, shape, device)?, fill_value)
}

/// Evenly spaced values, computed by NumPy and uploaded.
///
/// Parameters
/// ----------
/// start, stop, step : number
///     As in `numpy.arange`.
/// dtype : data-type, optional
///     NumPy's choice by default. PyCUDA's form, a `numpy.dtype` as the last positional argument, works too.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
/// stream : Stream, optional
///     The order in which to upload.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.arange(2, 8, 3).tolist()
/// [2, 5]
#[pyfunction]
#[pyo3(signature = (*args, device=None, stream=None, **kwargs))]
pub(super) fn arange<'py>(
    py: Python<'py>,
    args: &Bound<'py, PyTuple>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    let keywords = PyDict::new(py);
    if let Some(kwargs) = kwargs {
        keywords.update(kwargs.as_mapping())?;
    }
    let mut positional = args.clone();
    if let Some(last) = args.iter().last()
        && (last.is_instance_of::<PyType>() || last.hasattr("newbyteorder")?)
        && !keywords.contains("dtype")?
        && !super::attributes::is_scalar(&last)
    {
        keywords.set_item("dtype", last)?;
        positional = args.get_slice(0, args.len() - 1);
    }
    if let Some(wanted) = keywords.get_item("dtype")?
        && !wanted.is_none()
    {
        keywords.set_item("dtype", dtype::to_python(py, dtype::from_python(&wanted)?)?)?;
    }
    let values = host::numpy(py)?.getattr("arange")?.call(positional, Some(&keywords))?;
    let values = values.cast_into::<PyUntypedArray>()?;
    let dtype = dtype::from_numpy(values.dtype().as_any())?;
    new_exact(py, GpuArray::from_array(upload_new_async(py, values, dtype, &stream)?))
}

/// An array with the values of host data, on the device.
///
/// Parameters
/// ----------
/// ary : array_like
///     An ndarray of any strides, or anything NumPy makes one of.
/// allocator : callable, optional
///     Takes a number of bytes and returns something with an address (PyCUDA's way).
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
/// stream : Stream, optional
///     The order in which to copy; the thread's current stream by default.
///
/// Returns
/// -------
/// GPUArray
///     A copy; its axes have the order in memory that those of `ary` have.
///
/// Raises
/// ------
/// TypeError
///     For a dtype that a device cannot hold, and for the other byte order.
/// OutOfMemoryError
///     When the device has no room.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU as gpuarray
/// >>> gpuarray.to_gpu(np.array([1, 2, 3])).get()
/// array([1, 2, 3])
#[pyfunction]
#[pyo3(signature = (ary, allocator=None, *, device=None, stream=None))]
pub(super) fn to_gpu<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    let made = to_gpu_on(py, ary, allocator, &stream)?;
    if !device.is_cpu() {
        py.detach(|| stream.synchronize())?;
    }
    Ok(made)
}

/// `to_gpu` that does not wait: the values are there once `stream` has passed.
///
/// Parameters
/// ----------
/// ary : array_like
///     A pinned ndarray must stay unchanged until the stream has passed; others may be changed at once.
/// allocator : callable, optional
///     As in `to_gpu`.
/// stream : Stream, optional
///     The order in which to copy; the thread's current stream by default.
/// device : Device, str or int, optional
///     Where; the thread's current device by default.
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> stream = PyGPU.Stream()
/// >>> a = PyGPU.to_gpu_async(np.arange(3), stream=stream)
/// >>> stream.synchronize()
/// >>> a.tolist()
/// [0, 1, 2]
#[pyfunction]
#[pyo3(signature = (ary, allocator=None, stream=None, *, device=None))]
pub(super) fn to_gpu_async<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    to_gpu_on(py, ary, allocator, &stream)
}

fn to_gpu_on<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
) -> PyResult<Bound<'py, GpuArray>> {
    if let Ok(own) = ary.cast::<GpuArray>() {
        let copied = transfer::device_copy_like(py, own.get().array())?;
        if copied.device() != stream.device() {
            return Err(PyValueError::new_err(format!(
                "to_gpu: the array is on {} already; use asarray(a, device='{}') to copy between devices",
                copied.device(),
                stream.device()
            )));
        }
        return new_like(own, GpuArray::from_array(copied));
    }
    let source = host::as_ndarray(ary, None)?;
    let dtype = dtype::from_numpy(source.dtype().as_any())?;
    let Some(allocator) = allocator.filter(|allocator| !allocator.is_none()) else {
        return new_exact(py, GpuArray::from_array(upload_new_async(py, source, dtype, stream)?));
    };
    let shape: Dims = source.shape().iter().map(|&len| len as i64).collect();
    let made = foreign::from_callable(py, allocator, &shape, dtype, Order::C)?;
    transfer::upload(py, made.array(), &source)?;
    new_exact(py, made)
}
