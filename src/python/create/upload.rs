//! Creates arrays with values from the host: `to_gpu`, `to_gpu_async`.

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::asarray;
use super::filled::target_device;
use super::from_supplied_memory;
use crate::array::class::{GpuArray, new_exact, new_like};
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::host_transfers::device_arrays::upload_new_on;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use crate::runtime::stream as stream_argument;
use pygpu_device::stream::Stream;

/// Copy host data to a new array on the device.
///
/// Parameters
/// ----------
/// ary : array_like
///     An ndarray of any strides, or an object that NumPy converts to an ndarray.
/// allocator : callable, optional
///     Allocator of the memory: takes a number of bytes and returns an object with an address (PyCUDA's form).
/// device : Device, str or int, optional
///     Device of the array; the thread's current device by default.
/// stream : Stream, optional
///     The stream of the copy; the thread's current stream by default.
/// progress : bool or callable, default False
///     True displays a progress bar if tqdm is installed. A function is called with the number of copied bytes and the
///     total number of bytes. In both cases the copy is split into pieces.
///
/// Returns
/// -------
/// GPUArray
///     A copy; its axes have the memory order of `ary`.
///
/// Raises
/// ------
/// TypeError
///     For a dtype that a device cannot store, and for a dtype of non-native byte order.
/// OutOfMemoryError
///     If the device has too little memory.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU as gpuarray
/// >>> gpuarray.to_gpu(np.array([1, 2, 3])).get()
/// array([1, 2, 3])
#[pyfunction]
#[pyo3(signature = (
    ary: "ArrayLike | GPUArray", allocator: "Callable[[int], Any] | None" = None, *, device: "DeviceLike" = None,
    stream: "StreamLike" = None, progress: "bool | Callable[[int, int], object] | None" = None
) -> "GPUArray")]
pub(crate) fn to_gpu<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    if let Some(progress) = progress
        && progress.is_truthy()?
        && !ary.is_instance_of::<GpuArray>()
    {
        let upload = py.import(intern!(py, "PyGPU._observability.progress"))?.getattr(intern!(py, "upload"))?;
        return Ok(upload.call1((ary, allocator, device, stream, progress))?.cast_into()?);
    }
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    to_gpu_on(py, ary, allocator, &stream, true)
}

/// Copy host data like `to_gpu` without waiting: the values are valid once `stream` has passed.
///
/// Parameters
/// ----------
/// ary : array_like
///     The host data. A pinned ndarray must stay unchanged until the stream has passed the copy. Other host data may be
///     changed immediately.
/// allocator : callable, optional
///     As in `to_gpu`.
/// stream : Stream, optional
///     The stream of the copy; the thread's current stream by default.
/// device : Device, str or int, optional
///     Device of the array; the thread's current device by default.
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
#[pyo3(signature = (
    ary: "ArrayLike | GPUArray", allocator: "Callable[[int], Any] | None" = None, stream: "StreamLike" = None, *,
    device: "DeviceLike" = None
) -> "GPUArray")]
pub(crate) fn to_gpu_async<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let device = target_device(py, device.filter(|device| !device.is_none()))?;
    let stream = stream_argument::from_argument(py, stream, device)?;
    to_gpu_on(py, ary, allocator, &stream, false)
}

fn to_gpu_on<'py>(
    py: Python<'py>,
    ary: &Bound<'py, PyAny>,
    allocator: Option<&Bound<'py, PyAny>>,
    stream: &Stream,
    wait: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    if let Ok(source_array) = ary.cast::<GpuArray>() {
        let copied = transfer::device_copy_like(py, source_array.get().array(source_array.py())?)?;
        if copied.device() != stream.device() {
            return Err(PyValueError::new_err(format!(
                "to_gpu: the array is on {} already; use asarray(a, device='{}') to copy between devices",
                copied.device(),
                stream.device()
            )));
        }
        if wait && !stream.device().is_cpu() {
            py.without_gil(|| stream.synchronize())?;
        }
        return new_like(source_array, GpuArray::from_array(copied));
    }
    let source = ndarray::as_ndarray(ary, None)?;
    let dtype = dtype::from_numpy(source.dtype().as_any()).map_err(|error| asarray::not_an_array(ary, error))?;
    let Some(allocator) = allocator.filter(|allocator| !allocator.is_none()) else {
        return new_exact(py, GpuArray::from_array(upload_new_on(py, source, dtype, stream, wait)?));
    };
    let layout = ndarray::host_buffer(&source, dtype.itemsize())?.layout.dense_like();
    let array = from_supplied_memory::from_callable(allocator, layout, dtype, stream.device())?;
    transfer::upload(py, &array, &source)?;
    new_exact(py, GpuArray::from_array(array))
}

names! {
    functions "Making arrays": to_gpu, to_gpu_async;
}
