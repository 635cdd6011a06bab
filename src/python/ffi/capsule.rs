//! Creates and reads capsules of static tables and of DLPack tensors. A consumer takes the tensor out of a capsule and
//! renames the capsule.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use pygpu_base::ffi_guard::catch_panic;
use pygpu_interop::dlpack::ffi::{DLManagedTensor, DLManagedTensorVersioned};

/// Creates a capsule that points to a static table.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn from_static<T: Sync>(py: Python<'_>, table: &'static T, name: &'static CStr) -> PyResult<Py<PyAny>> {
    let table = std::ptr::from_ref(table).cast_mut().cast();
    // SAFETY: the table and the name are static, so the capsule may refer to them. A null result means that an
    // exception is set.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(table, name.as_ptr(), None)).map(Bound::unbind) }
}

/// Returns the pointer that a capsule named `name` contains; `None` for capsules with other names and for other
/// objects.
pub(crate) fn pointer(object: &Bound<'_, PyAny>, name: &CStr) -> Option<NonNull<c_void>> {
    if !object.is_instance_of::<PyCapsule>() {
        return None;
    }
    // SAFETY: the cast above has shown that the object is a capsule, and the borrow keeps it alive. The type check
    // comes first because it preserves an exception that may be set.
    unsafe { valid_pointer(object.as_ptr(), name) }
}

/// Returns the pointer that a capsule named `name` contains; `None` for capsules with other names.
///
/// # Safety
/// `capsule` is a live capsule, or a capsule that is being destroyed.
unsafe fn valid_pointer(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the caller guarantees that the capsule is alive or being destroyed.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()))
    }
}

/// One of the two struct versions of DLPack's managed tensor.
pub(crate) trait ManagedTensor: Sized {
    /// The two names of a capsule: for a tensor that is still available, and for a consumed tensor.
    const NAMES: (&'static CStr, &'static CStr);

    /// Calls the deleter of a tensor, if the tensor has a deleter.
    ///
    /// # Safety
    /// The tensor is alive, and the caller does not use it after this call.
    unsafe fn delete(tensor: NonNull<Self>);
}

impl ManagedTensor for DLManagedTensor {
    const NAMES: (&'static CStr, &'static CStr) = (c"dltensor", c"used_dltensor");

    unsafe fn delete(tensor: NonNull<Self>) {
        // SAFETY: the caller guarantees that the tensor is alive and not used afterwards.
        unsafe { tensor.as_ref().deleter.into_iter().for_each(|deleter| deleter(tensor.as_ptr())) };
    }
}

impl ManagedTensor for DLManagedTensorVersioned {
    const NAMES: (&'static CStr, &'static CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

    unsafe fn delete(tensor: NonNull<Self>) {
        // SAFETY: the caller guarantees that the tensor is alive and not used afterwards.
        unsafe { tensor.as_ref().deleter.into_iter().for_each(|deleter| deleter(tensor.as_ptr())) };
    }
}

/// Creates a capsule that owns a tensor. The capsule deletes the tensor unless a consumer takes it.
///
/// # Safety
/// The tensor is alive, and the caller transfers its ownership.
///
/// # Errors
/// `MemoryError`. The tensor is then leaked, because memory is exhausted.
pub(crate) unsafe fn from_tensor<T: ManagedTensor>(py: Python<'_>, tensor: NonNull<T>) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the static name and the destructor are those for the tensor's DLPack version; a null result means that an
    // exception is set.
    unsafe {
        let capsule = ffi::PyCapsule_New(tensor.as_ptr().cast(), T::NAMES.0.as_ptr(), Some(drop_tensor::<T>));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn drop_tensor<T: ManagedTensor>(capsule: *mut ffi::PyObject) {
    catch_panic((), || {
        // SAFETY: PyGPU created the capsule, which is being destroyed. A consumer that takes the tensor renames the
        // capsule, so the capsule still owns its tensor if its name is the first of `NAMES`.
        unsafe {
            if let Some(tensor) = valid_pointer(capsule, T::NAMES.0) {
                T::delete(tensor.cast());
            }
        }
    });
}

/// Takes a tensor out of a capsule and renames the capsule; `None` for a capsule with another name. The caller owns the
/// tensor.
///
/// # Errors
/// Errors of Python's capsule functions; `BufferError` for an empty capsule.
pub(crate) fn take_tensor<T: ManagedTensor>(capsule: &Bound<'_, PyAny>) -> PyResult<Option<NonNull<T>>> {
    // SAFETY: the borrow keeps the capsule alive, its name was checked before the access to its pointer, and the new
    // name is static.
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

/// Returns the name of a capsule, or `None` if it has no name.
pub(crate) fn capsule_name(capsule: &Bound<'_, PyCapsule>) -> Option<String> {
    // SAFETY: the borrow keeps the capsule alive, and its name lives as long as the capsule.
    let name = unsafe {
        let name = ffi::PyCapsule_GetName(capsule.as_ptr());
        if name.is_null() { None } else { Some(CStr::from_ptr(name).to_string_lossy().into_owned()) }
    };
    // For a capsule without a name, the query may set an exception. This is no error, so the exception is dropped.
    drop(PyErr::take(capsule.py()));
    name
}
