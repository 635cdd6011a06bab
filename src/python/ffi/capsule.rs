//! Capsules of static tables and of DLPack tensors; a consumer takes a tensor out and renames its capsule.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use pygpu_base::ffi_guard::catch_panic;
use pygpu_interop::dlpack::ffi::{DLManagedTensor, DLManagedTensorVersioned};

/// Creates a capsule of a static table.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn from_static<T: Sync>(py: Python<'_>, table: &'static T, name: &'static CStr) -> PyResult<Py<PyAny>> {
    let table = std::ptr::from_ref(table).cast_mut().cast();
    // SAFETY: the table and the name are static; null means an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(table, name.as_ptr(), None)).map(Bound::unbind) }
}

/// Returns the pointer of a capsule with a name; `None` for other names, and for objects other than capsules.
pub(crate) fn pointer(object: &Bound<'_, PyAny>, name: &CStr) -> Option<NonNull<c_void>> {
    if !object.is_instance_of::<PyCapsule>() {
        return None;
    }
    // SAFETY: a live capsule. The type check first preserves an exception that may be set.
    unsafe { valid_pointer(object.as_ptr(), name) }
}

/// # Safety
/// A live capsule, or one that is being destroyed.
unsafe fn valid_pointer(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()))
    }
}

/// A version of DLPack's managed tensor.
pub(crate) trait ManagedTensor: Sized {
    /// Capsule name of an available tensor, and of a consumed one.
    const NAMES: (&'static CStr, &'static CStr);

    /// Deletes a tensor.
    ///
    /// # Safety
    /// A live tensor, which is not used afterwards.
    unsafe fn delete(tensor: NonNull<Self>);
}

impl ManagedTensor for DLManagedTensor {
    const NAMES: (&'static CStr, &'static CStr) = (c"dltensor", c"used_dltensor");

    unsafe fn delete(tensor: NonNull<Self>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tensor.as_ref().deleter.into_iter().for_each(|deleter| deleter(tensor.as_ptr())) };
    }
}

impl ManagedTensor for DLManagedTensorVersioned {
    const NAMES: (&'static CStr, &'static CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

    unsafe fn delete(tensor: NonNull<Self>) {
        // SAFETY: guaranteed by the caller.
        unsafe { tensor.as_ref().deleter.into_iter().for_each(|deleter| deleter(tensor.as_ptr())) };
    }
}

/// Creates a capsule of a tensor. The capsule deletes the tensor unless it is consumed.
///
/// # Safety
/// A live tensor, whose ownership is transferred.
///
/// # Errors
/// `MemoryError`; the tensor is leaked then, because memory is exhausted.
pub(crate) unsafe fn from_tensor<T: ManagedTensor>(py: Python<'_>, tensor: NonNull<T>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the name and the destructor are those of the tensor's form; null means an exception.
    unsafe {
        let capsule = ffi::PyCapsule_New(tensor.as_ptr().cast(), T::NAMES.0.as_ptr(), Some(drop_tensor::<T>));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn drop_tensor<T: ManagedTensor>(capsule: *mut ffi::PyObject) {
    catch_panic((), || {
        // SAFETY: PyGPU's capsule, which is being destroyed; it owns its tensor while it has its first name.
        unsafe {
            if let Some(tensor) = valid_pointer(capsule, T::NAMES.0) {
                T::delete(tensor.cast());
            }
        }
    });
}

/// Takes a tensor out of a capsule, and renames the capsule; `None` for a capsule of another name. The caller owns the tensor.
///
/// # Errors
/// Python's; `BufferError` for an empty capsule.
pub(crate) fn take_tensor<T: ManagedTensor>(capsule: &Bound<'_, PyAny>) -> PyResult<Option<NonNull<T>>> {
    // SAFETY: a type check, then a live capsule, whose new name is static.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), T::NAMES.0.as_ptr()) == 0 {
            return Ok(None);
        }
        let tensor = ffi::PyCapsule_GetPointer(capsule.as_ptr(), T::NAMES.0.as_ptr());
        if tensor.is_null() || ffi::PyCapsule_SetName(capsule.as_ptr(), T::NAMES.1.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        NonNull::new(tensor.cast()).map(Some).ok_or_else(|| PyBufferError::new_err("the DLPack capsule is empty"))
    }
}

/// Returns the name of a capsule, if it has one.
pub(crate) fn capsule_name(capsule: &Bound<'_, PyCapsule>) -> Option<String> {
    // SAFETY: a live capsule; its name, if any, lives as long.
    let name = unsafe {
        let name = ffi::PyCapsule_GetName(capsule.as_ptr());
        if name.is_null() { None } else { Some(CStr::from_ptr(name).to_string_lossy().into_owned()) }
    };
    // A capsule without a name is no error; the query leaves no exception.
    drop(PyErr::take(capsule.py()));
    name
}
