//! What `pygpu/array_view.h` asks beyond DLPack's table: whether a lent tensor may be written, of which that says nothing.

use std::ffi::{CStr, c_int, c_void};

use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::array::class::GpuArray;
use pygpu_base::ffi_guard::caught;

const NAME: &CStr = c"pygpu_c_api";

/// As `pygpu_c_api` in the header: fields are only ever added at the end, with another version.
#[repr(C)]
struct Api {
    version: u32,
    is_readonly: unsafe extern "C" fn(*mut c_void) -> c_int,
}

static API: Api = Api { version: 1, is_readonly };

/// 1 for an array that must not be written, and for what is none.
unsafe extern "C" fn is_readonly(object: *mut c_void) -> c_int {
    caught(1, || {
        // SAFETY: the header gives a live object, and its thread holds the GIL.
        let object = unsafe { Borrowed::from_ptr(Python::assume_attached(), object.cast()) };
        object.cast::<GpuArray>().map_or(1, |array| c_int::from(array.get().readonly()))
    })
}

#[pymethods]
impl GpuArray {
    /// Functions for the headers of `PyGPU.get_include()`.
    #[classattr]
    fn __pygpu_c_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        let api = (&raw const API).cast_mut().cast();
        // SAFETY: the functions and the name are static; null means an exception.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(api, NAME.as_ptr(), None)).map(Bound::unbind) }
    }
}
