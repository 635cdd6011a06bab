//! Converts Python integers. Errors contain the name of the argument. A bool is rejected: `device=True` or
//! `nbytes=False` is most likely a typo. So is NumPy's bool, which has an `__index__` before NumPy 2.3.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::ffi::ndarray::is_bool;
use crate::ffi::numbers;

fn index<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    if numbers::is_exact_int(object) {
        return Ok(object.clone());
    }
    if !numbers::is_index(object) || is_bool(object) {
        let class = object.get_type().fully_qualified_name()?;
        return Err(PyTypeError::new_err(format!("{name} is an int, not {class}")));
    }
    numbers::index(object)
}

/// Converts a Python integer of any sign to a 64-bit number.
///
/// # Errors
/// `TypeError` for non-integers, including bools; `ValueError` for integers that exceed 64 bits.
pub(crate) fn signed(object: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    let number = index(object, name)?;
    number.extract().map_err(|_| PyValueError::new_err(format!("{name} is {number}, which no 64 bits hold")))
}

/// Converts a Python integer of any sign to a 32-bit number.
///
/// # Errors
/// The errors of `signed`; `ValueError` for integers that exceed 32 bits.
pub(crate) fn int32(object: &Bound<'_, PyAny>, name: &str) -> PyResult<i32> {
    let number = signed(object, name)?;
    i32::try_from(number).map_err(|_| PyValueError::new_err(format!("{name} is {number}, which no 32 bits hold")))
}

/// Converts a non-negative Python integer (a size, a handle or an address) to an unsigned 64-bit number.
///
/// # Errors
/// `TypeError` for non-integers, including bools; `ValueError` for negative integers and those that exceed 64 bits.
pub(crate) fn unsigned(object: &Bound<'_, PyAny>, name: &str) -> PyResult<u64> {
    let number = index(object, name)?;
    number.extract().map_err(|_| match number.lt(0) {
        Ok(true) => PyValueError::new_err(format!("{name} is {number}, and cannot be negative")),
        _ => PyValueError::new_err(format!("{name} is {number}, which no 64 bits hold")),
    })
}

/// Converts a non-negative Python integer (a number of bytes, an address or a handle) to a number of the machine's
/// width.
///
/// # Errors
/// The errors of `unsigned`; `ValueError` for integers that exceed the machine's width.
pub(crate) fn size(object: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let number = unsigned(object, name)?;
    usize::try_from(number)
        .map_err(|_| PyValueError::new_err(format!("{name} is {number}, more than this machine has")))
}
