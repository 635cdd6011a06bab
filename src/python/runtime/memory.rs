//! What PyGPU holds of a device, and how much of it is kept for later.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::device;
use super::spare;
use crate::convert::number;
use crate::deferral;
use crate::gil::WithoutGil;
use crate::names::names;
use pygpu_backend::given_out;
use pygpu_base::flush::Cause;
use pygpu_copy::ring;
use pygpu_memory::{pending, pinned, pool, recycled};

/// What PyGPU holds on a device.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// dict
///     `bytes`, in live blocks; `peak`, the most there ever were; `count` of live blocks; and of the pool from which they
///     come `pool_reserved`, the bytes that it holds of the device, `pool_used`, those in use, and the most there ever were
///     of both, `pool_reserved_peak` and `pool_used_peak`. Those of the pool are 0 on the CPU, which has none.
///     `recycled_bytes` of those in use are small blocks that nobody holds and that wait for the next array of their stream
///     (:func:`trim_memory` gives them back). `pinned_bytes` are the pinned memory through which copies pass (:func:`set_pinned_limit`), and `host_cache_bytes`,
///     for the whole process, what is kept of results that nobody holds any more (:func:`set_host_cache_limit`), and on the CPU of
///     blocks that were freed after their address was asked for.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> sorted(PyGPU.memory_statistics())[:2]
/// ['bytes', 'count']
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "dict[str, int]")]
fn memory_statistics<'py>(py: Python<'py>, device: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
    deferral::close(py, Cause::Order);
    let device = device::from_argument(py, device)?;
    let figures = py.without_gil(|| pool::figures(device))?;
    let dict = PyDict::new(py);
    dict.set_item("bytes", figures.bytes)?;
    dict.set_item("peak", figures.peak)?;
    dict.set_item("count", figures.count)?;
    dict.set_item("pool_reserved", figures.pool.reserved)?;
    dict.set_item("pool_reserved_peak", figures.pool.reserved_peak)?;
    dict.set_item("pool_used", figures.pool.used)?;
    dict.set_item("pool_used_peak", figures.pool.used_peak)?;
    dict.set_item("recycled_bytes", figures.recycled)?;
    dict.set_item("pinned_bytes", ring::figures(device).bytes)?;
    dict.set_item("host_cache_bytes", recycled::kept() + spare::kept(py) + given_out::kept())?;
    Ok(dict)
}

/// Sets how many freed bytes PyGPU keeps of a device for its next arrays; what is more goes back to the driver at the next
/// synchronisation.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. At first everything is kept, since asking the driver again is slow.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> before = PyGPU.memory_release_threshold()
/// >>> PyGPU.set_memory_release_threshold(2**30)
/// >>> PyGPU.memory_release_threshold()
/// 1073741824
/// >>> PyGPU.set_memory_release_threshold(before)
#[pyfunction]
#[pyo3(signature = (nbytes: "int", device: "DeviceLike" = None) -> "None")]
fn set_memory_release_threshold(nbytes: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let py = nbytes.py();
    let bytes = number::unsigned(nbytes, "nbytes")?;
    let device = device::from_argument(py, device)?;
    Ok(py.without_gil(|| pool::set_release_threshold(device, bytes))?)
}

/// How many freed bytes PyGPU keeps of a device for its next arrays.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int
///     Bytes; 2**64 - 1, the first value, keeps everything.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.memory_release_threshold() == 2**64 - 1
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "int")]
fn memory_release_threshold(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
    Ok(pool::release_threshold(device::from_argument(py, device)?))
}

/// Gives back to the driver what PyGPU keeps of a device and does not use.
///
/// Parameters
/// ----------
/// keep : int, optional
///     Bytes to keep all the same.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// Memory that was freed behind work which still runs is not free yet: synchronize first. All pinned host memory that is kept
/// for the next use goes back too, for which the driver waits for the device, and so do results that nobody holds any more
/// (:func:`set_host_cache_limit`).
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.synchronize()
/// >>> PyGPU.trim_memory()
#[pyfunction]
#[pyo3(
    signature = (keep: "int" = None, device: "DeviceLike" = None) -> "None",
    text_signature = "(keep=0, device=None)"
)]
fn trim_memory(py: Python<'_>, keep: Option<&Bound<'_, PyAny>>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    deferral::close(py, Cause::Order);
    let keep = keep.map_or(Ok(0), |keep| number::size(keep, "keep"))?;
    let device = device::from_argument(py, device)?;
    spare::trim(0);
    let trim = || {
        pending::sweep(device);
        pool::trim(device, keep)?;
        // Behind those that give it something.
        given_out::trim();
        pinned::trim(device)?;
        ring::trim(device, 0)?;
        recycled::trim(0);
        Ok::<_, pygpu_base::error::Error>(())
    };
    Ok(py.without_gil(trim)?)
}

/// Sets how much pinned memory copies between ordinary host memory and a device pass through.
///
/// Parameters
/// ----------
/// nbytes : int
///     Most bytes for each device; the environment variable `PYGPU_PINNED_LIMIT` or 256 MiB at first. Less
///     than 2 MiB leaves all copies to the driver's own, slower staging.
/// device : int, str or Device, optional
///     Where what is too much now is given back; the current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// Memory is pinned when a copy needs it: 4 MiB for each processor core, and more for asynchronous copies to a busy stream. Where
/// the system refuses to pin, the driver's staging is used, and `show_config()` says so; this call makes PyGPU try again.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> before = PyGPU.pinned_limit()
/// >>> PyGPU.set_pinned_limit(2**26)
/// >>> PyGPU.pinned_limit()
/// 67108864
/// >>> PyGPU.set_pinned_limit(before)
#[pyfunction]
#[pyo3(signature = (nbytes: "int", device: "DeviceLike" = None) -> "None")]
fn set_pinned_limit(nbytes: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let py = nbytes.py();
    let bytes = number::size(nbytes, "nbytes")?;
    let device = device::from_argument(py, device)?;
    Ok(py.without_gil(|| ring::set_limit(device, bytes))?)
}

/// How much pinned memory copies between ordinary host memory and a device may pass through.
///
/// Returns
/// -------
/// int
///     Bytes, for each device.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.pinned_limit() >= 0
/// True
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn pinned_limit() -> PyResult<usize> {
    Ok(ring::limit()?)
}

/// Sets how much memory of large results PyGPU keeps when nobody holds them any more.
///
/// The next `get()` of about that size has its memory from there, and is then not slowed down by the system's clearing of new
/// pages. The system may take the pages meanwhile if it runs short of memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes; a sixteenth of the machine's memory at first. 0 keeps nothing.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> before = PyGPU.host_cache_limit()
/// >>> PyGPU.set_host_cache_limit(2**30)
/// >>> PyGPU.host_cache_limit()
/// 1073741824
/// >>> PyGPU.set_host_cache_limit(before)
#[pyfunction]
#[pyo3(signature = (nbytes: "int") -> "None")]
fn set_host_cache_limit(nbytes: &Bound<'_, PyAny>) -> PyResult<()> {
    let bytes = number::size(nbytes, "nbytes")?;
    spare::trim(bytes);
    nbytes.py().without_gil(|| recycled::set_limit(bytes));
    Ok(())
}

/// How much memory of large results PyGPU keeps when nobody holds them any more.
///
/// Returns
/// -------
/// int
///     Bytes.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.host_cache_limit() > 0
/// True
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn host_cache_limit() -> usize {
    recycled::limit()
}

/// Sets how much memory of a device PyGPU's live arrays may have together.
///
/// An allocation that would bring them beyond it fails as one for which the device has no room. What lives stays, also where that
/// is more.
///
/// Parameters
/// ----------
/// nbytes : int or None
///     Bytes, without what the pool keeps of freed arrays (:func:`set_memory_release_threshold`); `None`, as at first, for no limit.
/// device : int, str or Device, optional
///     The current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// On the CPU the arrays' own memory is counted as on a device. There is no pool, so that nothing is kept of freed arrays.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.set_memory_limit(2**30)
/// >>> PyGPU.memory_limit()
/// 1073741824
/// >>> PyGPU.set_memory_limit(None)
#[pyfunction]
#[pyo3(signature = (nbytes: "int | None", device: "DeviceLike" = None) -> "None")]
fn set_memory_limit(nbytes: &Bound<'_, PyAny>, device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    deferral::close(nbytes.py(), Cause::Order);
    let limit = if nbytes.is_none() { None } else { Some(number::size(nbytes, "nbytes")?) };
    pool::set_limit(device::from_argument(nbytes.py(), device)?, limit);
    Ok(())
}

/// How much memory of a device PyGPU's live arrays may have together.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int or None
///     Bytes; `None` for no limit.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.memory_limit() is None
/// True
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "int | None")]
fn memory_limit(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    Ok(pool::limit(device::from_argument(py, device)?))
}

names! {
    functions "Memory": memory_statistics, set_memory_release_threshold, memory_release_threshold, set_memory_limit,
        memory_limit, set_pinned_limit, pinned_limit, set_host_cache_limit, host_cache_limit, trim_memory;
}
