//! Python's numbers: type checks, and values read without an exception if possible.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;

/// Whether an object is an int or of a derived class.
#[inline]
pub(crate) fn is_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyLong_Check(object.as_ptr()) != 0 }
}

/// Whether an object is an int, excluding derived classes.
#[inline]
pub(crate) fn is_exact_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyLong_CheckExact(object.as_ptr()) != 0 }
}

/// Whether an object is a float or of a derived class.
#[inline]
pub(crate) fn is_float(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyFloat_Check(object.as_ptr()) != 0 }
}

/// Whether an object has `__index__`.
#[inline]
pub(crate) fn is_index(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyIndex_Check(object.as_ptr()) != 0 }
}

/// Whether an object has a numeric conversion method.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyNumber_Check(object.as_ptr()) != 0 }
}

/// Returns the result of `__index__`.
///
/// # Errors
/// The object's error.
pub(crate) fn index<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a live object; null means an exception.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr())) }
}

/// Returns the value of an exact int, or -1 for -1, other objects, and larger ints, after which an exception may be set.
#[inline]
pub(crate) fn fast_integer(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object, whose value is read only if it is an int.
    unsafe {
        match ffi::PyLong_CheckExact(object.as_ptr()) {
            0 => -1,
            _ => ffi::PyLong_AsSsize_t(object.as_ptr()),
        }
    }
}

/// Exceptions for an integer of more bits than an address.
#[derive(Clone, Copy)]
pub(crate) enum TooLarge {
    Index,
    Overflow,
}

/// Returns the value of `__index__`, after [`fast_integer`] has returned -1: its exception is dropped.
///
/// # Errors
/// The object's error; the given one for an integer of more bits than an address.
pub(crate) fn integer(object: &Bound<'_, PyAny>, too_large: TooLarge) -> PyResult<isize> {
    // SAFETY: a live object, and exception classes, which are static.
    let value = unsafe {
        let class = match too_large {
            TooLarge::Index => ffi::PyExc_IndexError,
            TooLarge::Overflow => ffi::PyExc_OverflowError,
        };
        ffi::PyErr_Clear();
        ffi::PyNumber_AsSsize_t(object.as_ptr(), class)
    };
    match PyErr::take(object.py()) {
        Some(error) if value == -1 => Err(error),
        _ => Ok(value),
    }
}

/// Returns the value of an exact int as an address, without an exception; `None` for other objects.
#[inline]
pub(crate) fn exact_address(object: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: a live object, whose value is read only if it is an int; the largest number may mean an error, which is cleared.
    unsafe {
        if ffi::PyLong_CheckExact(object.as_ptr()) == 0 {
            return None;
        }
        let number = ffi::PyLong_AsSize_t(object.as_ptr());
        if number != usize::MAX {
            return Some(number);
        }
        ffi::PyErr_Clear();
        None
    }
}

/// Returns the value of an int, and whether it exceeds 64 signed bits; an undefined 0 or -1 for other objects.
#[inline]
pub(crate) fn signed(object: &Bound<'_, PyAny>) -> (i64, bool) {
    let mut overflow: c_int = 0;
    // SAFETY: a live object and memory for the result.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    (number, overflow != 0)
}

/// Returns the value of an object as 64 signed bits; `None`, without an exception, if it has none.
#[inline]
pub(crate) fn long(object: &Bound<'_, PyAny>) -> Option<i64> {
    // SAFETY: a live object; -1 may mean an exception, which is taken.
    let value = unsafe { ffi::PyLong_AsLongLong(object.as_ptr()) };
    if value == -1 && PyErr::take(object.py()).is_some() { None } else { Some(value) }
}

/// Returns the value of a float or an int.
///
/// # Errors
/// `OverflowError` for an int beyond all floats.
#[inline]
pub(crate) fn real(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    // SAFETY: a live object; -1 may mean an error, which is then set.
    let number = unsafe { ffi::PyFloat_AsDouble(object.as_ptr()) };
    if number == -1.0
        && let Some(error) = PyErr::take(object.py())
    {
        return Err(error);
    }
    Ok(number)
}
