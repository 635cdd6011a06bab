//! Capsules that contain DLPack tensors: their names, their creation from an array, and their destruction if no
//! consumer took the tensor.

use std::ffi::CStr;
use std::ptr::NonNull;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::deferral;
use pygpu_array::Array;
use pygpu_base::ffi_guard::caught;
use pygpu_base::flush::Cause;
use pygpu_device::stream::Stream;
use pygpu_interop::dlpack::ffi::{DLManagedTensor, DLManagedTensorVersioned};
use pygpu_interop::dlpack::{DlpackFlags, export};

/// Names of a capsule with an unversioned tensor, before and after it was taken.
pub(crate) const LEGACY: (&CStr, &CStr) = (c"dltensor", c"used_dltensor");
/// Names of a capsule with a versioned tensor.
pub(crate) const VERSIONED: (&CStr, &CStr) = (c"dltensor_versioned", c"used_dltensor_versioned");

pub(crate) fn capsule<'py>(
    py: Python<'py>,
    array: &Array,
    versioned: bool,
    flags: DlpackFlags,
    consumer: Option<Stream>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: each tensor is new, and has the name and the destructor of its format.
    let capsule = unsafe {
        if versioned {
            wrap(py, export::versioned(array, flags, consumer)?, VERSIONED.0, drop_versioned)
        } else {
            wrap(py, export::legacy(array, consumer)?, LEGACY.0, drop_legacy)
        }
    }?;
    deferral::close(py, Cause::Values); // operations that another thread deferred while this one waited
    Ok(capsule)
}

/// Creates a capsule.
///
/// # Safety
/// The name and the destructor match the tensor's format.
unsafe fn wrap<'py, M>(
    py: Python<'py>,
    managed: NonNull<M>,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: guaranteed by the caller. Null means that there is no memory for the capsule; the small tensor is then
    // leaked.
    unsafe {
        let made = ffi::PyCapsule_New(managed.as_ptr().cast(), name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Returns the tensor of a capsule from which no consumer took it: a consumer renames the capsule.
unsafe fn untaken<M>(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<M>> {
    // SAFETY: a capsule that is being destroyed. The validity check leaves a pending exception unchanged.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()).cast())
    }
}

unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    caught((), || {
        // SAFETY: PyGPU's capsule; it owns its tensor while it has its first name.
        unsafe {
            if let Some(tensor) = untaken::<DLManagedTensor>(capsule, LEGACY.0)
                && let Some(deleter) = tensor.as_ref().deleter
            {
                deleter(tensor.as_ptr());
            }
        }
    });
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    caught((), || {
        // SAFETY: as above.
        unsafe {
            if let Some(tensor) = untaken::<DLManagedTensorVersioned>(capsule, VERSIONED.0)
                && let Some(deleter) = tensor.as_ref().deleter
            {
                deleter(tensor.as_ptr());
            }
        }
    });
}

/// Reads a tuple of two integers.
///
/// # Errors
/// `TypeError` for any other object.
#[inline]
pub(crate) fn pair(object: &Bound<'_, PyAny>, what: &str) -> PyResult<(i64, i64)> {
    let wrong = || PyTypeError::new_err(format!("{what} is a tuple of two integers, not {object:?}"));
    let tuple = object.cast::<PyTuple>().map_err(|_| wrong())?;
    if tuple.len() != 2 {
        return Err(wrong());
    }
    let integer = |position| {
        let item = tuple.get_borrowed_item(position)?;
        // SAFETY: a live object; -1 may mean an exception, which is cleared.
        let value = unsafe { ffi::PyLong_AsLongLong(item.as_ptr()) };
        if value == -1 && PyErr::take(object.py()).is_some() { Err(wrong()) } else { Ok(value) }
    };
    Ok((integer(0)?, integer(1)?))
}
