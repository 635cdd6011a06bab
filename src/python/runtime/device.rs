//! Defines the class `Device`, and converts an argument `device=` to a device.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::properties;
use crate::convert::argument_errors;
use crate::convert::number;
use crate::errors;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use crate::py_once::{PyOnce, intern};
use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::shutdown;
use pygpu_device::{Device, PerDevice, per_device};
use pygpu_memory::retired_objects;

/// Device of a backend.
///
/// Parameters
/// ----------
/// index : int, str or Device, optional
///     The number of a device of the default backend, or a name: ``'cpu'``, ``'cuda'``, ``'cuda:1'``, ``'hip:0'``. By
///     default the calling thread's current device, which PyGPU shares with every other library.
///
/// Raises
/// ------
/// ValueError
///     For a device that does not exist. For a missing index, the error is also a `CudaError` with code 101.
/// BackendUnavailableError
///     For a backend that cannot be used; the message lists the names that were tried.
///
/// Notes
/// -----
/// As a context manager, a device makes itself the thread's current device and restores the previous device on exit.
/// One object may be entered repeatedly, and by several threads at a time.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> device = PyGPU.Device('cpu')
/// >>> device
/// Device('cpu')
/// >>> device.kind, device.index
/// ('cpu', 0)
/// >>> with PyGPU.Device() as device:
/// ...     device == PyGPU.Device(PyGPU.current_device())
/// True
#[pyclass(frozen, weakref, name = "Device", module = "PyGPU")]
pub(crate) struct PyDevice {
    pub(crate) device: Device,
}

/// Cache of `Device` objects, one for each device, created on first use.
static SHARED: PerDevice<PyOnce<Py<PyDevice>>> = per_device!(PyOnce::new());

impl PyDevice {
    pub(crate) fn shared(py: Python<'_>, device: Device) -> PyResult<Bound<'_, Self>> {
        let cell = SHARED.of(device);
        Ok(cell.get_or_try_init(py, || Py::new(py, Self::from(device)))?.bind(py).clone())
    }
}

impl From<Device> for PyDevice {
    fn from(device: Device) -> Self {
        Self { device }
    }
}

thread_local! {
    /// For each active `with device:` statement of this thread: the entered device, and the device that was current
    /// before it.
    static ENTERED: RefCell<Vec<(Device, Device)>> = const { RefCell::new(Vec::new()) };
}

/// Converts an argument `device=`: `None` for the current device, an int for a device of the default backend, a name,
/// or a `Device`.
///
/// # Errors
/// `TypeError` for any other object, including bools; `ValueError` for a device that does not exist; errors of the
/// driver.
#[inline]
pub(crate) fn from_argument(py: Python<'_>, object: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    // The GIL is held during the query of the current device, because the query only reads a thread-local variable and
    // never blocks.
    let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(Device::current()?) };
    from_object(py, object)
}

#[inline(never)]
fn from_object(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<Device> {
    if let Ok(device) = object.cast::<PyDevice>() {
        return Ok(device.get().device);
    }
    if let Ok(name) = object.cast::<PyString>() {
        let name = name.to_str()?;
        return Ok(py.without_gil(|| Device::parse(name))?);
    }
    let number = number::signed(object, "a device").map_err(|error| explain_type(object, error))?;
    py.without_gil(|| from_default_backend(number)).map_err(|error| errors::as_missing_device(py, error.into()))
}

#[cold]
fn explain_type(object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(object.py()) {
        return PyTypeError::new_err(format!(
            "the device is {}; expected None, an int, a name such as 'cuda:1' or a Device",
            argument_errors::describe(object)
        ));
    }
    error
}

fn from_default_backend(number: i64) -> Result<Device> {
    let backend = backend::default_backend()?;
    // A number that exceeds `i32` is replaced by -1. No device has the number -1, so the result is the error for a
    // device that does not exist.
    Device::new(backend, i32::try_from(number).unwrap_or(-1)).map_err(|error| match error {
        Error::Value(_) => Error::value(format!(
            "device {number} does not exist: the {} backend has {} device(s), numbered from 0",
            backend.kind().name(),
            backend.device_count()
        )),
        other => other,
    })
}

/// Makes a device of the default backend current. Devices of other backends are rejected: a later call without
/// `device=` would still use the default backend.
pub(crate) fn make_current(device: Device) -> Result<()> {
    let default = backend::default_backend()?.kind();
    if default != device.kind() {
        return Err(Error::value(format!(
            "{device} cannot be made current: calls without device= use the {} backend; name it there with device='{device}', or \
             start the process with PYGPU_BACKEND={}",
            default.name(),
            device.kind().name()
        )));
    }
    device.make_current()
}

fn check_peer(device: Device, peer: Device) -> Result<()> {
    if device.kind() == peer.kind() {
        return Ok(());
    }
    Err(Error::value(format!("{device} and {peer} have different drivers, so neither can be the other's peer")))
}

pub(crate) fn reaches(device: Device, peer: Device) -> Result<bool> {
    check_peer(device, peer)?;
    // For two equal devices the result is true, because a device reads its own memory directly. Drivers report that a
    // device is not a peer of itself.
    Ok(device == peer || device.backend().can_access_peer(device.index(), peer.index())?)
}

pub(crate) fn enable_peer(device: Device, peer: Device) -> Result<()> {
    check_peer(device, peer)?;
    if device == peer { Ok(()) } else { device.backend().enable_peer_access(device.index(), peer.index()) }
}

/// Compares the indices of two devices of one backend.
fn check_ordered(first: Device, second: Device) -> Result<Ordering> {
    if first.kind() == second.kind() {
        return Ok(first.index().cmp(&second.index()));
    }
    Err(Error::Type(format!("{first} and {second} are devices of different backends, which have no order")))
}

/// Converts a required argument `device`. Rejects `None`: in calls that require a device, `None` would mean the current
/// device, which is rarely the intended one.
pub(crate) fn required(object: &Bound<'_, PyAny>) -> PyResult<Device> {
    if object.is_none() {
        return Err(PyTypeError::new_err("a device must be named here: an int, a name such as 'cuda:1' or a Device"));
    }
    from_argument(object.py(), Some(object))
}

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (index: "DeviceLike" = None) -> "Self")]
    fn new(py: Python<'_>, index: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(from_argument(py, index)?.into())
    }

    /// Index among the devices of the backend.
    #[getter]
    fn index(&self) -> i32 {
        self.device.index()
    }

    /// Alias of `index`.
    #[getter]
    fn id(&self) -> i32 {
        self.device.index()
    }

    /// Kind of the backend: ``'cpu'``, ``'cuda'`` or ``'hip'``.
    #[getter]
    // stub: -> Literal["cpu", "cuda", "hip"]
    fn kind(&self) -> &'static str {
        self.device.kind().name()
    }

    /// Name given by the vendor.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        Ok(py.without_gil(|| self.device.properties())?.name)
    }

    /// Identifier that is the same on every host, as ``'GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'``.
    #[getter]
    fn uuid(&self, py: Python<'_>) -> PyResult<String> {
        Ok(properties::uuid_text(self.device, &py.without_gil(|| self.device.properties())?.uuid))
    }

    /// Properties of the device: the dict that :func:`device_properties` describes.
    #[getter]
    fn properties<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        properties::dict(py, &py.without_gil(|| self.device.properties())?)
    }

    /// Returns the free and total memory.
    ///
    /// Returns
    /// -------
    /// free, total : int
    ///     Bytes. Other processes and libraries use the device too, so `free` may be less by the next call.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> free, total = PyGPU.Device().memory_info()
    /// >>> 0 <= free <= total
    /// True
    #[pyo3(signature = () -> "tuple[int, int]")]
    pub(crate) fn memory_info(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let info = py.without_gil(|| self.device.memory_info())?;
        Ok((info.free, info.total))
    }

    /// Waits until all work of the device is complete.
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     Also for earlier asynchronous work that failed.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Device().synchronize()
    #[pyo3(signature = () -> "None")]
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        fusion::flush_all_pending(py, FlushReason::StreamSync);
        Ok(py.without_gil(|| retired_objects::synchronize(self.device).and_then(|()| shutdown::report_deferred()))?)
    }

    /// Makes the device the calling thread's current one, for every library that shares the driver.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device of another backend than the default backend.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Device(0).make_current()
    #[pyo3(signature = () -> "None")]
    fn make_current(&self, py: Python<'_>) -> PyResult<()> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        Ok(py.without_gil(|| make_current(self.device))?)
    }

    /// Returns whether the device can read the memory of another device directly.
    ///
    /// Parameters
    /// ----------
    /// other : Device, int or str
    ///     The other device.
    ///
    /// Returns
    /// -------
    /// bool
    ///     Whether direct reads are possible; True if `other` is this device.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device of another backend.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Device(0).can_access_peer(0)
    /// True
    #[pyo3(signature = (other: "DeviceLike") -> "bool")]
    fn can_access_peer(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let peer = required(other)?;
        Ok(other.py().without_gil(|| reaches(self.device, peer))?)
    }

    /// Enables direct reads of another device's memory. A second call does nothing.
    ///
    /// Parameters
    /// ----------
    /// other : Device, int or str
    ///     The other device.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device of another backend.
    /// CudaError
    ///     If there is no direct path; check `can_access_peer` first.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Device(0).enable_peer_access(0)
    #[pyo3(signature = (other: "DeviceLike") -> "None")]
    fn enable_peer_access(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let peer = required(other)?;
        Ok(other.py().without_gil(|| enable_peer(self.device, peer))?)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        fusion::flush_pending(slf.py(), FlushReason::StreamSync);
        let device = slf.get().device;
        let previous = slf.py().without_gil(|| -> Result<Device> {
            let previous = device.backend().current_device()?;
            make_current(device)?;
            Device::new(device.backend(), previous)
        })?;
        ENTERED.with_borrow_mut(|entered| entered.push((device, previous)));
        Ok(slf)
    }

    #[pyo3(signature = (*_exception: "type[BaseException] | BaseException | TracebackType | None") -> "Literal[False]")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let previous = ENTERED.with_borrow_mut(|entered| {
            let position = entered.iter().rposition(|(device, _)| *device == self.device)?;
            Some(entered.remove(position).1)
        });
        let Some(previous) = previous else {
            return Err(PyRuntimeError::new_err(format!(
                "{} is left in a thread in which it was not entered",
                self.device
            )));
        };
        Ok(py.without_gil(|| previous.make_current())?)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.device == other.device
    }

    // Devices of one backend are ordered by their indices.
    // stub: def __lt__(self, other: Device, /) -> bool: ...
    fn __lt__(&self, other: &Self) -> PyResult<bool> {
        Ok(check_ordered(self.device, other.device)?.is_lt())
    }

    // stub: def __le__(self, other: Device, /) -> bool: ...
    fn __le__(&self, other: &Self) -> PyResult<bool> {
        Ok(check_ordered(self.device, other.device)?.is_le())
    }

    // stub: def __gt__(self, other: Device, /) -> bool: ...
    fn __gt__(&self, other: &Self) -> PyResult<bool> {
        Ok(check_ordered(self.device, other.device)?.is_gt())
    }

    // stub: def __ge__(self, other: Device, /) -> bool: ...
    fn __ge__(&self, other: &Self) -> PyResult<bool> {
        Ok(check_ordered(self.device, other.device)?.is_ge())
    }

    fn __int__(&self) -> i32 {
        self.device.index()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.device.kind(), self.device.index()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("Device('{}')", self.device)
    }

    /// Returns name, architecture and memory as HTML, for notebooks.
    #[pyo3(signature = () -> "str")]
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._observability.notebook_views"))?.call_method1(intern!(py, "device_html"), (slf,))
    }

    fn __str__(&self) -> String {
        self.device.to_string()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (slf.get_type().into_any(), (slf.get().__str__(),))
    }
}

names! {
    classes "Devices": PyDevice;
}
