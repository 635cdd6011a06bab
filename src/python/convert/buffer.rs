//! Converts bytes to and from Python buffers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::ffi::buffer::memory_view;
use pygpu_backend::{Address, HANDLE_BYTES};

/// Reads the bytes of a memory or event handle that another process exported, from any object with the buffer protocol.
pub(crate) fn handle_bytes(handle: &Bound<'_, PyAny>) -> PyResult<[u8; HANDLE_BYTES]> {
    let view = handle.py().get_type::<PyMemoryView>().call1((handle,))?;
    let bytes = handle.py().get_type::<PyBytes>().call1((view,))?.cast_into::<PyBytes>()?;
    bytes.as_bytes().try_into().map_err(|_| {
        PyValueError::new_err(format!("a handle has {HANDLE_BYTES} bytes, and {} were given", bytes.as_bytes().len()))
    })
}

/// Returns a memoryview of the bytes at an address. The bytes are not read, because they may be in device memory.
pub(crate) fn view_of_address(py: Python<'_>, address: Address, bytes: usize) -> PyResult<Bound<'_, PyAny>> {
    memory_view(py, address, bytes)
}
