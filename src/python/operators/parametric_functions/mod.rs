//! Defines elementwise functions that are no ufuncs in NumPy's interface: `where`, `clip` and `angle`, and in the
//! submodules `round` and `nan_to_num`.

pub(super) mod nan_to_num;
pub(super) mod round;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};

use super::ufunc;
use super::ufunc_call::{self, UfuncKeywords};
use crate::array::array_argument::ArrayArg;
use crate::array::class::GpuArray;
use crate::convert::argument_errors;
use crate::exported_names::names;
use crate::kernel::call::scalar_values;
use crate::py_once::intern;
use pygpu_base::dtype::ScalarType;
use pygpu_ops::ufunc::{UfuncEntry, builtin_row, ufunc_table};

/// Returns the entry (in the table of ufuncs) of a NumPy ufunc for which PyGPU has a function instead of a `Ufunc`
/// object, i.e. `clip`.
pub(super) fn entry_of_ufunc(name: &str) -> Option<&'static UfuncEntry> {
    (name == "clip").then_some(&ufunc_table::CLIP)
}

/// Returns the scalar type of an array; `None` for objects other than PyGPU arrays.
fn kind_of(object: &Bound<'_, PyAny>) -> Option<ScalarType> {
    object.cast::<GpuArray>().ok().map(|array| array.get().dtype().kind())
}

/// Computes a ufunc call.
pub(super) fn compute<'py>(
    entry: &'static UfuncEntry,
    operands: &[&Bound<'py, PyAny>],
    keywords: &UfuncKeywords<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = operands[0].py();
    ufunc_call::call(py, entry, operands, keywords)?.ok_or_else(|| argument_errors::operands(entry.name, operands))
}

pub(super) fn output_keywords<'py>(out: Option<&Bound<'py, GpuArray>>) -> UfuncKeywords<'py> {
    out.map_or_else(UfuncKeywords::default, UfuncKeywords::into_array)
}

/// Select elements of one operand where a condition is true, and of another elsewhere.
///
/// Parameters
/// ----------
/// condition : GPUArray or bool
///     Condition whose nonzero elements are true.
/// x, y : GPUArray or number, optional
///     Values where the condition is true and where it is false. They are broadcast with the condition and promoted to
///     one type. Without `x` and `y`, the function returns the indices of the true elements, like `nonzero`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.arange(5)
/// >>> PyGPU.where(a > 2, a, -1).tolist()
/// [-1, -1, -1, 3, 4]
#[pyfunction]
#[pyo3(name = "where", signature = (condition, x=None, y=None, /))]
// stub: @overload
// stub: def where(condition: Any, x: Any, y: Any, /) -> GPUArray: ...
// stub: @overload
// stub: def where(condition: Any, /) -> tuple[GPUArray, ...]: ...
fn where_<'py>(
    condition: &Bound<'py, PyAny>,
    x: Option<&Bound<'py, PyAny>>,
    y: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (Some(x), Some(y)) = (x, y) else {
        return match x.or(y) {
            None => condition.extract::<ArrayArg<'_>>()?.call_method0(intern!(condition.py(), "nonzero")),
            Some(_) => Err(PyValueError::new_err("either both or neither of x and y should be given")),
        };
    };
    compute(&ufunc_table::WHERE, &[condition, x, y], &UfuncKeywords::default())
}

/// Returns a limit of `clip`; `None` if no limit was passed, or if every value of the array's integer type is within
/// the limit, for example within a lower limit of -1000 for uint8.
fn limit<'a, 'py>(
    a: &Bound<'py, PyAny>,
    bound: Option<&'a Bound<'py, PyAny>>,
    is_least: bool,
) -> PyResult<Option<&'a Bound<'py, PyAny>>> {
    let Some(object) = bound.filter(|object| !object.is_none()) else { return Ok(None) };
    let Some(kind) = kind_of(a).filter(|kind| scalar_values::is_integer(*kind) && *kind != ScalarType::Bool) else {
        return Ok(Some(object));
    };
    let is_beyond =
        object.is_instance_of::<PyInt>() && !scalar_values::is_in_range(kind, object) && object.lt(0)? == is_least;
    Ok((!is_beyond).then_some(object))
}

/// Limit the elements to an interval.
///
/// Parameters
/// ----------
/// a : GPUArray
/// min, max : GPUArray or number, optional
///     The lower and the upper limit; an omitted limit is not applied.
/// out : GPUArray, optional
///     Array for the result.
/// **keywords
///     Keywords of a `Ufunc` call.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.clip(PyGPU.arange(5), 1, 3).tolist()
/// [1, 1, 2, 3, 3]
#[pyfunction]
#[pyo3(signature = (
    a: "Operand", /, min: "Any" = None, max: "Any" = None, out: "GPUArray | None" = None, **keywords: "Any"
) -> "GPUArray")]
pub(super) fn clip<'py>(
    a: &Bound<'py, PyAny>,
    min: Option<&Bound<'py, PyAny>>,
    max: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let py = a.py();
    let keywords = keywords.map_or_else(|| Ok(PyDict::new(py)), |dict| dict.copy())?;
    if let Some(out) = out {
        keywords.set_item("out", out)?;
    }
    let (entry, operands) = match (limit(a, min, true)?, limit(a, max, false)?) {
        (Some(least), Some(most)) => (&ufunc_table::CLIP, vec![a, least, most]),
        (Some(least), None) => (const { builtin_row("maximum") }, vec![a, least]),
        (None, Some(most)) => (const { builtin_row("minimum") }, vec![a, most]),
        (None, None) => (const { builtin_row("positive") }, vec![a]),
    };
    let operands = PyTuple::new(py, operands)?;
    ufunc::call(entry, &operands, Some(&keywords))?
        .ok_or_else(|| argument_errors::operand("clip", operands.len(), &operands, Some(&keywords)))
}

/// Return the angles of complex numbers, counterclockwise from the real axis.
///
/// Parameters
/// ----------
/// z : GPUArray
/// deg : bool, optional
///     Return degrees instead of radians.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.angle(PyGPU.to_gpu([1j, -1 + 0j]), deg=True).tolist()
/// [90.0, 180.0]
#[pyfunction]
#[pyo3(signature = (z: "Operand", deg: "bool" = false) -> "GPUArray")]
fn angle<'py>(z: &Bound<'py, PyAny>, deg: bool) -> PyResult<Bound<'py, PyAny>> {
    compute(if deg { &ufunc_table::ANGLE_IN_DEGREES } else { &ufunc_table::ANGLE }, &[z], &UfuncKeywords::default())
}

/// Computes ``x * a + y * b`` in one launch. The operands are ``[x, a, y, b]``.
///
/// # Errors
/// The errors of a `Ufunc` call.
pub(crate) fn weighted_sum<'py>(
    [x, a, y, b]: [&Bound<'py, PyAny>; 4],
    out: Option<&Bound<'py, GpuArray>>,
) -> PyResult<Bound<'py, GpuArray>> {
    Ok(compute(&ufunc_table::WEIGHTED_SUM, &[x, a, y, b], &output_keywords(out))?.cast_into()?)
}

names! {
    functions "Functions of each element": where_, clip, angle;
}
