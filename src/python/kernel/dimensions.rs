//! Converts Python objects to launch shapes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::number;
use crate::ffi::numbers;

/// Converts an int or a sequence of up to three ints to the number of blocks or threads along each axis.
#[inline]
pub(crate) fn extent(value: &Bound<'_, PyAny>, name: &str) -> PyResult<[u32; 3]> {
    if numbers::is_exact_int(value) {
        return Ok([parse_u32(value, name)?, 1, 1]);
    }
    let mut lengths = [1; 3];
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        if !(1..=3).contains(&tuple.len()) {
            return Err(invalid_extent(value, name));
        }
        for (length, item) in lengths.iter_mut().zip(tuple.iter_borrowed()) {
            *length = parse_u32(&item, name)?;
        }
        return Ok(lengths);
    }
    // Iteration is tried before `__index__`, because an ndarray with a single integer may support both, and counts as a
    // sequence of lengths.
    match value.try_iter() {
        Ok(items) => extent(PyTuple::new(value.py(), items.collect::<PyResult<Vec<_>>>()?)?.as_any(), name),
        Err(_) if numbers::is_index(value) => Ok([parse_u32(value, name)?, 1, 1]),
        Err(_) => Err(invalid_extent(value, name)),
    }
}

#[cold]
fn invalid_extent(value: &Bound<'_, PyAny>, name: &str) -> PyErr {
    PyTypeError::new_err(format!("{name} is an int or a tuple of one to three, not {value}"))
}

/// Converts a Python integer to an unsigned 32-bit number.
#[inline]
pub(crate) fn parse_u32(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    match u32::try_from(numbers::fast_integer(value)) {
        Ok(parsed) => Ok(parsed),
        Err(_) => parse_u32_checked(value, name),
    }
}

#[cold]
fn parse_u32_checked(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    // `fast_integer` may have set an exception. It is dropped, because the conversion below raises an exception whose
    // message contains the argument's name.
    drop(PyErr::take(value.py()));
    let parsed = number::unsigned(value, name)?;
    u32::try_from(parsed).map_err(|_| PyValueError::new_err(format!("{name} is {parsed}, more than any device takes")))
}
