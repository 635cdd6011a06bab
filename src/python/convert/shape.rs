//! Shapes, orders and axes as Python spells them.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use smallvec::SmallVec;

use pygpu_layout::{Dims, Order};

/// A shape: an integer, or any sequence of integers.
///
/// # Errors
/// `TypeError` for anything else; `ValueError` for a number too large to be a length.
pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Dims> {
    let mut lengths = Dims::new();
    read(&mut lengths, object)?;
    Ok(lengths)
}

/// As `from_python`, into a list that stays where it is: moving one costs as much as reading it.
#[inline]
pub(crate) fn read(lengths: &mut Dims, object: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: a type check of a live object.
    if unsafe { ffi::PyLong_CheckExact(object.as_ptr()) } != 0 {
        lengths.push(integer(object, "a shape")?);
        return Ok(());
    }
    let Ok(tuple) = object.cast_exact::<PyTuple>() else {
        *lengths = from_other(object)?;
        return Ok(());
    };
    for item in tuple.iter_borrowed() {
        lengths.push(integer(&item, "a shape")?);
    }
    Ok(())
}

/// Whether an object has elements in an order. Not every iterable has: the order of a set means nothing.
pub(crate) fn is_sequence(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: a type check of a live object.
    let is_one = unsafe { ffi::PySequence_Check(object.as_ptr()) } != 0;
    is_one && object.len().is_ok()
}

#[cold]
fn from_other(object: &Bound<'_, PyAny>) -> PyResult<Dims> {
    // SAFETY: a type check of a live object.
    let is_index = unsafe { ffi::PyIndex_Check(object.as_ptr()) } != 0;
    // An ndarray has `__index__`, which works for a single integer only; as a sequence it is a shape.
    if is_sequence(object) && object.cast::<PyString>().is_err() {
        return object.try_iter()?.map(|item| integer(&item?, "a shape")).collect();
    }
    if is_index {
        return Ok(SmallVec::from_slice(&[integer(object, "a shape")?]));
    }
    Err(PyTypeError::new_err(format!(
        "a shape is an integer or a sequence of integers, not {}",
        object.get_type().qualname()?
    )))
}

/// One integer, also NumPy's.
#[inline]
pub(crate) fn integer(object: &Bound<'_, PyAny>, what: &str) -> PyResult<i64> {
    // SAFETY: a live object; -1 may mean an error, which is then set.
    let value = unsafe {
        match ffi::PyLong_CheckExact(object.as_ptr()) {
            0 => -1,
            _ => ffi::PyLong_AsSsize_t(object.as_ptr()),
        }
    };
    if value == -1 { integer_slowly(object, what) } else { Ok(value as i64) }
}

/// For -1, for what only has `__index__`, and for errors.
#[cold]
fn integer_slowly(object: &Bound<'_, PyAny>, what: &str) -> PyResult<i64> {
    // SAFETY: a live object; what `integer` may have raised is replaced.
    let value = unsafe {
        ffi::PyErr_Clear();
        ffi::PyNumber_AsSsize_t(object.as_ptr(), ffi::PyExc_OverflowError)
    };
    match PyErr::take(object.py()) {
        Some(error) if value == -1 => Err(bad_integer(object, what, &error)),
        _ => Ok(value as i64),
    }
}

#[cold]
fn bad_integer(object: &Bound<'_, PyAny>, what: &str, error: &PyErr) -> PyErr {
    let py = object.py();
    if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) {
        return PyValueError::new_err(format!("Maximum allowed dimension exceeded: {what} holds {object}"));
    }
    let kind = object.get_type();
    PyTypeError::new_err(format!("{what} holds integers, and {object:?} is a {kind}"))
}

/// One of the first arguments of a method that takes integers, or one sequence of them.
///
/// Such a method lists four of these before its `*more`: pyo3 hands them over as they lie on the interpreter's stack,
/// where a bare `*shape` is first packed into a tuple, which costs a third of a reshape.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a, 'py>(Option<Borrowed<'a, 'py, PyAny>>);

/// An argument that was not given, which is not the same as `None`.
pub(crate) const ABSENT: Argument<'static, 'static> = Argument(None);

impl Argument<'_, '_> {
    pub(crate) fn is_absent(self) -> bool {
        self.0.is_none()
    }

    /// Whether `None` was given.
    pub(crate) fn is_none(self) -> bool {
        self.0.is_some_and(|object| object.is_none())
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Argument<'a, 'py> {
    type Error = std::convert::Infallible;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> Result<Self, Self::Error> {
        Ok(Self(Some(object)))
    }
}

/// `*shape` as methods take it: integers, or one sequence. False if nothing was given.
#[inline]
pub(crate) fn read_arguments(
    lengths: &mut Dims,
    first: [Argument<'_, '_>; 4],
    more: &Bound<'_, PyTuple>,
) -> PyResult<bool> {
    let [Argument(Some(only)), second, ..] = first else { return Ok(false) };
    if second.is_absent() {
        read(lengths, &only)?;
        return Ok(true);
    }
    for Argument(object) in first {
        let Some(object) = object else { return Ok(true) };
        lengths.push(integer(&object, "a shape")?);
    }
    for object in more.iter_borrowed() {
        lengths.push(integer(&object, "a shape")?);
    }
    Ok(true)
}

/// How elements follow each other: what `order=` may say.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderArgument {
    /// Row by row.
    C,
    /// Column by column.
    F,
    /// F if the source is F-contiguous and not C-contiguous, else C.
    A,
    /// As near to the source as possible.
    K,
}

impl OrderArgument {
    /// # Errors
    /// `ValueError` as NumPy's for other letters; `TypeError` for what is no text.
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let text = object
            .cast::<PyString>()
            .map_err(|_| PyTypeError::new_err(format!("order must be str, not {}", object.get_type())))?;
        match text.to_str()? {
            "C" | "c" => Ok(Self::C),
            "F" | "f" => Ok(Self::F),
            "A" | "a" => Ok(Self::A),
            "K" | "k" => Ok(Self::K),
            other => Err(PyValueError::new_err(format!("order must be one of 'C', 'F', 'A', or 'K' (got '{other}')"))),
        }
    }

    /// For functions that make an array from a shape alone.
    pub(crate) fn c_or_f(object: Option<&Bound<'_, PyAny>>) -> PyResult<Order> {
        let Some(object) = object.filter(|object| !object.is_none()) else { return Ok(Order::C) };
        match Self::from_python(object)? {
            Self::C => Ok(Order::C),
            Self::F => Ok(Order::F),
            _ => Err(PyValueError::new_err(format!("only 'C' or 'F' order is permitted (got {object:?})"))),
        }
    }
}

/// A tuple of Python integers.
pub(crate) fn integers<'py>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = i64>,
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, items)
}
