//! Calls Python functions without a tuple of arguments (vectorcall), if the interpreter supports vectorcall.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::capi_optional;
use crate::finalization;

/// Vectorcall flag (`PY_VECTORCALL_ARGUMENTS_OFFSET`) that permits the callee to overwrite the slot before the first
/// argument.
const ARGUMENTS_OFFSET: usize = 1 << (usize::BITS - 1);

/// Calls a function with positional arguments only.
///
/// # Errors
/// The errors of the called function.
#[inline(always)] // inlined, which adds no code, because there is one caller
pub(crate) fn call<'py>(function: &Bound<'py, PyAny>, args: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let Some(vectorcall) = capi_optional::vectorcall() else {
        return function.call1(PyTuple::new(function.py(), args)?);
    };
    const { assert!(size_of::<Bound<'_, PyAny>>() == size_of::<*mut ffi::PyObject>()) };
    // SAFETY: a `Bound` consists of the pointer to its object only, so the slice is a list of such pointers. The passed
    // count equals the number of arguments, which are borrowed during the call; without `ARGUMENTS_OFFSET`, the callee
    // only reads the list. The result is an owned reference, or null if an exception is set.
    unsafe {
        let first: *const *mut ffi::PyObject = args.as_ptr().cast();
        let result = vectorcall(function.as_ptr(), first, args.len(), std::ptr::null_mut());
        Bound::from_owned_ptr_or_err(function.py(), result)
    }
}

/// Calls a method, possibly implemented in Python, with up to two arguments, all passed by keyword.
///
/// # Errors
/// The errors of the called method.
#[inline]
pub(crate) fn call_method<'py, const N: usize>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    keywords: Option<&Bound<'py, PyTuple>>,
    values: [&Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    const { assert!(N <= 2) };
    debug_assert_eq!(keywords.map_or(0, |keywords| keywords.len()), N);
    let Some(vectorcall_method) = capi_optional::vectorcall_method() else {
        return call_without_vectorcall(object, name, keywords, values);
    };
    // Slot 0 stays free, because the callee may overwrite it; slot 1 contains the object.
    let mut arguments = [std::ptr::null_mut(); 4];
    arguments[1] = object.as_ptr();
    arguments[2..2 + N].copy_from_slice(&values.map(|value| value.as_ptr()));
    let keywords = keywords.map_or(std::ptr::null_mut(), |keywords| keywords.as_ptr());
    // SAFETY: the call has one positional argument, the object, and one value for each keyword; all of them are
    // borrowed during the call.
    finalization::run_python(object.py(), || unsafe {
        let result = vectorcall_method(name.as_ptr(), arguments.as_ptr().add(1), 1 | ARGUMENTS_OFFSET, keywords);
        Bound::from_owned_ptr_or_err(object.py(), result)
    })
}

/// Calls a method on an interpreter without `PyObject_VectorcallMethod`.
#[cold]
fn call_without_vectorcall<'py, const N: usize>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    keywords: Option<&Bound<'py, PyTuple>>,
    values: [&Bound<'py, PyAny>; N],
) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let kwargs = PyDict::new(py);
    for (keyword, value) in keywords.into_iter().flat_map(|keywords| keywords.iter()).zip(values) {
        kwargs.set_item(keyword, value)?;
    }
    finalization::run_python(py, || object.call_method(name, (), Some(&kwargs)))
}
