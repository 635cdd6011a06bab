//! Defines the class `Event`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple};

use super::device;
use super::stream;
use super::stream::{PyStream, check_kind};
use crate::atexit;
use crate::convert::argument_errors;
use crate::convert::buffer;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use crate::init_cell::InitCell;
use crate::py_once::intern;
use pygpu_backend::EventFlags;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Event;

/// Point of a stream that the host and other streams can wait for.
///
/// Parameters
/// ----------
/// timing : bool, optional
///     Record the time, for `elapsed_time`. Waiting for an event without timing is faster.
/// blocking_sync : bool, optional
///     Let `synchronize` sleep instead of spinning.
/// interprocess : bool, optional
///     Whether the event may be shared with other processes; requires ``timing=False``.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// ValueError
///     If both ``interprocess`` and ``timing`` are true.
/// CudaError
///     If the driver call fails.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> start, end = PyGPU.Event(), PyGPU.Event()
/// >>> stream = PyGPU.Stream()
/// >>> _ = start.record(stream)
/// >>> _ = end.record(stream)
/// >>> end.synchronize()
/// >>> start.elapsed_time(end) >= 0.0
/// True
#[pyclass(frozen, subclass, weakref, name = "Event", module = "PyGPU")]
pub(crate) struct PyEvent(InitCell<Event>);

impl From<Event> for PyEvent {
    fn from(event: Event) -> Self {
        Self(event.into())
    }
}

impl PyEvent {
    pub(crate) fn raw_handle(&self) -> PyResult<usize> {
        Ok(self.event()?.handle().0)
    }

    /// Returns the event of the Rust layer.
    #[inline]
    pub(crate) fn event(&self) -> PyResult<&Event> {
        self.0.get("Event")
    }
}

impl Drop for PyEvent {
    fn drop(&mut self) {
        if let Some(event) = self.0.take() {
            atexit::drop_detached(event);
        }
    }
}

/// Returns the milliseconds between two events. Rejects events of different devices: these may have different drivers,
/// and a driver would dereference the handle of an event that another driver created.
fn elapsed(start: &Event, end: &Event) -> Result<f64> {
    if start.device() != end.device() {
        return Err(Error::value(format!(
            "the events are of {} and {}; only those of one device share a clock",
            start.device(),
            end.device()
        )));
    }
    Ok(f64::from(start.elapsed(end)?))
}

fn timing_flag(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    argument_errors::flag(object, "Event(): timing", "write Event(timing=False) for an event without a time")
}

#[pymethods]
impl PyEvent {
    // Python passes the arguments of `__init__` to `__new__` too. The `__init__` of a subclass may take other
    // arguments, so `__new__` ignores all arguments.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs),
           text_signature = "(timing=True, blocking_sync=False, interprocess=False, device=None)")]
    // stub: def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self(InitCell::default())
    }

    #[pyo3(signature = (
        timing: "bool" = true, blocking_sync: "bool" = false, interprocess: "bool" = false,
        device: "DeviceLike" = None
    ) -> "None")]
    fn __init__(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = timing_flag)] timing: bool,
        blocking_sync: bool,
        interprocess: bool,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        if interprocess && timing {
            return Err(PyValueError::new_err(
                "an event that other processes share records no time: pass timing=False",
            ));
        }
        let device = device::from_argument(py, device)?;
        let flags = EventFlags { timing, blocking_sync, interprocess };
        self.0.make("Event", || Ok(py.without_gil(|| Event::create(device, flags))?))
    }

    /// Returns a handle by which other processes open the event.
    ///
    /// Returns
    /// -------
    /// bytearray
    ///     64 bytes for `from_ipc_handle` in another process. This process must keep the event alive while the other
    ///     process uses it.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     For an event that was not created with ``interprocess=True, timing=False``.
    /// NotSupportedError
    ///     On the CPU.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> try:
    /// ...     handle = PyGPU.Event(timing=False, interprocess=True).ipc_handle()
    /// ... except (PyGPU.CudaError, PyGPU.NotSupportedError):
    /// ...     pass  # on the CPU
    #[pyo3(signature = () -> "bytearray")]
    fn ipc_handle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let event = self.event()?;
        let handle = py.without_gil(|| event.share())?;
        Ok(PyByteArray::new(py, &handle))
    }

    /// Opens an event of another process.
    ///
    /// Parameters
    /// ----------
    /// handle : bytes-like
    ///     Result of `ipc_handle` in the other process.
    ///
    /// Returns
    /// -------
    /// Event
    ///     Event of the current device.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the handle does not have 64 bytes.
    /// CudaError
    ///     If the driver rejects the handle, as it does in the process that created the handle.
    /// NotSupportedError
    ///     On the CPU.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> try:
    /// ...     PyGPU.Event.from_ipc_handle(bytes(64))
    /// ... except (PyGPU.CudaError, PyGPU.NotSupportedError):
    /// ...     print('no event of another process')
    /// no event of another process
    #[staticmethod]
    #[pyo3(signature = (handle: "Buffer") -> "Event")]
    fn from_ipc_handle(handle: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = handle.py();
        let handle = buffer::handle_bytes(handle)?;
        Ok(py.without_gil(|| Event::open_shared(Device::current()?, &handle))?.into())
    }

    /// Driver handle.
    #[getter]
    fn handle(&self, py: Python<'_>) -> PyResult<usize> {
        // Pending operations are launched before the handle is returned, because the caller may record the event, or
        // wait for it, through its handle.
        fusion::flush_pending(py, FlushReason::StreamSync);
        self.raw_handle()
    }

    /// Device of the event.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.event()?.device().into())
    }

    /// Marks the current end of a stream, replacing the previous mark.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, object with `__cuda_stream__`, or int, optional
    ///     A stream of the event's device; the thread's current stream by default.
    ///
    /// Returns
    /// -------
    /// Event
    ///     The event itself.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> event = PyGPU.Event()
    /// >>> event.record() is event
    /// True
    #[pyo3(signature = (stream: "StreamLike" = None) -> "Self")]
    fn record<'py>(slf: Bound<'py, Self>, stream: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Self>> {
        fusion::flush_pending(slf.py(), FlushReason::StreamSync);
        let event = slf.get().event()?;
        let stream = stream::from_argument(slf.py(), stream, event.device())?;
        slf.py().without_gil(|| event.record(&stream))?;
        Ok(slf)
    }

    /// Waits until the marked point is reached; returns immediately if nothing is marked.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     Also for earlier asynchronous work on the device that failed.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Event().record().synchronize()
    #[pyo3(signature = () -> "None")]
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        fusion::flush_all_pending(py, FlushReason::StreamSync);
        let event = self.event()?;
        Ok(py.without_gil(|| event.synchronize().and_then(|()| shutdown::report_deferred()))?)
    }

    /// Returns whether the marked point was reached; true if nothing is marked.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Event().query()
    /// True
    #[pyo3(signature = () -> "bool")]
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let event = self.event()?;
        Ok(py.without_gil(|| event.query())?)
    }

    /// Returns the milliseconds from this event to a later one.
    ///
    /// Parameters
    /// ----------
    /// end : Event
    ///     Event of the same device.
    ///
    /// Returns
    /// -------
    /// float
    ///     Milliseconds, exact to about half a microsecond.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     If one of the two events was not recorded, was not reached yet (call `end.synchronize()` first), or has no
    ///     timing.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> start, end = PyGPU.Event().record(), PyGPU.Event().record()
    /// >>> end.synchronize()
    /// >>> start.elapsed_time(end) >= 0.0
    /// True
    #[pyo3(signature = (end: "Event") -> "float")]
    fn elapsed_time(&self, py: Python<'_>, end: &Bound<'_, Self>) -> PyResult<f64> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let (start, end) = (self.event()?, end.get().event()?);
        Ok(py.without_gil(|| elapsed(start, end))?)
    }

    /// Returns the milliseconds from an earlier event to this one: PyCUDA's spelling of ``start.elapsed_time(self)``.
    ///
    /// Parameters
    /// ----------
    /// start : Event
    ///     Event of the same device.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> start, end = PyGPU.Event().record(), PyGPU.Event().record()
    /// >>> end.synchronize()
    /// >>> end.time_since(start) >= 0.0
    /// True
    #[pyo3(signature = (start: "Event") -> "float")]
    fn time_since(&self, py: Python<'_>, start: &Bound<'_, Self>) -> PyResult<f64> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let (start, end) = (start.get().event()?, self.event()?);
        Ok(py.without_gil(|| elapsed(start, end))?)
    }

    /// Returns the milliseconds from this event to a later one: PyCUDA's spelling of ``self.elapsed_time(end)``.
    ///
    /// Parameters
    /// ----------
    /// end : Event
    ///     Event of the same device.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> start, end = PyGPU.Event().record(), PyGPU.Event().record()
    /// >>> end.synchronize()
    /// >>> start.time_till(end) >= 0.0
    /// True
    #[pyo3(signature = (end: "Event") -> "float")]
    fn time_till(&self, py: Python<'_>, end: &Bound<'_, Self>) -> PyResult<f64> {
        self.elapsed_time(py, end)
    }

    // `await event` suspends only the calling coroutine until the event is reached.
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._streams.async_wait"))?.call_method1(intern!(py, "wait"), (slf,))
    }

    fn __repr__(&self) -> String {
        match self.0.value() {
            Some(event) => format!("<PyGPU.Event {:#x} on {}>", event.handle().0, event.device()),
            None => "<PyGPU.Event, not made yet>".to_owned(),
        }
    }
}

names! {
    classes "Streams and events": PyEvent;
}

#[pymethods]
impl PyStream {
    /// Makes work enqueued on the stream from now on wait for an event. The host does not wait.
    ///
    /// Parameters
    /// ----------
    /// event : Event
    ///     Event of any device with the same driver. There is no wait for an event that was never recorded.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> first, second = PyGPU.Stream(), PyGPU.Stream()
    /// >>> second.wait_event(first.record())
    #[pyo3(signature = (event: "Event") -> "None")]
    fn wait_event(&self, py: Python<'_>, event: &Bound<'_, PyEvent>) -> PyResult<()> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let (stream, event) = (self.stream()?, event.get().event()?);
        Ok(py.without_gil(|| {
            check_kind(stream.device(), event.device())?;
            stream.wait_event(event)
        })?)
    }

    /// Marks the current end of the stream.
    ///
    /// Parameters
    /// ----------
    /// event : Event, optional
    ///     Event of the stream's device. By default a new event with timing.
    ///
    /// Returns
    /// -------
    /// Event
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> event = PyGPU.Stream().record()
    /// >>> event.synchronize()
    #[pyo3(signature = (event: "Event | None" = None) -> "Event")]
    fn record<'py>(&self, py: Python<'py>, event: Option<Bound<'py, PyEvent>>) -> PyResult<Bound<'py, PyEvent>> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let stream = self.stream()?;
        let event = match event {
            Some(event) => event,
            None => {
                let flags = EventFlags { timing: true, blocking_sync: false, interprocess: false };
                Bound::new(py, PyEvent::from(py.without_gil(|| Event::create(stream.device(), flags))?))?
            }
        };
        py.without_gil({
            let event = event.get().event()?;
            || event.record(stream)
        })?;
        Ok(event)
    }
}
