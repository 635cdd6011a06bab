//! Creates arrays, ndarrays and memoryviews over the memory at an address, and copies between arrays.

use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::class::{GpuArray, new_exact};
use crate::array::memory_owner::MemoryOwner;
use crate::convert::buffer::view_of_address;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::number;
use crate::convert::shape::{self, OrderArgument};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::MemoryArgument;
use crate::py_once::intern;
use crate::runtime::stream as streams;
use crate::runtime::stream::stream_or_default;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};

/// Create an array over the memory at an address. If PyGPU tracks the memory, uses of the array are synchronized with
/// uses of other arrays over this memory.
///
/// Parameters
/// ----------
/// address : int, DeviceAllocation, GPUArray or object with an address
///     Address of element zero.
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type
///     Type of the elements.
/// strides : sequence of int, optional
///     Bytes from one element to the next along each axis; C order by default.
/// stream : Stream, object with `__cuda_stream__` or int, optional
///     The stream on which the array is used. The default is the legacy default stream. If PyGPU does not track the
///     memory, work enqueued on this stream uses the memory without further synchronization.
/// offset : int, optional
///     Bytes between the address and element zero.
///
/// Returns
/// -------
/// GPUArray
///
/// Raises
/// ------
/// ValueError
///     If the elements are not within the tracked block, or the address is 0.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> memory = _core.allocate_device(8)
/// >>> _core.array_at(memory, 2, 'int32').fill(7).get()
/// array([7, 7], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (
        address: "AddressLike", shape: "ShapeLike", dtype: "DTypeLike",
        strides: "Sequence[SupportsIndex] | None" = None, stream: "StreamLike" = None, offset: "SupportsIndex" = None
    ) -> "GPUArray",
    text_signature = "(address, shape, dtype, strides=None, stream=None, offset=0)"
)]
fn array_at<'py>(
    address: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    strides: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    offset: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = address.py();
    let dtype = dtype::from_python(dtype)?;
    let itemsize = dtype.itemsize() as i64;
    let lengths = shape::from_python(shape)?;
    let layout = match strides.filter(|strides| !strides.is_none()) {
        Some(strides) => Layout::strided(&lengths, &shape::from_python(strides)?, 0, itemsize)?,
        None => Layout::contiguous(&lengths, itemsize, MemoryOrder::C)?,
    };
    let byte_offset = offset.map_or(Ok(0), |offset| number::size(offset, "offset"))?;
    let ready_stream = |device| match stream_or_default(py, stream, device) {
        // If the stream belongs to another device, the default stream replaces it. The stream of another device is no
        // error, because a copy between two devices uses a stream of one of them.
        Err(_) => Stream::default_of(device),
        Ok(stream) => stream,
    };
    let array = MemoryArgument::from_python(address)?.offset_by(byte_offset)?.array(
        py,
        layout,
        dtype,
        ready_stream,
        None::<MemoryOwner>,
    )?;
    new_exact(py, GpuArray::with_base(array, address.clone().unbind()))
}

/// Copy an array into another one of the same shape and dtype, in the order of a stream.
///
/// The devices may differ.
///
/// Parameters
/// ----------
/// target, source : GPUArray
///     The arrays, which may overlap.
/// stream : Stream, object with `__cuda_stream__`, int or None
///     A stream of either device; None is the legacy default stream of the target's device.
///
/// Raises
/// ------
/// ValueError
///     For different shapes, a read-only target, and a stream of a third device.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> from PyGPU import _core
/// >>> a, b = PyGPU.zeros(3), PyGPU.arange(3.0)
/// >>> _core.copy_array(a, b, None)
/// >>> a.get()
/// array([0., 1., 2.])
#[pyfunction]
#[pyo3(signature = (target: "GPUArray", source: "GPUArray", stream: "StreamLike") -> "None")]
fn copy_array(
    target: &Bound<'_, GpuArray>,
    source: &Bound<'_, GpuArray>,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = target.py();
    let (target, source) = (target.get().array(target.py())?, source.get().array(source.py())?);
    target.check_writable("copy_array")?;
    let stream = match stream.filter(|stream| !stream.is_none()) {
        None => Stream::default_of(target.device()),
        Some(stream) => streams::from_anywhere(py, stream, target.device())?,
    };
    if stream.device() != target.device() && stream.device() != source.device() {
        return Err(PyValueError::new_err(format!(
            "the stream is of {}, and the copy from {} to {}",
            stream.device(),
            source.device(),
            target.device()
        )));
    }
    Ok(py.without_gil(|| copy::between(target, source, &stream))?)
}

/// Create an ndarray over host memory that an object owns.
///
/// Parameters
/// ----------
/// owner : object
///     Object that owns the memory, and becomes the `base` of the ndarray.
/// address : int
///     Address of the memory, which must be valid while the owner exists.
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type
///     Any dtype without Python objects.
/// order : {'C', 'F'}, optional
///     Memory order of the elements.
///
/// Returns
/// -------
/// numpy.ndarray
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from PyGPU import _core
/// >>> owner = np.arange(4)
/// >>> _core.ndarray_at(owner, owner.ctypes.data, 2, owner.dtype)
/// array([0, 1])
#[pyfunction]
#[pyo3(
    signature = (
        owner: "Any", address: "SupportsIndex", shape: "ShapeLike", dtype: "DTypeLike", order: "str" = None
    ) -> "NDArray[Any]",
    text_signature = "(owner, address, shape, dtype, order='C')"
)]
fn ndarray_at<'py>(
    owner: Bound<'py, PyAny>,
    address: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = owner.py();
    let descr = ndarray::numpy(py)?.getattr(intern!(py, "dtype"))?.call1((dtype,))?;
    if descr.getattr(intern!(py, "hasobject"))?.is_truthy()? {
        return Err(PyTypeError::new_err(format!(
            "{descr} has Python objects, which only NumPy's own memory can hold"
        )));
    }
    let itemsize: i64 = descr.getattr(intern!(py, "itemsize"))?.extract()?;
    let layout = Layout::contiguous(&shape::from_python(shape)?, itemsize, OrderArgument::c_or_f(order)?)?;
    let start = number::size(address, "address")?;
    if start == 0 && layout.nbytes() > 0 {
        return Err(PyValueError::new_err(format!("address 0 cannot hold {} bytes", layout.nbytes())));
    }
    ndarray::over_memory(py, start, &layout, descr, true, owner)
}

/// Create a memoryview with an address, for libraries that take device addresses in buffers.
///
/// Parameters
/// ----------
/// address : int
///     Address of the first byte.
/// nbytes : int
///     Number of bytes.
///
/// Returns
/// -------
/// memoryview
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> _core.address_view(4096, 16).nbytes
/// 16
#[pyfunction]
#[pyo3(signature = (address: "SupportsIndex", nbytes: "SupportsIndex") -> "memoryview")]
fn address_view<'py>(address: &Bound<'py, PyAny>, nbytes: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    view_of_address(address.py(), number::size(address, "address")?, number::size(nbytes, "nbytes")?)
}

names! {
    internal_functions: address_view, array_at, copy_array, ndarray_at;
}
