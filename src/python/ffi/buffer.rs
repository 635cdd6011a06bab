//! Accesses objects through Python's buffer protocol.

use std::ffi::{c_char, c_int};

use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Returns whether an object supports the buffer protocol.
pub(crate) fn has_buffer(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) != 0 }
}

/// Calls `read` with the bytes of an object's buffer. The buffer stays valid during the call.
///
/// # Errors
/// The object's error; `BufferError` for bytes that are not contiguous.
pub(crate) fn with_bytes<T>(object: &Bound<'_, PyAny>, read: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    struct BufferView(ffi::Py_buffer);
    impl Drop for BufferView {
        fn drop(&mut self) {
            // SAFETY: `PyObject_GetBuffer` filled the buffer, and this drop is its only release.
            unsafe { ffi::PyBuffer_Release(&mut self.0) };
        }
    }
    let mut view = BufferView(ffi::Py_buffer::new());
    // SAFETY: the borrow keeps the object alive, and `view` has memory for the result.
    if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut view.0, ffi::PyBUF_SIMPLE as c_int) } != 0 {
        return Err(PyErr::fetch(object.py()));
    }
    let BufferView(buffer) = &view;
    let bytes = match buffer.len {
        0 => &[][..],
        // SAFETY: `PyObject_GetBuffer` returned a buffer of `length` contiguous bytes, which stay valid until the view
        // is released.
        length => unsafe { std::slice::from_raw_parts(buffer.buf.cast::<u8>(), length as usize) },
    };
    Ok(read(bytes))
}

/// Returns a writable `memoryview` at an address, for Python code that passes it to C functions. Creating the
/// `memoryview` reads no memory.
///
/// # Errors
/// `ValueError` if `bytes` exceeds the maximum size of a buffer.
pub(crate) fn memory_view(py: Python<'_>, address: usize, bytes: usize) -> PyResult<Bound<'_, PyAny>> {
    const PY_BUF_WRITE: c_int = 0x200;
    let length = bytes.try_into().map_err(|_| PyValueError::new_err(format!("{bytes} bytes are no buffer")))?;
    // SAFETY: creating a `memoryview` does not access the memory at the address. A null result means that an exception
    // is set.
    unsafe {
        let first: *mut c_char = std::ptr::with_exposed_provenance_mut(address);
        Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromMemory(first, length, PY_BUF_WRITE))
    }
}
