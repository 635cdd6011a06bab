//! New objects of pyo3 classes, constructed in place.
//!
//! Why: pyo3 creates an object through `tp_alloc`, which on Python 3.11 and 3.12 builds the instance's `__dict__` immediately and
//! looks slots up by number. A view costs less than that. Here the garbage collector supplies the memory and the value is written,
//! as pyo3 does after its allocation. `tests/memory/test_lifetime.py` verifies that such an object is collected, weakly referenced
//! and given attributes like any other.

use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class whose objects [`new_exact`] and the other functions create.
///
/// # Safety
/// A collected heap type without items, whose objects are a header, the value at [`value_offset`], and [`SLOTS`] bytes for `__dict__` and
/// weak references, empty when zero.
pub(crate) unsafe trait Collected: PyClass {}

/// Returns the offset of the value in an object: pyo3 stores it directly behind the header.
pub(crate) const fn value_offset<T>() -> usize {
    size_of::<ffi::PyObject>().next_multiple_of(align_of::<T>())
}

/// Size of pyo3's slots for `__dict__` and weak references, behind the value.
pub(crate) const SLOTS: usize = 2 * size_of::<*mut ffi::PyObject>();

/// Allocates an object without a value, untracked by the collector, and returns the address of its value.
///
/// # Safety
/// The value is written before other code sees the object.
#[inline]
pub(crate) unsafe fn allocate<T: Collected>(py: Python<'_>) -> PyResult<(*mut ffi::PyObject, *mut T)> {
    let end = const { value_offset::<T>() + size_of::<T>() };
    // SAFETY: the class is as `Collected` guarantees, and `_PyObject_GC_New` takes a reference to it; null means that an exception
    // is set.
    unsafe {
        let object: *mut ffi::PyObject = ffi::PyObject_GC_New(T::type_object_raw(py));
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(end).write_bytes(0, SLOTS);
        Ok((object, object.cast::<u8>().add(value_offset::<T>()).cast()))
    }
}

/// Creates an object of the class itself.
///
/// # Errors
/// `MemoryError`.
#[inline]
pub(crate) fn new_exact<T: Collected>(py: Python<'_>, value: T) -> PyResult<Bound<'_, T>> {
    // SAFETY: the value is written into its memory, and then the object is complete.
    unsafe {
        let (object, slot) = allocate::<T>(py)?;
        slot.write(value);
        ffi::PyObject_GC_Track(object.cast());
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}

/// Creates an object of the class itself. `write` writes the value, and `set` completes it with access to the object's fields.
///
/// # Errors
/// `MemoryError`; the error of `set`.
///
/// # Safety
/// `write` leaves a complete value in its slot.
#[inline(always)]
pub(crate) unsafe fn new_in_place<'py, T: Collected>(
    py: Python<'py>,
    write: impl FnOnce(*mut T),
    set: impl FnOnce(&mut T) -> PyResult<()>,
) -> PyResult<Bound<'py, T>> {
    // SAFETY: the value is written before other code sees the object. It is not tracked yet, so not even the collector visits it
    // while `set` runs Python code. If `set` fails, a complete object is dropped.
    unsafe {
        let (object, value) = allocate::<T>(py)?;
        write(value);
        let object: Bound<'py, T> = Bound::from_owned_ptr(py, object).cast_into_unchecked();
        set(&mut *value)?;
        ffi::PyObject_GC_Track(object.as_ptr().cast());
        Ok(object)
    }
}

/// Creates an object of a class derived from `T`; `__init__` is not called.
///
/// # Errors
/// Python's.
pub(crate) fn new_derived<'py, T: Collected>(class: &Bound<'py, PyType>, value: T) -> PyResult<Bound<'py, T>> {
    let py = class.py();
    // SAFETY: two live types.
    if unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), T::type_object_raw(py)) } == 0 {
        return Err(PyTypeError::new_err(format!("{class} does not derive from {}", T::type_object(py))));
    }
    // SAFETY: the class derives from `T`, so its objects begin with `T`'s fields. `tp_alloc` returns them zeroed, tracked, and with
    // the `__dict__` that Python requires. No other code runs between that and the write of the value.
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
