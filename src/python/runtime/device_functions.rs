//! Defines functions that query or configure a device.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::device::{enable_peer, from_argument, make_current, reaches, required};
use super::properties;
use super::raw_memory;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use pygpu_backend as backend;
use pygpu_base::flush_points::FlushReason;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_memory::pool;
use pygpu_ops::library_objects;

/// Returns the number of devices of the default backend; at least one.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.device_count() >= 1
/// True
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn device_count(py: Python<'_>) -> PyResult<i32> {
    Ok(py.without_gil(backend::default_backend)?.device_count())
}

/// Returns the index of the calling thread's current device, which every library that uses the driver shares.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.current_device()
/// 0
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn current_device(py: Python<'_>) -> PyResult<i32> {
    Ok(py.without_gil(Device::current)?.index())
}

/// Makes a device the calling thread's current one.
///
/// Parameters
/// ----------
/// device : int, str or Device
///     A device of the default backend.
///
/// Raises
/// ------
/// ValueError
///     For a device that does not exist, or of another backend than the default backend.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.set_device(0)
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike") -> "None")]
fn set_device(device: &Bound<'_, PyAny>) -> PyResult<()> {
    fusion::flush_all_pending(device.py(), FlushReason::StreamSync);
    let selected = required(device)?;
    Ok(device.py().without_gil(|| make_current(selected))?)
}

/// Sets the default device of all threads, and the calling thread's current device.
///
/// Parameters
/// ----------
/// device : int, str or Device
///     A device of the default backend.
///
/// Raises
/// ------
/// ValueError
///     For a device that does not exist, or of another backend than the default backend.
///
/// Notes
/// -----
/// A driver stores the current device per thread; a new thread starts with device 0. This function and the
/// environment variable ``PYGPU_DEVICE`` replace that default for the whole process. A thread in which any library
/// has made a device current is not affected.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.set_default_device(0)
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike") -> "None")]
fn set_default_device(device: &Bound<'_, PyAny>) -> PyResult<()> {
    fusion::flush_all_pending(device.py(), FlushReason::StreamSync);
    let selected = required(device)?;
    Ok(device.py().without_gil(|| {
        make_current(selected)?;
        backend::set_default_device(selected.kind(), selected.index());
        Ok::<_, pygpu_base::error::Error>(())
    })?)
}

/// Returns whether the work on a stream ends within a second, without an error.
fn ends_soon(stream: &Stream) -> bool {
    let begun = Instant::now();
    loop {
        match stream.query() {
            Ok(false) if begun.elapsed() < Duration::from_secs(1) => std::thread::sleep(Duration::from_millis(1)),
            outcome => return outcome.unwrap_or(false),
        }
    }
}

/// Destroys all objects of the process on a device: memory, streams, events, kernels.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Warnings
/// --------
/// The call also destroys the objects of *other* libraries of the process on the device, without notifying these
/// libraries: using such objects afterwards may crash the process. Pinned host memory of the device is unmapped, so an
/// ndarray over this memory must not be accessed any more. PyGPU's own arrays, streams and events of the device raise
/// `ValueError` afterwards.
///
/// Notes
/// -----
/// The call has no effect on the CPU, because host memory belongs to its arrays.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.reset_device('cpu')
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "None")]
fn reset_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    fusion::flush_all_pending(py, FlushReason::StreamSync);
    let device = from_argument(py, device)?;
    if device.is_cpu() {
        return Ok(());
    }
    Ok(py.without_gil(|| {
        // The objects of the vendors' libraries are leaked if the device's work does not end, because their destruction
        // would wait for it. They are also leaked if the driver's context has an error, because the libraries'
        // functions may then fail.
        if ends_soon(&Stream::default_of(device)) {
            library_objects::destroy(device)?;
        }
        // SAFETY: the Python docstring states the caller's obligations for objects of other libraries. PyGPU's own
        // objects are safe: before each use, they compare the number of the device's resets with that at their
        // creation.
        unsafe { device.reset()? };
        pool::forget(device);
        raw_memory::forget(device);
        Ok::<_, pygpu_base::error::Error>(())
    })?)
}

/// Returns the properties of a device.
///
/// Parameters
/// ----------
/// device : int, str or Device
///     The device.
///
/// Returns
/// -------
/// dict
///     `name`; `uuid`, 16 bytes; `pci_domain`, `pci_bus` and `pci_device`; `compute_capability`, a pair of ints;
///     `architecture` in the spelling of compilers; `total_memory` in bytes; `multiprocessor_count`; `warp_size`;
///     `max_threads_per_block`; `l2_cache_size` in bytes; `clock_rate` in kHz, 0 if the driver does not report it;
///     `memory_pools`, whether stream-ordered allocation is supported; `integrated`, whether host and device share
///     memory; `async_engine_count`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.device_properties(0)['total_memory'] > 0
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike") -> "dict[str, Any]")]
fn device_properties<'py>(device: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let selected = required(device)?;
    properties::dict(device.py(), &device.py().without_gil(|| selected.properties())?)
}

/// Returns the free and total memory of a device.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// free, total : int
///     Bytes.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> free, total = PyGPU.memory_info()
/// >>> 0 <= free <= total
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "tuple[int, int]")]
fn memory_info(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<(usize, usize)> {
    fusion::flush_all_pending(py, FlushReason::StreamSync);
    let device = from_argument(py, device)?;
    let info = py.without_gil(|| device.memory_info())?;
    Ok((info.free, info.total))
}

/// Returns the version of the default backend's driver: 12080 for CUDA 12.8, 60443483 for HIP 6.4.43483, 0 on the CPU.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.driver_version() >= 0
/// True
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn driver_version(py: Python<'_>) -> PyResult<i32> {
    Ok(py.without_gil(backend::default_backend)?.driver_version())
}

/// Returns the name of the default backend: ``'cuda'``, ``'hip'`` or ``'cpu'``.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.backend_name() in ('cuda', 'hip', 'cpu')
/// True
#[pyfunction]
#[pyo3(signature = () -> "Literal['cpu', 'cuda', 'hip']")]
fn backend_name(py: Python<'_>) -> PyResult<&'static str> {
    Ok(py.without_gil(backend::default_backend)?.kind().name())
}

/// Returns whether a device can read the memory of another one directly.
///
/// Parameters
/// ----------
/// device, peer : int, str or Device
///     The reader and the owner of the memory.
///
/// Returns
/// -------
/// bool
///     Whether direct reads are possible; True if both arguments are the same device.
///
/// Raises
/// ------
/// ValueError
///     For devices of different backends.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.can_access_peer(0, 0)
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike", peer: "DeviceLike") -> "bool")]
fn can_access_peer(device: &Bound<'_, PyAny>, peer: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (reader, owner) = (required(device)?, required(peer)?);
    Ok(device.py().without_gil(|| reaches(reader, owner))?)
}

/// Enables direct reads of a device from another device's memory. A second call does nothing.
///
/// Parameters
/// ----------
/// device, peer : int, str or Device
///     The reader and the owner of the memory.
///
/// Raises
/// ------
/// ValueError
///     For devices of different backends.
/// CudaError
///     If there is no direct path; check `can_access_peer` first.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.enable_peer_access(0, 0)
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike", peer: "DeviceLike") -> "None")]
fn enable_peer_access(device: &Bound<'_, PyAny>, peer: &Bound<'_, PyAny>) -> PyResult<()> {
    let (reader, owner) = (required(device)?, required(peer)?);
    Ok(device.py().without_gil(|| enable_peer(reader, owner))?)
}

names! {
    functions "Devices": device_count, current_device, set_device, set_default_device, reset_device,
        device_properties, can_access_peer, enable_peer_access;
    functions "Memory": memory_info;
    functions "What was found": driver_version, backend_name;
}
