//! Transfers values between host and device: `get`, `set`, and the copies of the host mirror.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::class::{GpuArray, new_like};
use crate::convert::argument_errors;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::shape::OrderArgument;
use crate::gil::WithoutGil;
use crate::host_transfers::copies::{copy_to, dense_in};
use crate::host_transfers::host_operand::HostOperand;
use crate::host_transfers::result_arrays;
use crate::py_once::intern;
use crate::runtime::{device as device_argument, stream as stream_argument};
use pygpu_array::Array;
use pygpu_copy::{self as copy, HostBuffer, ring_transfer};
use pygpu_device::stream::{self, Stream};
use pygpu_layout::{MemoryOrder, tuple_text};

/// Uploads an ndarray with the array's dtype and shape, and waits until the copy no longer needs the ndarray's memory.
///
/// # Errors
/// Driver errors.
pub(crate) fn upload(py: Python<'_>, target: &Array, source: &Bound<'_, PyUntypedArray>) -> PyResult<()> {
    let buffer = ndarray::host_buffer(source, target.dtype().itemsize())?;
    py.without_gil(|| {
        let stream = stream::current(target.device());
        // SAFETY: the caller keeps the ndarray alive during the call, and the call waits for the copy.
        unsafe { copy::to_device_and_wait(target, &buffer, &stream) }
    })?;
    Ok(())
}

/// Downloads an array into an ndarray that has the array's dtype and shape.
///
/// # Errors
/// Driver errors.
pub(crate) fn download(py: Python<'_>, target: &Bound<'_, PyUntypedArray>, source: &Array) -> PyResult<()> {
    let buffer = ndarray::host_buffer(target, source.dtype().itemsize())?;
    py.without_gil(|| {
        let stream = stream::current(source.device());
        // SAFETY: the caller keeps the ndarray alive during the call, and the call waits for the copy.
        unsafe { copy::to_host_and_wait(&buffer, source, &stream) }
    })?;
    Ok(())
}

/// Downloads an array to a new ndarray, which keeps the memory order of axes.
///
/// # Errors
/// Driver errors; `MemoryError`.
pub(crate) fn to_ndarray<'py>(py: Python<'py>, source: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    let target = result_arrays::empty_like(py, source.layout(), source.dtype())?;
    download(py, &target, source)?;
    Ok(target)
}

/// Copies an array to new memory on its device, in C or F order.
///
/// # Errors
/// `OutOfMemoryError`; driver errors.
pub(crate) fn device_copy(py: Python<'_>, source: &Array, order: MemoryOrder) -> PyResult<Array> {
    copy_to(py, source, source.device(), dense_in(source, order)?)
}

/// Copies an array to new memory on its device, and keeps the memory order of its axes.
///
/// # Errors
/// `OutOfMemoryError`; driver errors.
pub(crate) fn device_copy_like(py: Python<'_>, source: &Array) -> PyResult<Array> {
    copy_to(py, source, source.device(), source.layout().dense_like())
}

/// Returns the target of `get`, and whether the target is the cached ndarray. The cached ndarray is used if no other
/// code refers to it; otherwise a new ndarray is created.
fn get_target<'py>(slf: &Bound<'py, GpuArray>) -> PyResult<(Bound<'py, PyUntypedArray>, bool)> {
    let (py, source) = (slf.py(), slf.get().array(slf.py())?);
    if let Some(last) = slf.get().last_result(py)
        && let Ok(array) = last.cast_exact::<PyUntypedArray>()
        // PyGPU itself holds two references to the cached ndarray: one in the cache and one in the variable `last`.
        && ndarray::is_unshared(array, 2)
        && has_result_layout(array, source)?
    {
        return Ok((array.clone(), true));
    }
    Ok((result_arrays::empty_like(py, source.layout(), source.dtype())?, false))
}

/// Returns the target of an asynchronous `get`. The target is pinned memory, because a copy to other memory is
/// synchronous. If the array is larger than `pinned_limit`, or if the system cannot pin more memory, the target is the
/// same as for `get`.
fn async_get_target<'py>(slf: &Bound<'py, GpuArray>) -> PyResult<(Bound<'py, PyUntypedArray>, bool)> {
    let source = slf.get().array(slf.py())?;
    if source.layout().nbytes() as u64 <= ring_transfer::limit()? as u64
        && let Ok(pinned) = crate::host_transfers::pinned::empty_like_array(slf.py(), source)
    {
        return Ok((pinned, false));
    }
    get_target(slf)
}

/// Returns whether a cached ndarray has the dtype, shape and strides that a new result of `get` would have.
fn has_result_layout(array: &Bound<'_, PyUntypedArray>, source: &Array) -> PyResult<bool> {
    let same_dtype = dtype::from_numpy(array.dtype().as_any())? == source.dtype();
    let dense = source.layout().dense_like();
    let same_shape = array.shape().iter().map(|&len| len as i64).eq(dense.shape());
    Ok(same_dtype && same_shape && array.strides().iter().map(|&stride| stride as i64).eq(dense.strides()))
}

#[cold]
fn invalid_get_target(source: &Array, ary: &Bound<'_, PyAny>) -> PyErr {
    let (shape, name) = (tuple_text(source.layout().shape()), source.dtype().name());
    PyTypeError::new_err(format!(
        "get(): out= is {}; expected a numpy.ndarray of shape {shape} and dtype {name}; write out=numpy.empty({shape}, '{name}')",
        argument_errors::describe(ary)
    ))
}

/// Checks that the caller's ndarray can receive the values of the array.
fn check_get_target<'py>(source: &Array, ary: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = ary.cast::<PyUntypedArray>().map_err(|_| invalid_get_target(source, ary))?;
    let array_dtype = dtype::from_numpy(array.dtype().as_any())?;
    if array_dtype != source.dtype() {
        return Err(PyTypeError::new_err(format!(
            "get: `ary` has dtype {}, the array {}",
            array.dtype(),
            source.dtype().name()
        )));
    }
    if !ndarray::is_writable(array) {
        return Err(PyValueError::new_err("get: `ary` is read-only"));
    }
    let shape: Vec<i64> = array.shape().iter().map(|&len| len as i64).collect();
    if shape.iter().product::<i64>() != source.layout().size() {
        return Err(PyValueError::new_err(format!(
            "get: `ary` has shape {}, the array {}",
            tuple_text(shape),
            tuple_text(source.layout().shape())
        )));
    }
    if ndarray::host_buffer(array, source.dtype().itemsize())?.layout.has_internal_overlap() {
        return Err(PyValueError::new_err("get: elements of `ary` lie on each other in memory"));
    }
    Ok(array.clone())
}

/// Returns the memory of an ndarray as a buffer with the shape of the array `like`. As in PyCUDA, the shape of the
/// ndarray may differ if its size is equal.
fn buffer_shaped_like(array: &Bound<'_, PyUntypedArray>, like: &Array, operation: &str) -> PyResult<HostBuffer> {
    let buffer = ndarray::host_buffer(array, like.dtype().itemsize())?;
    if buffer.layout.shape().eq(like.layout().shape()) {
        return Ok(buffer);
    }
    let shape: Vec<i64> = like.layout().shape().collect();
    match buffer.layout.reshape(&shape, MemoryOrder::C)? {
        Some(layout) => Ok(HostBuffer { layout, ..buffer }),
        None => Err(PyValueError::new_err(format!(
            "{operation}: the ndarray has shape {} and cannot be seen as {} without a copy",
            tuple_text(array.shape()),
            tuple_text(shape)
        ))),
    }
}

/// Converts the argument `ary` of `set` to an ndarray. Returns an error unless the ndarray has the dtype and the number
/// of elements of the array.
fn set_source<'py>(target: &Array, ary: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    let array = ndarray::as_ndarray(ary, None)?;
    let array_dtype = dtype::from_numpy(array.dtype().as_any())?;
    if array_dtype != target.dtype() {
        return Err(PyValueError::new_err(format!(
            "set: the ndarray has dtype {}, the array {}; convert with astype first",
            array.dtype(),
            target.dtype().name()
        )));
    }
    if array.len() as i64 != target.layout().size() {
        return Err(PyValueError::new_err(format!(
            "set: the ndarray has shape {}, the array {}",
            tuple_text(array.shape()),
            tuple_text(target.layout().shape())
        )));
    }
    Ok(array)
}

/// Enqueues the upload of an ndarray, and keeps the ndarray alive until the stream has completed the copy.
pub(crate) fn set_on(
    py: Python<'_>,
    target: &Array,
    ary: &Bound<'_, PyAny>,
    stream: &Stream,
    wait: bool,
) -> PyResult<()> {
    target.check_writable("set")?;
    let source = set_source(target, ary)?;
    let buffer = buffer_shaped_like(&source, target, "set")?;
    let mut host_operand = HostOperand::from_buffer(buffer, source.into_any());
    Ok(py.without_gil(|| host_operand.upload(target, stream, wait))?)
}

/// Implements `set` for the values of another device array. The copy does not pass through the host.
fn set_from_device(
    target: &Bound<'_, GpuArray>,
    source: &Bound<'_, GpuArray>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = target.py();
    let (to, from) = (target.get().array(py)?, source.get().array(py)?);
    to.check_writable("set")?;
    if to.dtype() != from.dtype() || to.layout().size() != from.layout().size() {
        return Err(PyValueError::new_err(format!(
            "set: an array of {} elements of {} cannot take {} elements of {}",
            to.layout().size(),
            to.dtype().name(),
            from.layout().size(),
            from.dtype().name()
        )));
    }
    let stream = stream_or_current(target, stream)?;
    let shaped = source.call_method1(intern!(py, "reshape"), (target.getattr(intern!(py, "shape"))?,))?;
    let from = shaped.cast::<GpuArray>()?.get().array(py)?;
    Ok(py.without_gil(|| copy::between(to, from, &stream))?)
}

pub(crate) fn get_on<'py>(
    slf: &Bound<'py, GpuArray>,
    ary: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    wait: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = slf.py();
    let source = slf.get().array(slf.py())?;
    let (target, is_cached) = match ary {
        Some(ary) => (check_get_target(source, ary)?, true),
        None if !wait && !source.device().is_cpu() => async_get_target(slf)?,
        None => get_target(slf)?,
    };
    let buffer = buffer_shaped_like(&target, source, "get")?;
    let mut operand = HostOperand::from_buffer(buffer, target.as_any().clone());
    py.without_gil(|| operand.download(source, stream, wait))?;
    if !is_cached {
        slf.get().remember(&target)?;
    }
    Ok(target)
}

/// Returns a new ndarray for the values of an array, with the requested memory order.
fn empty_in_order<'py>(slf: &Bound<'py, GpuArray>, order: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    OrderArgument::from_python(order)?;
    let array = slf.get().array(py)?;
    let prototype = result_arrays::empty_like(py, array.layout(), array.dtype())?;
    ndarray::numpy(py)?.getattr(intern!(py, "empty_like"))?.call1((prototype, py.None(), order))
}

pub(crate) fn stream_or_current(slf: &Bound<'_, GpuArray>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<Stream> {
    stream_argument::from_argument(slf.py(), stream, slf.get().device())
}

#[pymethods]
impl GpuArray {
    /// Copy the values to a new ndarray, which is independent of the array.
    ///
    /// Parameters
    /// ----------
    /// ary : numpy.ndarray, optional
    ///     Target that is filled and returned instead of a new ndarray. The target has the same dtype and number of
    ///     elements as the array. A bool is interpreted as PybindGPU's `copy`.
    /// pagelocked : bool, optional
    ///     Return pinned memory, which makes later copies faster.
    /// async_ : bool, optional
    ///     Do not wait for the copy: the values are available after the stream has completed the copy.
    /// stream : Stream, optional
    ///     The stream of the copy; the thread's current stream by default.
    /// copy : bool, optional
    ///     Accepted for PybindGPU programs; the result is always a copy.
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Memory order of a new ndarray; 'K', the default, keeps the memory order of the axes.
    /// out : numpy.ndarray, optional
    ///     `ary` under CuPy's name.
    /// blocking : bool, optional
    ///     ``not async_`` under CuPy's name.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     Its axes have the array's memory order. While the ndarray exists, it is the array's host mirror:
    ///     `to_device()` uploads changes of its values.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `ary` has another dtype.
    /// ValueError
    ///     If `ary` has another number of elements or is read-only.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> PyGPU.to_gpu(np.arange(3)).get()
    /// array([0, 1, 2])
    #[pyo3(signature = (
        ary: "NDArray[Any] | StreamLike | bool | None" = None, pagelocked: "bool" = false, async_: "bool" = false,
        stream: "StreamLike" = None, *, copy: "bool | None" = None, order: "OrderACFK" = None,
        out: "NDArray[Any] | None" = None, blocking: "bool | None" = None
    ) -> "NDArray[Any]")]
    #[allow(clippy::too_many_arguments)]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        ary: Option<&Bound<'py, PyAny>>,
        pagelocked: bool,
        async_: bool,
        stream: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
        order: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        blocking: Option<bool>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        let _ = copy;
        let async_ = async_ || blocking == Some(false);
        let ary = ary.filter(|ary| !ary.is_none() && !ary.is_instance_of::<pyo3::types::PyBool>());
        let (ary, stream) = match ary {
            Some(first) if stream.is_none() && stream_argument::is_stream(first) => (None, Some(first)),
            _ => (ary, stream),
        };
        let out = out.filter(|out| !out.is_none());
        if ary.is_some() && out.is_some() {
            return Err(PyTypeError::new_err("get: ary= and out= name the same target; pass one of them"));
        }
        let stream = stream_or_current(slf, stream)?;
        let ordered = match order.filter(|order| !order.is_none()) {
            Some(order) if ary.is_none() && out.is_none() && !pagelocked => Some(empty_in_order(slf, order)?),
            _ => None,
        };
        let ary = ary.or(out).or(ordered.as_ref());
        if pagelocked && ary.is_none() {
            let array = slf.get().array(slf.py())?;
            let pinned = crate::host_transfers::pinned::empty_like_array(slf.py(), array)?;
            return get_on(slf, Some(pinned.as_any()), &stream, !async_);
        }
        get_on(slf, ary, &stream, !async_)
    }

    /// Copy the values without waiting: they are available once `stream` has passed the copy.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     The stream of the copy; the thread's current stream by default.
    /// ary : numpy.ndarray, optional
    ///     Target that is filled and returned. The copy is asynchronous only if the target is pinned; otherwise the
    ///     call waits.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     An ndarray over pinned memory. Exceptions: `ary` was passed, the array is larger than :func:`pinned_limit`,
    ///     or the system cannot pin more memory. In the last two cases the call waits for the copy.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.arange(3)
    /// >>> stream = PyGPU.Stream()
    /// >>> host = a.get_async(stream)
    /// >>> stream.synchronize()
    /// >>> host
    /// array([0, 1, 2])
    #[pyo3(signature = (stream: "StreamLike" = None, ary: "NDArray[Any] | None" = None) -> "NDArray[Any]")]
    fn get_async<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<&Bound<'py, PyAny>>,
        ary: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyUntypedArray>> {
        if stream.is_some_and(|stream| stream.cast::<PyUntypedArray>().is_ok()) {
            return Err(PyTypeError::new_err(
                "get_async: the first argument is the stream, as in PyCUDA: write a.get_async(ary=ary)",
            ));
        }
        let stream = stream_or_current(slf, stream)?;
        get_on(slf, ary.filter(|ary| !ary.is_none()), &stream, false)
    }

    /// Copy the values of an ndarray into the array.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     Values with the array's dtype and number of elements, with any strides. `ary` may be changed after the call.
    /// async_ : bool, optional
    ///     Do not wait for the copy; a pinned `ary` must then stay unchanged until the stream has completed the copy.
    /// stream : Stream, optional
    ///     The stream of the copy; the thread's current stream by default.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `ary` has another dtype or number of elements, or if the array is read-only.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import PyGPU
    /// >>> a = PyGPU.empty(3, np.int64)
    /// >>> a.set(np.array([3, 1, 2]))
    /// >>> a.tolist()
    /// [3, 1, 2]
    #[pyo3(signature = (ary: "ArrayLike", async_: "bool" = false, stream: "StreamLike" = None) -> "None")]
    fn set(
        slf: &Bound<'_, Self>,
        ary: &Bound<'_, PyAny>,
        async_: bool,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if let Ok(source) = ary.cast::<GpuArray>() {
            return set_from_device(slf, source, stream);
        }
        let stream = stream_or_current(slf, stream)?;
        set_on(slf.py(), slf.get().array(slf.py())?, ary, &stream, !async_)
    }

    /// Copy the values of an ndarray into the array without waiting.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     Values as in `set`. A pinned ndarray must stay unchanged until the stream has completed the copy; other
    ///     ndarrays may be changed immediately.
    /// stream : Stream, optional
    ///     The stream of the copy; the thread's current stream by default.
    #[pyo3(signature = (ary: "ArrayLike", stream: "StreamLike" = None) -> "None")]
    fn set_async(slf: &Bound<'_, Self>, ary: &Bound<'_, PyAny>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        if let Ok(source) = ary.cast::<GpuArray>() {
            return set_from_device(slf, source, stream);
        }
        let stream = stream_or_current(slf, stream)?;
        set_on(slf.py(), slf.get().array(slf.py())?, ary, &stream, false)
    }

    /// Copy the array to new memory.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Memory order; 'K', the default, keeps the memory order of the axes.
    /// device : Device, int or str, optional
    ///     Device of the copy; the device of the array by default.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.arange(6)[::-2].copy().tolist()
    /// [5, 3, 1]
    #[pyo3(signature = (order: "OrderACFK" = None, *, device: "DeviceLike | None" = None) -> "Self")]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        order: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().array(slf.py())?;
        let order = match order.filter(|order| !order.is_none()) {
            Some(order) => OrderArgument::from_python(order)?,
            None => OrderArgument::K,
        };
        let fortran = array.layout().is_f_contiguous() && !array.layout().is_c_contiguous();
        let dense = match order {
            OrderArgument::K => array.layout().dense_like(),
            OrderArgument::F => dense_in(array, MemoryOrder::F)?,
            OrderArgument::A if fortran => dense_in(array, MemoryOrder::F)?,
            OrderArgument::C | OrderArgument::A => dense_in(array, MemoryOrder::C)?,
        };
        let target = match device.filter(|device| !device.is_none()) {
            Some(device) => device_argument::from_argument(slf.py(), Some(device))?,
            None => array.device(),
        };
        let copied = copy_to(slf.py(), array, target, dense)?;
        new_like(slf, GpuArray::from_array(copied))
    }
}
