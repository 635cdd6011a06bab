//! What PyCUDA's `Context` asks of a driver; on a backend without contexts the answers that mean nothing is set.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::gil::WithoutGil;
use super::{device as devices, number};
use crate::backend::{ContextLimit, Contexts};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::limits_of;

/// The version of a driver's interface that PyCUDA's programs know.
const USUAL_VERSION: u32 = 3020;

fn contexts(device: Device, what: &str) -> Result<&'static dyn Contexts> {
    device.backend().contexts().ok_or_else(|| Error::not_supported(format!("{what}: {device} has none")))
}

fn current(py: Python<'_>) -> PyResult<Device> {
    devices::from_argument(py, None)
}

fn limit_of(limit: &Bound<'_, PyAny>) -> PyResult<ContextLimit> {
    let number = number::int32(limit, "limit")?;
    ContextLimit::of_number(number).ok_or_else(|| PyValueError::new_err(format!("{number} is no limit of a context")))
}

/// The handle of a device's primary context; 0 on a backend without contexts.
#[pyfunction]
fn context_handle(device: &Bound<'_, PyAny>) -> PyResult<usize> {
    let found = devices::required(device)?;
    Ok(device.py().without_gil(|| found.backend().contexts().map_or(Ok(0), |all| all.handle(found.index())))?)
}

/// The version of the driver's interface that a device's primary context has.
#[pyfunction]
fn context_version(device: &Bound<'_, PyAny>) -> PyResult<u32> {
    let found = devices::required(device)?;
    let ask = || found.backend().contexts().map_or(Ok(USUAL_VERSION), |all| all.version(found.index()));
    Ok(device.py().without_gil(ask)?)
}

/// A limit of the current device.
#[pyfunction]
fn context_limit(limit: &Bound<'_, PyAny>) -> PyResult<usize> {
    let (py, limit) = (limit.py(), limit_of(limit)?);
    let device = current(py)?;
    Ok(py.without_gil(|| contexts(device, "limits of kernels")?.limit(device.index(), limit))?)
}

/// Sets a limit of the current device.
#[pyfunction]
fn set_context_limit(limit: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, limit, value) = (limit.py(), limit_of(limit)?, number::size(value, "value")?);
    let device = current(py)?;
    Ok(py.without_gil(|| contexts(device, "limits of kernels")?.set_limit(device.index(), limit, value))?)
}

/// What the first-level cache of the current device is rather used for.
#[pyfunction]
fn context_cache(py: Python<'_>) -> PyResult<i32> {
    let device = current(py)?;
    let ask = || device.backend().contexts().map_or(Ok(0), |all| all.cache_preference(device.index()));
    Ok(py.without_gil(ask)?)
}

/// Sets what the first-level cache of the current device is rather used for.
#[pyfunction]
fn set_context_cache(preference: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, preference) = (preference.py(), number::int32(preference, "preference")?);
    let device = current(py)?;
    let set = || device.backend().contexts().map_or(Ok(()), |all| all.set_cache_preference(device.index(), preference));
    Ok(py.without_gil(set)?)
}

/// Ends what `enable_peer_access` began.
#[pyfunction]
fn disable_peer_access(device: &Bound<'_, PyAny>, peer: &Bound<'_, PyAny>) -> PyResult<()> {
    let (found, peer) = (devices::required(device)?, devices::required(peer)?);
    let end = || -> Result<()> {
        devices::check_peer(found, peer)?;
        contexts(found, "access between devices")?.disable_peer_access(found.index(), peer.index())
    };
    Ok(device.py().without_gil(end)?)
}

/// Lets a profiler that waits for it begin or end; nothing happens where a driver has none.
#[pyfunction]
fn profile(py: Python<'_>, on: bool) -> PyResult<()> {
    let device = current(py)?;
    Ok(py.without_gil(|| device.backend().contexts().map_or(Ok(()), |all| all.profile(device.index(), on)))?)
}

/// What a device allows of a launch: blocks and threads along each axis, and bytes of shared memory without and with asking.
#[pyfunction]
fn launch_limits<'py>(device: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let (py, found) = (device.py(), devices::required(device)?);
    let limits = py.without_gil(|| limits_of(found))?;
    let dict = PyDict::new(py);
    dict.set_item("grid", limits.grid)?;
    dict.set_item("block", limits.block)?;
    dict.set_item("shared", (limits.shared_per_block, limits.shared_per_block_optin))?;
    Ok(dict)
}

/// Puts the functions into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(context_handle, module)?)?;
    module.add_function(wrap_pyfunction!(context_version, module)?)?;
    module.add_function(wrap_pyfunction!(context_limit, module)?)?;
    module.add_function(wrap_pyfunction!(set_context_limit, module)?)?;
    module.add_function(wrap_pyfunction!(context_cache, module)?)?;
    module.add_function(wrap_pyfunction!(set_context_cache, module)?)?;
    module.add_function(wrap_pyfunction!(disable_peer_access, module)?)?;
    module.add_function(wrap_pyfunction!(profile, module)?)?;
    module.add_function(wrap_pyfunction!(launch_limits, module)?)
}
