//! Function that `pygpu/array_view.h` needs in addition to DLPack's table: whether an exported tensor is read-only,
//! which the table does not contain.

use std::ffi::{CStr, c_int, c_void};

use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::array::class::GpuArray;
use pygpu_base::ffi_guard::caught;

const NAME: &CStr = c"pygpu_c_api";

/// Matches `pygpu_c_api` in the header: fields are only appended, with a new version.
#[repr(C)]
struct Api {
    version: u32,
    is_readonly: unsafe extern "C" fn(*mut c_void) -> c_int,
}

static API: Api = Api { version: 1, is_readonly };

/// Returns 1 for a read-only array, and for an object that is not an array.
unsafe extern "C" fn is_readonly(object: *mut c_void) -> c_int {
    caught(1, || {
        // SAFETY: the header passes a live object, and its thread holds the GIL.
        let object = unsafe { Borrowed::from_ptr(Python::assume_attached(), object.cast()) };
        object.cast::<GpuArray>().map_or(1, |array| c_int::from(array.get().readonly()))
    })
}

#[pymethods]
impl GpuArray {
    /// Returns the functions for the headers of `PyGPU.get_include()`.
    #[classattr]
    fn __pygpu_c_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        let api = (&raw const API).cast_mut().cast();
        // SAFETY: the functions and the name are static; null means an exception.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(api, NAME.as_ptr(), None)).map(Bound::unbind) }
    }
}
