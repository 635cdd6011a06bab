//! Creates the errors for rejected arguments. A Python module composes the messages, because only rejected calls need
//! them.

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::finalization;
use crate::py_once::intern;

/// Returns the exception that the function `name` of the Python module creates.
#[cold]
fn composed<'py>(py: Python<'py>, name: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._arguments.argument_errors"))?;
        module.getattr(name)?.call1(arguments)
    })
    .map_or_else(|error| error, PyErr::from_value)
}

/// Returns the error for an argument `out` that is not a PyGPU array.
#[cold]
pub(crate) fn output(function: Option<&str>, out: &Bound<'_, PyAny>) -> PyErr {
    composed(out.py(), "output_error", (out, function))
}

/// Returns the error for the target of a copy that is not a PyGPU array.
#[cold]
pub(crate) fn target(function: &str, target: &Bound<'_, PyAny>) -> PyErr {
    composed(target.py(), "target_error", (function, target))
}

/// Returns the error for an argument `where` that is not a boolean array on a device.
#[cold]
pub(crate) fn mask(function: &str, mask: &Bound<'_, PyAny>) -> PyErr {
    composed(mask.py(), "mask_error", (mask, function))
}

/// Returns the error for the first unsupported argument of a function with `count` operands, which output arrays may
/// follow.
#[cold]
pub(crate) fn operand(
    function: &str,
    count: usize,
    arguments: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyErr {
    composed(arguments.py(), "operand_error", (function, count, arguments, keywords))
}

/// Returns the error for the first unsupported operand of a call without output arrays.
#[cold]
pub(crate) fn operands(function: &str, operands: &[&Bound<'_, PyAny>]) -> PyErr {
    match PyTuple::new(operands[0].py(), operands) {
        Ok(arguments) => operand(function, operands.len(), &arguments, None),
        Err(error) => error,
    }
}

/// Returns the error for an object that NumPy does not convert to a dtype. The message names the nearest dtype.
#[cold]
pub(crate) fn dtype(object: &Bound<'_, PyAny>, cause: &PyErr) -> PyErr {
    composed(object.py(), "dtype_error", (object, cause.value(object.py())))
}

/// Adds to NumPy's error for an indexing key a description of the item that is no index. Returns any other error
/// unchanged.
#[cold]
pub(crate) fn index(key: &Bound<'_, PyAny>, cause: &PyErr) -> PyErr {
    composed(key.py(), "index_error", (key, cause.value(key.py())))
}

/// Returns the error for the first argument of `function` that is not a number. If all arguments are numbers, returns
/// the error `cause` unchanged.
#[cold]
pub(crate) fn range(function: &str, arguments: &Bound<'_, PyTuple>, cause: &PyErr) -> PyErr {
    composed(arguments.py(), "range_error", (function, arguments, cause.value(arguments.py())))
}

/// Describes an argument without its elements, for an error message.
#[cold]
pub(crate) fn describe(object: &Bound<'_, PyAny>) -> String {
    let py = object.py();
    let described = finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._arguments.argument_errors"))?;
        module.call_method1(intern!(py, "describe"), (object,))?.extract()
    });
    described.unwrap_or_else(|_| "an object".to_owned())
}

/// Converts an argument that must be a bool.
///
/// # Errors
/// `TypeError` for any other object. `name` is the parameter with its function; `advice` is what to write instead.
#[inline]
pub(crate) fn flag(object: &Bound<'_, PyAny>, name: &str, advice: &str) -> PyResult<bool> {
    object.extract().map_err(|_| invalid_flag(object, name, advice))
}

#[cold]
fn invalid_flag(object: &Bound<'_, PyAny>, name: &str, advice: &str) -> PyErr {
    pyo3::exceptions::PyTypeError::new_err(format!("{name} is {}; expected a bool; {advice}", describe(object)))
}
