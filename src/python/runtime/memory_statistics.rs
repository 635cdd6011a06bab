//! Returns statistics of PyGPU's memory on a device, and sets the limits of this memory.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::device;
use super::ndarray_cache;
use crate::convert::number;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use pygpu_backend::quarantine;
use pygpu_base::flush_points::FlushReason;
use pygpu_copy::ring_transfer;
use pygpu_memory::{host_block_cache, pinned_cache, pool, readback, retired_objects};

/// Returns statistics of PyGPU's memory on a device.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// dict
///     `bytes` in live blocks; `peak`, the maximum of `bytes` so far; `count`, the number of live blocks.
///     `pool_reserved`, the bytes of device memory that PyGPU's memory pool holds; `pool_used`, the bytes of the pool
///     that are in use; `pool_reserved_peak` and `pool_used_peak`, the maxima of these two numbers so far. All four are
///     0 on the CPU, which has no pool. `recycled_bytes`, a part of `pool_used`, is the memory of freed small blocks
///     that are cached for the next array of their stream (:func:`trim_memory` releases them). `pinned_bytes` is the
///     pinned memory used by copies (:func:`set_pinned_limit`). `host_cache_bytes`, for the whole process, is the
///     memory cached from dropped results (:func:`set_host_cache_limit`); on the CPU it includes the memory of freed
///     blocks whose address was requested.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> sorted(PyGPU.memory_statistics())[:2]
/// ['bytes', 'count']
#[pyfunction]
#[pyo3(signature = (device: "DeviceLike" = None) -> "dict[str, int]")]
fn memory_statistics<'py>(py: Python<'py>, device: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
    fusion::flush_pending(py, FlushReason::StreamSync);
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
    dict.set_item("pinned_bytes", ring_transfer::figures(device).bytes)?;
    dict.set_item(
        "host_cache_bytes",
        host_block_cache::kept() + ndarray_cache::cached_bytes(py) + quarantine::quarantined_bytes(),
    )?;
    Ok(dict)
}

/// Sets the number of freed bytes that PyGPU keeps of a device; more are released at the next synchronisation.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes. By default all freed memory is kept for later arrays, because allocating from the driver is slow.
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

/// Returns the number of freed bytes that PyGPU keeps of a device for later arrays.
///
/// Parameters
/// ----------
/// device : int, str or Device, optional
///     The current device by default.
///
/// Returns
/// -------
/// int
///     Bytes; 2**64 - 1, the default, keeps all freed memory.
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

/// Releases unused memory that PyGPU holds of a device to the driver.
///
/// Parameters
/// ----------
/// keep : int, optional
///     Bytes of unused memory to keep.
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
/// Freed memory that running work still uses is not released: synchronize first. The call also releases cached pinned
/// host memory, for whose release the driver waits for the device, and the memory cached from dropped results
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
    fusion::flush_pending(py, FlushReason::StreamSync);
    let keep = keep.map_or(Ok(0), |keep| number::size(keep, "keep"))?;
    let device = device::from_argument(py, device)?;
    ndarray_cache::trim(0);
    let trim = || {
        retired_objects::sweep(device);
        pool::trim(device, keep)?;
        // The quarantine of freed host memory is emptied after `sweep` and `pool::trim`, because these two functions
        // add memory to it.
        quarantine::trim();
        // Readbacks are trimmed before the cache of pinned memory, because the memory of trimmed readbacks is stored in
        // this cache.
        readback::trim(device);
        pinned_cache::trim(device)?;
        ring_transfer::trim(device, 0)?;
        host_block_cache::trim(0);
        Ok::<_, pygpu_base::error::Error>(())
    };
    Ok(py.without_gil(trim)?)
}

/// Sets the limit of pinned memory for copies between pageable host memory and a device.
///
/// Parameters
/// ----------
/// nbytes : int
///     Maximum bytes per device; by default the environment variable `PYGPU_PINNED_LIMIT` or 256 MiB. If the limit is
///     below 2 MiB, all copies use the driver's own pinned buffer, which is slower.
/// device : int, str or Device, optional
///     Device on which excess memory is released immediately; the current device by default.
///
/// Raises
/// ------
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// Memory is pinned when a copy needs it: 4 MiB for each processor core, and more for asynchronous copies to a busy
/// stream. If pinning fails, copies use the driver's own pinned buffer, and `show_config()` reports the failure. A call
/// of this function makes PyGPU try to pin memory again.
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
    Ok(py.without_gil(|| ring_transfer::set_limit(device, bytes))?)
}

/// Returns the limit of pinned memory for copies between pageable host memory and a device.
///
/// Returns
/// -------
/// int
///     Bytes per device.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.pinned_limit() >= 0
/// True
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn pinned_limit() -> PyResult<usize> {
    Ok(ring_transfer::limit()?)
}

/// Sets how much memory of dropped large results PyGPU caches.
///
/// The next `get()` of about the same size reuses the memory, which avoids the time that the system needs to clear
/// new pages. The system may reclaim the pages meanwhile if it is short of memory.
///
/// Parameters
/// ----------
/// nbytes : int
///     Bytes; by default a sixteenth of the machine's memory. 0 disables the cache.
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
    ndarray_cache::trim(bytes);
    nbytes.py().without_gil(|| host_block_cache::set_limit(bytes));
    Ok(())
}

/// Returns how much memory of dropped large results PyGPU caches.
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
    host_block_cache::limit()
}

/// Sets the limit on the total memory of PyGPU's live arrays on a device.
///
/// An allocation that would exceed the limit fails as if the device had no free memory. Live arrays are not affected,
/// even if they exceed the limit.
///
/// Parameters
/// ----------
/// nbytes : int or None
///     Bytes, without memory of freed arrays in the pool (:func:`set_memory_release_threshold`); `None`, the default,
///     for no limit.
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
/// The limit also applies to arrays on the CPU. The CPU has no pool, and keeps no memory of freed arrays.
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
    fusion::flush_pending(nbytes.py(), FlushReason::StreamSync);
    let limit = if nbytes.is_none() { None } else { Some(number::size(nbytes, "nbytes")?) };
    pool::set_limit(device::from_argument(nbytes.py(), device)?, limit);
    Ok(())
}

/// Returns the limit on the total memory of PyGPU's live arrays on a device.
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
