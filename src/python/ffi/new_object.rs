//! Creates objects of pyo3 classes in place.
//!
//! The reason is that pyo3 creates an object through `tp_alloc`. On Python 3.11 and 3.12 this path builds the
//! instance's `__dict__` immediately and looks up type slots by number. This costs more than creating a whole view.
//! This module allocates the object with `_PyObject_GC_New` and writes the value afterwards, as pyo3 does.
//! `tests/memory/test_lifetime.py` verifies that such an object supports garbage collection, weak references and
//! attributes like other objects.

use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class whose objects [`new_exact`] and the other functions of this module create.
///
/// # Safety
/// The class is a heap type with garbage collection and without items. Its objects consist of a header, the value at
/// [`value_offset`], and [`SLOTS`] bytes for `__dict__` and weak references. A zero slot is empty.
pub(crate) unsafe trait Collected: PyClass {}

/// Returns the offset in bytes of the Rust value in a Python object. pyo3 stores the value directly behind the header.
pub(crate) const fn value_offset<T>() -> usize {
    size_of::<ffi::PyObject>().next_multiple_of(align_of::<T>())
}

/// Size in bytes of pyo3's slots for `__dict__` and weak references, which follow the value.
pub(crate) const SLOTS: usize = 2 * size_of::<*mut ffi::PyObject>();

/// Allocates an object without a value, and returns the object and the address of its value. The garbage collector does
/// not track the object yet.
///
/// # Safety
/// The caller writes the value before other code accesses the object.
#[inline(always)]
pub(crate) unsafe fn allocate<T: Collected>(py: Python<'_>) -> PyResult<(*mut ffi::PyObject, *mut T)> {
    let end = const { value_offset::<T>() + size_of::<T>() };
    // SAFETY: `Collected` guarantees the properties of the class, and `_PyObject_GC_New` takes a reference to the
    // class. A null result means that an exception is set.
    unsafe {
        let object: *mut ffi::PyObject = ffi::PyObject_GC_New(T::type_object_raw(py));
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(end).write_bytes(0, SLOTS);
        Ok((object, object.cast::<u8>().add(value_offset::<T>()).cast()))
    }
}

/// Creates an object of the class `T` itself, not of a derived class.
///
/// # Errors
/// `MemoryError`.
#[inline]
pub(crate) fn new_exact<T: Collected>(py: Python<'_>, value: T) -> PyResult<Bound<'_, T>> {
    // SAFETY: this function writes the value before other code accesses the object, as `allocate` requires.
    unsafe {
        let (object, slot) = allocate::<T>(py)?;
        slot.write(value);
        ffi::PyObject_GC_Track(object.cast());
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}

/// Creates an object of the class `T` itself. `write` writes the value; then `set` completes the object with access to
/// its fields.
///
/// # Errors
/// `MemoryError`, and the error of `set`.
///
/// # Safety
/// `write` stores a complete value at the address that `write` receives.
#[inline(always)]
pub(crate) unsafe fn new_in_place<'py, T: Collected>(
    py: Python<'py>,
    write: impl FnOnce(*mut T),
    set: impl FnOnce(&mut T) -> PyResult<()>,
) -> PyResult<Bound<'py, T>> {
    // SAFETY: the value is written before other code accesses the object. The object is not tracked yet, so the garbage
    // collector cannot visit it while `set` runs Python code. If `set` fails, a complete object is dropped.
    unsafe {
        let (object, value) = allocate::<T>(py)?;
        write(value);
        let object: Bound<'py, T> = Bound::from_owned_ptr(py, object).cast_into_unchecked();
        set(&mut *value)?;
        ffi::PyObject_GC_Track(object.as_ptr().cast());
        Ok(object)
    }
}

/// Creates an object of a class derived from `T` without a call of `__init__`.
///
/// # Errors
/// The errors of Python.
pub(crate) fn new_derived<'py, T: Collected>(class: &Bound<'py, PyType>, value: T) -> PyResult<Bound<'py, T>> {
    let py = class.py();
    // SAFETY: the borrows keep both types alive.
    if unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), T::type_object_raw(py)) } == 0 {
        return Err(PyTypeError::new_err(format!("{class} does not derive from {}", T::type_object(py))));
    }
    // SAFETY: the class derives from `T`, so its objects begin with the fields of `T`. `tp_alloc` returns an object
    // that is zeroed, tracked, and has the `__dict__` that Python requires. No other code runs between the allocation
    // and the write of the value.
    unsafe {
        let alloc = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_alloc);
        let alloc = match alloc.is_null() {
            true => ffi::PyType_GenericAlloc,
            false => std::mem::transmute::<*mut std::ffi::c_void, ffi::allocfunc>(alloc),
        };
        let object = alloc(class.as_type_ptr(), 0);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(value_offset::<T>()).cast::<T>().write(value);
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}
