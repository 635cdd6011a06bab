//! Defines the C function table through which code that includes the header `pygpu/array_view.h` calls PyGPU.

use std::ffi::{CStr, c_int, c_void};

use pyo3::Borrowed;
use pyo3::prelude::*;

use pygpu_base::ffi_guard::catch_panic;

/// Name of the capsule that contains a [`CHeaderTable`].
pub(crate) const NAME: &CStr = c"pygpu_c_api";

/// The struct `pygpu_c_api` that the header declares. New fields are only added at the end, with a new version number.
#[repr(C)]
pub(crate) struct CHeaderTable {
    version: u32,
    is_readonly: unsafe extern "C" fn(*mut c_void) -> c_int,
}

/// Rust functions that implement the C functions of [`CHeaderTable`]. A trait is used because the implementation needs
/// the array class, and this module does not depend on the array class.
pub(crate) trait ArrayHeader {
    /// Returns whether an object must not be written; true for objects other than arrays.
    fn is_readonly(object: &Bound<'_, PyAny>) -> bool;
}

impl CHeaderTable {
    pub(crate) const fn new<T: ArrayHeader>() -> Self {
        Self { version: 1, is_readonly: is_readonly::<T> }
    }
}

/// Returns 1 for an array that must not be written and for objects that are no arrays; otherwise 0.
unsafe extern "C" fn is_readonly<T: ArrayHeader>(object: *mut c_void) -> c_int {
    catch_panic(1, || {
        // SAFETY: the header requires that the object is alive and that the calling thread holds the GIL.
        let object = unsafe { Borrowed::from_ptr(Python::assume_attached(), object.cast()) };
        c_int::from(T::is_readonly(&object))
    })
}
