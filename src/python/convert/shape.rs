//! Converts shapes, memory orders and axes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString, PyTuple};
use smallvec::SmallVec;

use super::argument_errors;
use crate::ffi::numbers::{self, TooLarge};
use crate::ffi::objects;

use pygpu_layout::{Dims, MemoryOrder};

/// Converts a shape: an integer, or any sequence of integers.
///
/// # Errors
/// `TypeError` for any other object; `ValueError` for a number too large to be a length.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Dims> {
    let mut lengths = Dims::new();
    read(&mut lengths, object)?;
    Ok(lengths)
}

/// Converts a shape like `from_python`, but writes the lengths into an existing list. Returning a new list would take
/// as long as reading the shape, because the list would be moved.
#[inline(always)]
pub(crate) fn read(lengths: &mut Dims, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if numbers::is_exact_int(object) {
        lengths.push(integer(object, "a shape")?);
        return Ok(());
    }
    let Ok(tuple) = object.cast_exact::<PyTuple>() else {
        *lengths = from_sequence_or_index(object)?;
        return Ok(());
    };
    for item in tuple.iter_borrowed() {
        lengths.push(integer(&item, "a shape")?);
    }
    Ok(())
}

/// Returns whether an object is a sequence. An iterable such as a set is not a sequence, because the order of its
/// elements has no meaning.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    objects::is_sequence(object) && object.len().is_ok()
}

#[cold]
#[inline(never)]
fn from_sequence_or_index(object: &Bound<'_, PyAny>) -> PyResult<Dims> {
    // Sequences are checked before integers, because an ndarray has `__index__` too, which fails unless the ndarray
    // contains a single integer.
    if is_sequence(object) && object.cast::<PyString>().is_err() {
        // A sequence of a billion items is rejected before its items are read.
        pygpu_layout::check_rank(object.len()?)?;
        return object.try_iter()?.map(|item| integer(&item?, "a shape")).collect();
    }
    if numbers::is_index(object) {
        return Ok(SmallVec::from_slice(&[integer(object, "a shape")?]));
    }
    let remedy = if object.is_instance_of::<PyFloat>() { "; write int(value)" } else { "" };
    Err(PyTypeError::new_err(format!(
        "the shape is {}; expected an integer or a tuple of integers{remedy}",
        argument_errors::describe(object)
    )))
}

/// Converts one integer of Python or NumPy.
#[inline(always)]
pub(crate) fn integer(object: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    match numbers::fast_integer(object) {
        -1 => integer_by_index(object, name),
        value => Ok(value as i64),
    }
}

/// Converts an object for which `fast_integer` returned -1: the integer -1, or an object with `__index__`. Raises the
/// errors for other objects.
#[cold]
#[inline(never)]
fn integer_by_index(object: &Bound<'_, PyAny>, name: &str) -> PyResult<i64> {
    let value = numbers::integer(object, TooLarge::Overflow).map_err(|error| integer_error(object, name, &error))?;
    Ok(value as i64)
}

#[cold]
fn integer_error(object: &Bound<'_, PyAny>, name: &str, error: &PyErr) -> PyErr {
    let py = object.py();
    if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) {
        return PyValueError::new_err(format!("Maximum allowed dimension exceeded: {name} holds {object}"));
    }
    let remedy = if object.is_instance_of::<PyFloat>() { "; write int(value)" } else { "" };
    PyTypeError::new_err(format!("{name} holds {}; expected integers{remedy}", argument_errors::describe(object)))
}

/// One of the first four arguments of a method that takes integers, or one sequence of integers.
///
/// Such a method declares four parameters of this type before `*more`, because pyo3 passes them directly from the
/// interpreter's stack. The arguments of a plain `*shape` would first be packed into a tuple, which takes a third of
/// the time of a reshape.
#[derive(Clone, Copy)]
pub(crate) struct IntegerArgument<'a, 'py>(Option<Borrowed<'a, 'py, PyAny>>);

/// Represents an argument that the caller did not pass. Python's `None` counts as a passed argument.
pub(crate) const ABSENT: IntegerArgument<'static, 'static> = IntegerArgument(None);

impl IntegerArgument<'_, '_> {
    pub(crate) fn is_absent(self) -> bool {
        self.0.is_none()
    }

    /// Returns whether the argument is `None`.
    pub(crate) fn is_none(self) -> bool {
        self.0.is_some_and(|object| object.is_none())
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for IntegerArgument<'a, 'py> {
    type Error = std::convert::Infallible;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> Result<Self, Self::Error> {
        Ok(Self(Some(object)))
    }
}

/// Reads the arguments `*shape`: integers, or one sequence of integers. Returns false if no argument was passed.
#[inline(always)]
pub(crate) fn read_arguments(
    lengths: &mut Dims,
    first: [IntegerArgument<'_, '_>; 4],
    more: &Bound<'_, PyTuple>,
) -> PyResult<bool> {
    let [IntegerArgument(Some(only)), second, ..] = first else { return Ok(false) };
    if second.is_absent() {
        read(lengths, &only)?;
        return Ok(true);
    }
    for IntegerArgument(object) in first {
        let Some(object) = object else { return Ok(true) };
        lengths.push(integer(&object, "a shape")?);
    }
    for object in more.iter_borrowed() {
        lengths.push(integer(&object, "a shape")?);
    }
    Ok(true)
}

/// A memory order, as passed in the argument `order=`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderArgument {
    /// Row-major.
    C,
    /// Column-major.
    F,
    /// The order is F if the source is F-contiguous and not C-contiguous, otherwise C.
    A,
    /// The order is as close as possible to the memory order of the source.
    K,
}

impl OrderArgument {
    /// Converts an argument `order=` to a memory order.
    ///
    /// # Errors
    /// `ValueError`, as in NumPy, for other letters; `TypeError` for an object that is not a string.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = object.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err(format!("order must be str, not {}", argument_errors::describe(object)))
        })?;
        match text.to_str()? {
            "C" | "c" => Ok(Self::C),
            "F" | "f" => Ok(Self::F),
            "A" | "a" => Ok(Self::A),
            "K" | "k" => Ok(Self::K),
            other => Err(PyValueError::new_err(format!("order must be one of 'C', 'F', 'A', or 'K' (got '{other}')"))),
        }
    }

    /// Converts the argument `order=` of functions that create an array from a shape alone. These functions accept C
    /// and F only.
    pub(crate) fn c_or_f(object: Option<&Bound<'_, PyAny>>) -> PyResult<MemoryOrder> {
        let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(MemoryOrder::C) };
        match Self::from_python(object)? {
            Self::C => Ok(MemoryOrder::C),
            Self::F => Ok(MemoryOrder::F),
            _ => Err(PyValueError::new_err(format!("only 'C' or 'F' order is permitted (got {object:?})"))),
        }
    }
}

/// Creates a tuple of Python integers.
pub(crate) fn integers<'py>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = i64>,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, items)
}
