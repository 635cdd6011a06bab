//! Converts driver handles to streams.

use std::any::Any;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::callback::SendPyObject;
use crate::convert::number;
use crate::gil::WithoutGil;
use pygpu_backend::StreamHandle;
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_memory::stream_captures;

/// Handle of the per-thread default stream in CUDA and HIP.
const PER_THREAD: usize = 2;

/// Returns the handle from the pair (version, handle) that the method `__cuda_stream__` of another library's stream
/// returned.
///
/// # Errors
/// `TypeError` for a value that is not a pair; `ValueError` for another version of the protocol.
pub(super) fn handle_from_pair(pair: &Bound<'_, PyAny>) -> PyResult<usize> {
    let invalid = || PyTypeError::new_err(format!("__cuda_stream__ gives a tuple (version, handle), not {pair:?}"));
    let pair = pair.cast::<PyTuple>().map_err(|_| invalid())?;
    if pair.len() != 2 {
        return Err(invalid());
    }
    let version = number::signed(&pair.get_item(0)?, "the version in __cuda_stream__")?;
    if version != 0 {
        return Err(PyValueError::new_err(format!(
            "__cuda_stream__ gives version {version} of the protocol, and only version 0 is known"
        )));
    }
    number::size(&pair.get_item(1)?, "the handle in __cuda_stream__")
}

/// Returns the stream with a driver handle. The stream belongs to the device that the driver reports for the handle.
/// The handle of a default stream denotes no device, so the stream belongs to `default_device`.
///
/// # Errors
/// Errors of the driver.
pub(super) fn from_handle(
    py: Python<'_>,
    handle: usize,
    default_device: Device,
    owner: Option<Py<PyAny>>,
) -> PyResult<Stream> {
    let owner = owner.map(|owner| Box::new(SendPyObject::new(owner)) as Box<dyn Any + Send + Sync>);
    let reported = if handle > PER_THREAD { py.without_gil(|| reported_device(default_device, handle))? } else { None };
    // Both 0 and 1 denote the legacy default stream. Libraries pass 1 because in programs compiled for per-thread
    // default streams, 0 denotes the per-thread default stream.
    let handle = if handle == 1 { StreamHandle::DEFAULT } else { StreamHandle(handle) };
    Ok(Stream::foreign(reported.unwrap_or(default_device), handle, owner))
}

fn reported_device(default_device: Device, handle: usize) -> Result<Option<Device>> {
    // For a capturing stream, the driver is not queried for the stream's device, because the query would invalidate the
    // capture.
    if stream_captures::number_of(&Stream::foreign(default_device, StreamHandle(handle), None))?.is_some() {
        return Ok(None);
    }
    // SAFETY: the caller of `Stream.from_handle` or the owner of the handle guarantees that the stream exists while
    // PyGPU uses it.
    match unsafe { default_device.backend().stream_device(StreamHandle(handle)) }? {
        Some(index) => Device::new(default_device.backend(), index).map(Some),
        None => Ok(None),
    }
}
