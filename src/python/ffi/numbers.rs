//! Python's numbers: type checks, and values read without an exception where that is possible.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;

/// Whether an object is an int, of a class that derives from it too.
#[inline]
pub(crate) fn is_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyLong_Check(object.as_ptr()) != 0 }
}

/// Whether an object is an int and of no class that derives from it.
#[inline]
pub(crate) fn is_exact_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyLong_CheckExact(object.as_ptr()) != 0 }
}

/// Whether an object is a float, of a class that derives from it too.
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

/// Whether an object has one of the methods that make a number.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    unsafe { ffi::PyNumber_Check(object.as_ptr()) != 0 }
}

/// The int that `__index__` returns.
///
/// # Errors
/// That of the object.
pub(crate) fn index<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a live object; null means an exception.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr())) }
}

/// The value of an exact int, or -1: for -1, for anything else, and for an int of more bits, after which an exception may be set.
#[inline]
pub(crate) fn quick_integer(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: a live object, which is an int where its value is read.
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

/// The value of `__index__`, after [`quick_integer`] has returned -1: its exception is dropped.
///
/// # Errors
/// That of the object; the given one for an integer of more bits than an address.
pub(crate) fn integer(object: &Bound<'_, PyAny>, too_large: TooLarge) -> PyResult<isize> {
    // SAFETY: a live object, and classes of exceptions, which are static.
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

/// The value of an exact int as an address, without an exception; `None` for anything else.
#[inline]
pub(crate) fn exact_address(object: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: a live object, which is an int where its value is read; the largest number may mean an error, which is cleared.
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

/// The value of an int, and whether 64 bits with a sign do not hold it; 0 or -1 for anything else, without a meaning.
#[inline]
pub(crate) fn signed(object: &Bound<'_, PyAny>) -> (i64, bool) {
    let mut overflow: c_int = 0;
    // SAFETY: a live object and a place for the answer.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    (number, overflow != 0)
}

/// The value of an object as 64 bits with a sign; `None`, without an exception, if it has none.
#[inline]
pub(crate) fn long(object: &Bound<'_, PyAny>) -> Option<i64> {
    // SAFETY: a live object; -1 may mean an exception, which is taken.
    let value = unsafe { ffi::PyLong_AsLongLong(object.as_ptr()) };
    if value == -1 && PyErr::take(object.py()).is_some() { None } else { Some(value) }
}

/// The value of a float, or of an int.
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
