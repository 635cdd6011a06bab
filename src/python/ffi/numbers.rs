//! Reads Python numbers: type checks, and conversions that avoid exceptions if possible.

use std::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;

/// Returns whether an object is an instance of int or of a derived class.
#[inline]
pub(crate) fn is_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyLong_Check(object.as_ptr()) != 0 }
}

/// Returns whether an object is an int, excluding derived classes.
#[inline]
pub(crate) fn is_exact_int(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyLong_CheckExact(object.as_ptr()) != 0 }
}

/// Returns whether an object is an instance of float or of a derived class.
#[inline]
pub(crate) fn is_float(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyFloat_Check(object.as_ptr()) != 0 }
}

/// Returns whether an object has `__index__`.
#[inline]
pub(crate) fn is_index(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyIndex_Check(object.as_ptr()) != 0 }
}

/// Returns whether an object has a numeric conversion method.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the borrow keeps the object alive, and the call only reads its type.
    unsafe { ffi::PyNumber_Check(object.as_ptr()) != 0 }
}

/// Returns the result of an object's `__index__`.
///
/// # Errors
/// The error of the object's `__index__`.
pub(crate) fn index<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the borrow keeps the object alive; a null result means that an exception is set.
    unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr())) }
}

/// Returns the value of an exact int that fits into the address size. For other objects and larger ints the result is
/// -1, as for the int -1, and an exception may be set.
#[inline(always)]
pub(crate) fn fast_integer(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the borrow keeps the object alive, and its value is read only if it is an int.
    unsafe {
        match ffi::PyLong_CheckExact(object.as_ptr()) {
            0 => -1,
            _ => ffi::PyLong_AsSsize_t(object.as_ptr()),
        }
    }
}

/// Exception to raise for an integer that exceeds the address size.
#[derive(Clone, Copy)]
pub(crate) enum TooLarge {
    Index,
    Overflow,
}

/// Returns the value of an object's `__index__`. Callers use this function after [`fast_integer`] returned -1. The
/// exception of that call is dropped.
///
/// # Errors
/// The error of the object's `__index__`; the exception `too_large` for an integer that exceeds the address size.
pub(crate) fn integer(object: &Bound<'_, PyAny>, too_large: TooLarge) -> PyResult<isize> {
    // SAFETY: the borrow keeps the object alive, and the exception classes are static.
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

/// Returns the value of an exact int as an address; `None` for other objects and for ints outside the address range. No
/// exception is set.
#[inline]
pub(crate) fn exact_address(object: &Bound<'_, PyAny>) -> Option<usize> {
    // SAFETY: the borrow keeps the object alive, and its value is read only if it is an int. The result `usize::MAX`
    // may indicate an exception, which is cleared.
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

/// Returns the value of an int, and whether this value exceeds a signed 64-bit integer. For other objects the returned
/// value has no meaning.
#[inline]
pub(crate) fn signed(object: &Bound<'_, PyAny>) -> (i64, bool) {
    let mut overflow: c_int = 0;
    // SAFETY: the borrow keeps the object alive, and `overflow` has memory for the result.
    let number = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &mut overflow) };
    (number, overflow != 0)
}

/// Returns the value of an object as a signed 64-bit integer; `None` for an object that cannot be converted, and for
/// larger integers. No exception is set.
#[inline]
pub(crate) fn long(object: &Bound<'_, PyAny>) -> Option<i64> {
    // SAFETY: the borrow keeps the object alive. The result -1 may indicate an exception, which is taken.
    let value = unsafe { ffi::PyLong_AsLongLong(object.as_ptr()) };
    if value == -1 && PyErr::take(object.py()).is_some() { None } else { Some(value) }
}

/// Returns the value of a float or an int.
///
/// # Errors
/// `OverflowError` for an int outside the range of float.
#[inline]
pub(crate) fn real(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    // SAFETY: the borrow keeps the object alive. The result -1 may indicate an error, and then an exception is set.
    let number = unsafe { ffi::PyFloat_AsDouble(object.as_ptr()) };
    if number == -1.0
        && let Some(error) = PyErr::take(object.py())
    {
        return Err(error);
    }
    Ok(number)
}
