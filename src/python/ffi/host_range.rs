//! Defines the class `_HostRange`, which represents host memory at an address. NumPy and `memoryview` read such an
//! object as a buffer.

use std::ffi::c_int;

use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit, ffi};

use crate::exported_names::names;

/// Host memory that another object owns, as a writable buffer of bytes.
///
/// Parameters
/// ----------
/// address : int
///     Address of the first byte.
/// nbytes : int
///     Number of bytes.
/// owner : object
///     Object that keeps the memory allocated.
#[pyclass(frozen, subclass, weakref, name = "_HostRange", module = "PyGPU._core")]
struct HostRange {
    address: usize,
    nbytes: isize,
    // The field is an option, because the garbage collector can visit an object before the field is written. The
    // field's bytes are then zero, which is a valid `None` but not a valid `Py`. In a complete object the field is
    // `Some`.
    owner: Option<Py<PyAny>>,
}

#[pymethods]
impl HostRange {
    #[new]
    #[pyo3(signature = (address: "int", nbytes: "int", owner: "object") -> "Self")]
    fn new(address: usize, nbytes: isize, owner: Py<PyAny>) -> Self {
        Self { address, nbytes, owner: Some(owner) }
    }

    /// Implements the buffer protocol: fills `view` with the address and size of the memory.
    ///
    /// # Safety
    /// `view` is writable, as Python guarantees for this slot.
    // stub: def __buffer__(self, flags: int, /) -> memoryview: ...
    unsafe fn __getbuffer__(slf: &Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let range = slf.get();
        // SAFETY: the caller guarantees that `view` is writable. The view holds a reference to `slf`, whose owner keeps
        // the memory allocated; the creator of the object guarantees that address and size are valid.
        let outcome = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                slf.as_ptr(),
                std::ptr::with_exposed_provenance_mut(range.address),
                range.nbytes,
                0,
                flags,
            )
        };
        if outcome == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.owner)
    }
}

names! {
    internal_classes: HostRange;
}
