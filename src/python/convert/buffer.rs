//! Conversion of bytes to and from Python buffers.

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use pygpu_backend::{Address, HANDLE_BYTES};

/// Reads a handle of another process from any object with the buffer protocol.
pub(crate) fn handle_bytes(handle: &Bound<'_, PyAny>) -> PyResult<[u8; HANDLE_BYTES]> {
    let view = handle.py().get_type::<PyMemoryView>().call1((handle,))?;
    let bytes = handle.py().get_type::<PyBytes>().call1((view,))?.cast_into::<PyBytes>()?;
    bytes.as_bytes().try_into().map_err(|_| {
        PyValueError::new_err(format!("a handle has {HANDLE_BYTES} bytes, and {} were given", bytes.as_bytes().len()))
    })
}

/// Returns a memoryview of the bytes at an address, which are not accessed.
pub(crate) fn view_of_address(py: Python<'_>, address: Address, bytes: usize) -> PyResult<Bound<'_, PyAny>> {
    const PY_BUF_WRITE: std::ffi::c_int = 0x200;
    let length = bytes.try_into().map_err(|_| PyValueError::new_err(format!("{bytes} bytes are no buffer")))?;
    // SAFETY: creating a view does not access the memory.
    unsafe {
        let first: *mut std::ffi::c_char = std::ptr::with_exposed_provenance_mut(address);
        Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromMemory(first, length, PY_BUF_WRITE))
    }
}
