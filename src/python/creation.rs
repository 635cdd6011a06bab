//! New arrays of a shape: `GPUArray(...)`, `empty`, `zeros`, `ones`, `full`.

use std::sync::Arc;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::array::{GpuArray, new_exact, new_of_class, new_on};
use super::gil::WithoutGil;
use super::shape::{self, OrderArgument};
use super::{assign, device as device_argument, dtype, foreign, host};
use crate::array::Array;
use crate::copy;
use crate::device::Device;
use crate::dtype::DType;
use crate::layout::{Dims, Layout, Order};
use crate::memory::Allocation;
use crate::stream::{self, Stream};

/// A new array in the order of the thread's current stream. Host memory is had without leaving the GIL: it reaches no
/// driver, and leaving costs more than it.
#[inline]
pub(super) fn new_array(py: Python<'_>, shape: &[i64], dtype: DType, order: Order, device: Device) -> PyResult<Array> {
    if device.is_cpu() {
        return Ok(Array::empty(shape, dtype, order, Stream::default_of(device))?);
    }
    Ok(py.without_gil(|| Array::empty(shape, dtype, order, stream::current(device)))?)
}

pub(super) fn new_dense(py: Python<'_>, layout: Layout, dtype: DType, device: Device) -> PyResult<Array> {
    Ok(py.without_gil(|| Array::on_new_memory(layout, dtype, stream::current(device)))?)
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

pub(super) fn target_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
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
        py.without_gil(|| Allocation::new(bytes, stream::current(device)))?
    };
    new_on(py, Arc::new(allocation), dtype, |layout| Ok(layout.set_contiguous(&lengths, itemsize, order)?))
}

fn filled<'py>(py: Python<'py>, array: Array, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, GpuArray>> {
    let item = assign::item_bytes(py, &array, value)?;
    py.without_gil(|| copy::fill(&array, &item, &stream::current(array.device())))?;
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
