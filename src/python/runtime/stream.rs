//! Defines the class `Stream`, converts an argument `stream=` to a stream, and stores the thread's current stream.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyTuple};

use super::device;
use super::device::PyDevice;
use super::stream_handle;
use crate::atexit;
use crate::convert::argument_errors;
use crate::convert::number;
use crate::exported_names::names;
use crate::ffi::numbers::is_index;
use crate::fusion;
use crate::gil::WithoutGil;
use crate::init_cell::InitCell;
use crate::py_once::intern;
use pygpu_backend::{BackendKind, StreamFlags, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{self, Stream};
use pygpu_memory::{retired_objects, stream_captures, stream_check};

/// Stream: work enqueued on it runs in the order of enqueueing.
///
/// Parameters
/// ----------
/// non_blocking : bool, optional
///     Disables the mutual waits between this stream and the legacy default stream. By default each of the two waits
///     for the other's earlier work, as in CUDA.
/// priority : int, optional
///     Lower numbers run first; 0 is the default. The driver clamps the value to the device's range.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// CudaError
///     If the driver call fails.
///
/// Notes
/// -----
/// As a context manager, a stream makes itself the thread's current stream of its device. PyGPU's work on that device
/// then uses this stream unless ``stream=`` is passed. Two objects with equal handle and device are equal.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> stream = PyGPU.Stream()
/// >>> with stream:
/// ...     a = PyGPU.zeros(3)
/// >>> stream.synchronize()
/// >>> stream.query()
/// True
#[pyclass(frozen, subclass, weakref, name = "Stream", module = "PyGPU")]
pub(crate) struct PyStream(InitCell<Stream>);

impl From<Stream> for PyStream {
    fn from(stream: Stream) -> Self {
        Self(stream.into())
    }
}

impl PyStream {
    /// Returns the stream of the Rust layer that this object wraps.
    #[inline]
    pub(crate) fn stream(&self) -> PyResult<&Stream> {
        self.0.get("Stream")
    }
}

impl Drop for PyStream {
    fn drop(&mut self) {
        let Some(stream) = self.0.take() else { return };
        let is_default = stream.handle() == StreamHandle::DEFAULT;
        // The GIL is released only for the drop of a stream that the driver must destroy. The drop of a default,
        // borrowed or CPU stream makes no driver call, and that of a borrowed stream may release a Python object.
        if is_default || stream.is_foreign() || stream.device().is_cpu() {
            drop(stream)
        } else {
            atexit::drop_detached(stream)
        }
    }
}

/// Converts an argument `stream=`: `None` for the thread's current stream, a `Stream`, an object with
/// `__cuda_stream__`, or a handle.
///
/// # Errors
/// `TypeError` for any other object; `ValueError` for a stream of another device and for an invalid handle.
pub(crate) fn from_argument(py: Python<'_>, object: Option<&Bound<'_, PyAny>>, device: Device) -> PyResult<Stream> {
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(stream::current(device)) };
    let stream = from_anywhere(py, object, device)?;
    check_device(&stream, device)?;
    Ok(stream)
}

/// Converts an argument `stream=` other than `None`. Unlike in `from_argument`, the stream may belong to another device
/// than `default_device`.
pub(crate) fn from_anywhere(py: Python<'_>, object: &Bound<'_, PyAny>, default_device: Device) -> PyResult<Stream> {
    match object.cast::<PyStream>() {
        Ok(stream) => stream.get().stream().cloned(),
        Err(_) => from_foreign(py, object, default_device),
    }
}

/// Whether an object is a stream of PyGPU or of another library; an int handle is not recognised.
pub(crate) fn is_stream(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyStream>() || object.hasattr(intern!(object.py(), "__cuda_stream__")).unwrap_or(false)
}

#[inline]
fn check_device(stream: &Stream, device: Device) -> Result<()> {
    if stream.device() == device {
        return Ok(());
    }
    Err(Error::value(format!(
        "the stream is of {}, and the work on {device}; give a stream of {device}",
        stream.device()
    )))
}

/// Converts an object with `__cuda_stream__`, or a handle, to a stream. The stream belongs to `default_device`, or to
/// another device with the same driver.
fn from_foreign(py: Python<'_>, object: &Bound<'_, PyAny>, default_device: Device) -> PyResult<Stream> {
    if let Some(protocol) = object.getattr_opt(intern!(py, "__cuda_stream__"))? {
        // In older libraries, `__cuda_stream__` is not a method but an attribute with the pair. This older form of the
        // protocol is deprecated.
        let pair = if protocol.is_callable() { protocol.call0()? } else { protocol };
        let handle = stream_handle::handle_from_pair(&pair)?;
        return stream_handle::from_handle(py, handle, default_device, Some(object.clone().unbind()));
    }
    if object.is_instance_of::<PyBool>() || !is_index(object) {
        return Err(PyTypeError::new_err(format!(
            "the stream is {}; expected None, a Stream, an object with __cuda_stream__ or an int handle; write \
             PyGPU.Stream() for a new one",
            argument_errors::describe(object)
        )));
    }
    let handle = number::size(object, "a stream handle")?;
    Stream::named(default_device, StreamHandle(handle))?;
    stream_handle::from_handle(py, handle, default_device, None)
}

/// Checks that two devices have the same driver, because a driver would dereference handles that another driver
/// created.
pub(crate) fn check_kind(first: Device, other: Device) -> Result<()> {
    if first.kind() == other.kind() {
        return Ok(());
    }
    Err(Error::value(format!(
        "{first} and {other} have different drivers, and a stream cannot wait across; call synchronize() instead"
    )))
}

fn non_blocking_flag(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let advice = "write Stream.from_handle(handle) for a stream of another library";
    argument_errors::flag(object, "Stream(): non_blocking", advice)
}

#[pymethods]
impl PyStream {
    // Python passes the arguments of `__init__` to `__new__` too. The `__init__` of a subclass may take other
    // arguments, so `__new__` ignores all arguments.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs), text_signature = "(non_blocking=False, priority=0, device=None)")]
    // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(InitCell::default())
    }

    #[pyo3(signature = (non_blocking=false, priority=None, device=None))]
    // stub: def __init__(self, non_blocking: bool = False, priority: int = 0, device: DeviceLike = None) -> None: ...
    fn __init__(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = non_blocking_flag)] non_blocking: bool,
        priority: Option<&Bound<'_, PyAny>>,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let priority = priority.map_or(Ok(0), |priority| number::int32(priority, "priority"))?;
        let device = device::from_argument(py, device)?;
        if non_blocking && !device.is_cpu() && stream_check::is_on() {
            py.without_gil(|| stream_check::prepare(device));
        }
        let create = || Stream::create(device, StreamFlags { non_blocking, priority });
        self.0.make("Stream", || Ok(py.without_gil(create)?))
    }

    /// Makes this object, whose `__init__` has not run, refer to the stream of another object. Subclasses with another
    /// constructor call this method.
    #[pyo3(signature = (stream: "Stream") -> "None")]
    fn _adopt(&self, stream: &Bound<'_, Self>) -> PyResult<()> {
        self.0.make("Stream", || stream.get().stream().cloned())
    }

    /// Returns the stream of a handle that another library owns.
    ///
    /// Parameters
    /// ----------
    /// handle : int
    ///     The driver's handle. 0 and 1 are the legacy default stream, 2 the per-thread default stream.
    /// device : int, str or Device, optional
    ///     Device to which the stream must belong. By default the driver determines it.
    /// owner : object, optional
    ///     Object that PyGPU keeps alive as long as it uses the stream. If the owner refers to the new `Stream` object,
    ///     neither is ever freed, because the garbage collector cannot detect this cycle.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a negative handle, and for a stream of another device.
    ///
    /// Warnings
    /// --------
    /// A handle of a destroyed stream may crash the process, because drivers do not detect such a handle.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Stream.from_handle(0) == PyGPU.default_stream()
    /// True
    #[staticmethod]
    #[pyo3(signature = (handle: "int", device: "DeviceLike" = None, owner: "Any" = None) -> "Stream")]
    fn from_handle(
        handle: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
        owner: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let py = handle.py();
        let handle = number::size(handle, "handle")?;
        let default_device = device::from_argument(py, device)?;
        Stream::named(default_device, StreamHandle(handle))?;
        let stream = stream_handle::from_handle(py, handle, default_device, owner)?;
        if device.is_some_and(|device| !device.is_none()) {
            check_device(&stream, default_device)?;
        }
        Ok(stream.into())
    }

    /// Driver handle; 0 for the legacy default stream.
    #[getter]
    fn handle(&self, py: Python<'_>) -> PyResult<usize> {
        // The stream's pending operations are launched before the handle is returned, because the caller may wait for
        // the stream, or measure its time, through the handle.
        fusion::flush_pending(py, FlushReason::StreamSync);
        Ok(self.stream()?.handle().0)
    }

    /// Device of the stream.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.stream()?.device().into())
    }

    /// Whether the stream is the legacy default stream of its device.
    #[getter]
    fn is_default(&self) -> PyResult<bool> {
        Ok(self.stream()?.handle() == StreamHandle::DEFAULT)
    }

    /// Waits until all work of the stream is complete.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     Also for earlier asynchronous work on the device that failed.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Stream().synchronize()
    #[pyo3(signature = () -> "None")]
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        fusion::flush_all_pending(py, FlushReason::StreamSync);
        let stream = self.stream()?;
        Ok(py.without_gil(|| {
            if stream_captures::is_any() && stream_captures::is_capturing(stream)? {
                return Err(stream_captures::refusal("waiting for the stream"));
            }
            stream.synchronize()?;
            shutdown::report_deferred()
        })?)
    }

    /// Returns whether all work of the stream is complete.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Stream().query()
    /// True
    #[pyo3(signature = () -> "bool")]
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let stream = self.stream()?;
        Ok(py.without_gil(|| stream.query())?)
    }

    /// Makes work enqueued on the stream from now on wait for all current work of another stream. The host does not
    /// wait.
    ///
    /// Parameters
    /// ----------
    /// other : Stream, object with `__cuda_stream__`, or int
    ///     Stream of any device with the same driver.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> first, second = PyGPU.Stream(), PyGPU.Stream()
    /// >>> second.wait_stream(first)
    #[pyo3(signature = (other: "StreamLike") -> "None")]
    fn wait_stream(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        fusion::flush_pending(other.py(), FlushReason::StreamSync);
        let py = other.py();
        let stream = self.stream()?;
        let other_stream = from_anywhere(py, other, stream.device())?;
        Ok(py.without_gil(|| {
            check_kind(stream.device(), other_stream.device())?;
            stream.wait_for(&other_stream)
        })?)
    }

    /// Returns protocol version and driver handle, by which libraries accept each other's streams.
    ///
    /// Returns
    /// -------
    /// version, handle : int
    ///     Version 0 of the protocol and the driver's handle. On CUDA, the handle of the legacy default stream is 1,
    ///     because libraries compiled for per-thread default streams interpret 0 as the per-thread default stream. On
    ///     HIP it is 0, because HIP accepts no other handle for the legacy default stream.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> stream = PyGPU.Stream()
    /// >>> stream.__cuda_stream__() == (0, stream.handle)
    /// True
    #[pyo3(signature = () -> "tuple[int, int]")]
    fn __cuda_stream__(&self, py: Python<'_>) -> PyResult<(u32, usize)> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let stream = self.stream()?;
        let handle = stream.handle();
        let is_legacy = handle == StreamHandle::DEFAULT && stream.device().kind() == BackendKind::Cuda;
        Ok((0, if is_legacy { 1 } else { handle.0 }))
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        fusion::flush_pending(slf.py(), FlushReason::StreamSync);
        stream::push_current(slf.get().stream()?.clone());
        Ok(slf)
    }

    #[pyo3(signature = (*_exception: "type[BaseException] | BaseException | TracebackType | None") -> "Literal[False]")]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        fusion::flush_pending(_exception.py(), FlushReason::StreamSync);
        if stream::pop_current(self.stream()?) {
            return Ok(());
        }
        Err(PyRuntimeError::new_err(format!("{} is left in a thread in which it was not entered", self.__repr__())))
    }

    fn __eq__(&self, other: &Self) -> PyResult<bool> {
        Ok(self.stream()?.has_handle_of(other.stream()?))
    }

    fn __hash__(&self) -> PyResult<u64> {
        let stream = self.stream()?;
        let device = stream.device();
        let mut hasher = DefaultHasher::new();
        (device.kind(), device.index(), stream.handle()).hash(&mut hasher);
        Ok(hasher.finish())
    }

    // `await stream` suspends only the calling coroutine until the stream's work is complete.
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._streams.async_wait"))?.call_method1(intern!(py, "wait"), (slf,))
    }

    fn __repr__(&self) -> String {
        let Some(stream) = self.0.value() else { return "<PyGPU.Stream, not made yet>".to_owned() };
        match stream.handle() {
            StreamHandle::DEFAULT => format!("<PyGPU.Stream default on {}>", stream.device()),
            handle => format!("<PyGPU.Stream {:#x} on {}>", handle.0, stream.device()),
        }
    }
}

/// Returns the calling thread's current stream of a device: the innermost ``with stream:``, or the legacy default
/// stream.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// Stream
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> stream = PyGPU.Stream()
/// >>> with stream:
/// ...     PyGPU.current_stream() == stream
/// True
/// >>> PyGPU.current_stream().is_default
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "Stream")]
fn current_stream(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<PyStream> {
    Ok(stream::current(device::from_argument(py, device)?).into())
}

/// Returns the legacy default stream of a device.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// Stream
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.default_stream().handle
/// 0
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "Stream")]
fn default_stream(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<PyStream> {
    Ok(Stream::default_of(device::from_argument(py, device)?).into())
}

/// Waits until all work of a device is complete.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// CudaError
///     Also for earlier asynchronous work that failed.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.synchronize()
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "None")]
fn synchronize(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    fusion::flush_all_pending(py, FlushReason::StreamSync);
    let device = device::from_argument(py, device)?;
    Ok(py.without_gil(|| retired_objects::synchronize(device).and_then(|()| shutdown::report_deferred()))?)
}

names! {
    functions "Streams and events": current_stream, default_stream;
    functions "Devices": synchronize;
    classes "Streams and events": PyStream;
}

/// Converts an argument `stream`; `None` is the legacy default stream, as in driver calls.
pub(crate) fn stream_or_default(py: Python<'_>, stream: Option<&Bound<'_, PyAny>>, device: Device) -> PyResult<Stream> {
    match stream.filter(|stream| !stream.is_none()) {
        Some(stream) => from_argument(py, Some(stream), device),
        None => Ok(Stream::default_of(device)),
    }
}

#[pymethods]
impl PyDevice {
    /// Legacy default stream of the device.
    #[getter]
    fn default_stream(&self) -> PyStream {
        Stream::default_of(self.device).into()
    }
}
