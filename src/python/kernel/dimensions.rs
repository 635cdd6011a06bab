//! Conversion of launch shapes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::convert::number;
use crate::ffi::numbers;

/// Parses a number of blocks or threads along each axis.
#[inline]
pub(crate) fn extent(value: &Bound<'_, PyAny>, what: &str) -> PyResult<[u32; 3]> {
    if numbers::is_exact_int(value) {
        return Ok([number_of(value, what)?, 1, 1]);
    }
    let mut lengths = [1; 3];
    if let Ok(tuple) = value.cast_exact::<PyTuple>() {
        if !(1..=3).contains(&tuple.len()) {
            return Err(wrong_extent(value, what));
        }
        for (length, item) in lengths.iter_mut().zip(tuple.iter_borrowed()) {
            *length = number_of(&item, what)?;
        }
        return Ok(lengths);
    }
    // An ndarray has `__index__`, but only for a single integer; as a sequence it is a shape.
    match value.try_iter() {
        Ok(items) => extent(PyTuple::new(value.py(), items.collect::<PyResult<Vec<_>>>()?)?.as_any(), what),
        Err(_) if numbers::is_index(value) => Ok([number_of(value, what)?, 1, 1]),
        Err(_) => Err(wrong_extent(value, what)),
    }
}

#[cold]
fn wrong_extent(value: &Bound<'_, PyAny>, what: &str) -> PyErr {
    PyTypeError::new_err(format!("{what} is an int or a tuple of one to three, not {value}"))
}

/// Parses an unsigned 32-bit number.
#[inline]
pub(crate) fn number_of(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    match u32::try_from(numbers::fast_integer(value)) {
        Ok(found) => Ok(found),
        Err(_) => number_by_float(value, what),
    }
}

#[cold]
fn number_by_float(value: &Bound<'_, PyAny>, what: &str) -> PyResult<u32> {
    // An exception of the fast path is raised again with the argument's name.
    drop(PyErr::take(value.py()));
    let found = number::unsigned(value, what)?;
    u32::try_from(found).map_err(|_| PyValueError::new_err(format!("{what} is {found}, more than any device takes")))
}
