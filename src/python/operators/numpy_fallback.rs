//! Computes ufunc calls on arrays in host memory by NumPy, through ndarrays over the same memory.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::operand::{OperandValues, UfuncOperand};
use super::ufunc_launch::Targets;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::ffi::vectorcall;
use crate::host_transfers::cpu_view;
use crate::kernel::call::scalar_values::is_integer;
use crate::py_once::{PyOnce, intern};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_ops::ufunc::{Casting, HostEvaluation, TABLE, UfuncEntry};

/// A ufunc call that NumPy computes.
pub(super) struct NumpyCall<'a> {
    pub(super) entry: &'static UfuncEntry,
    /// The value of the call's keyword `dtype`.
    pub(super) dtype: Option<ScalarType>,
    pub(super) casting: Casting,
    pub(super) mask: Option<&'a Array>,
}

/// Computes a ufunc call with NumPy and writes the results into the arrays `targets`.
///
/// # Errors
/// The errors of NumPy.
#[inline(always)] // inlined, which adds no code, because there is one caller
pub(super) fn run(
    py: Python<'_>,
    call: &NumpyCall<'_>,
    values: &OperandValues<'_, '_>,
    targets: &Targets<'_>,
) -> PyResult<()> {
    let view = |array: &Array| match call.entry.host {
        HostEvaluation::Ufunc => cpu_view::borrowed(py, array),
        HostEvaluation::Steps | HostEvaluation::Kernel | HostEvaluation::SciPy => cpu_view::owning(py, array),
    };
    // The arguments are passed by position where possible, because NumPy would spend time looking up keywords.
    let mut arguments: SmallVec<[Bound<'_, PyAny>; 6]> = SmallVec::new();
    for value in values {
        arguments.push(match value {
            UfuncOperand::Array(array) => view(array.materialized()?)?.into_any(),
            UfuncOperand::Temporary { array, .. } => view(array)?.into_any(),
            UfuncOperand::Number { object, .. } => object.clone(),
        });
    }
    for target in targets {
        arguments.push(view(target)?.into_any());
    }
    let is_positional = call.mask.is_none() && call.dtype.is_none() && call.casting == Casting::SameKind;
    // NumPy's `maximum` and `minimum` accept output arrays only by keyword.
    let is_positional = is_positional && !matches!(call.entry.name, "maximum" | "minimum");
    let function = match call.entry.host {
        HostEvaluation::Ufunc => ufunc(py, call.entry)?,
        HostEvaluation::Steps | HostEvaluation::Kernel | HostEvaluation::SciPy => {
            py.import(intern!(py, "PyGPU._host_arrays.elementwise_functions"))?.getattr(call.entry.name)?
        }
    };
    if call.entry.host == HostEvaluation::Ufunc && is_positional {
        return vectorcall::call(&function, &arguments).map(drop);
    }
    let outs: SmallVec<[Bound<'_, PyAny>; 2]> = arguments.drain(values.len()..).collect();
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), PyTuple::new(py, outs)?)?;
    if let Some(mask) = call.mask {
        keywords.set_item(intern!(py, "where"), view(mask)?)?;
    }
    if call.casting != Casting::SameKind {
        keywords.set_item(intern!(py, "casting"), call.casting.name())?;
    }
    if let Some(kind) = call.dtype {
        keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, DType::new(kind))?)?;
    }
    function.call(PyTuple::new(py, arguments)?, Some(&keywords))?;
    Ok(())
}

/// Checks that no exponent of a `power` of integers is negative. Without this check, NumPy would write a part of the
/// output array before it raises its error.
///
/// # Errors
/// NumPy's `ValueError`.
#[cold]
pub(super) fn check_exponents(py: Python<'_>, kind: ScalarType, exponents: &UfuncOperand<'_, '_>) -> PyResult<()> {
    if !is_integer(kind) {
        return Ok(());
    }
    let exponents = match exponents {
        UfuncOperand::Array(array) => cpu_view::owning(py, array.materialized()?)?.into_any(),
        UfuncOperand::Temporary { array, .. } => cpu_view::owning(py, array)?.into_any(),
        UfuncOperand::Number { object, .. } => object.clone(),
    };
    let is_negative = ndarray::numpy(py)?.call_method1(intern!(py, "less"), (exponents, 0))?;
    match is_negative.call_method0(intern!(py, "any"))?.is_truthy()? {
        true => Err(PyValueError::new_err("Integers to negative integer powers are not allowed.")),
        false => Ok(()),
    }
}

/// Returns NumPy's ufunc with the same name as a function in PyGPU's table of ufuncs.
#[inline(always)] // inlined, which adds no code, because there is one caller
fn ufunc<'py>(py: Python<'py>, entry: &'static UfuncEntry) -> PyResult<Bound<'py, PyAny>> {
    static FUNCTIONS: PyOnce<Vec<Option<Py<PyAny>>>> = PyOnce::new();
    let find = |name: &str| ndarray::numpy(py)?.getattr(name);
    let all =
        FUNCTIONS.get_or_init(py, || TABLE.iter().map(|entry| find(entry.name).ok().map(Bound::unbind)).collect());
    let index = (std::ptr::from_ref(entry).addr().wrapping_sub(TABLE.as_ptr().addr())) / size_of::<UfuncEntry>();
    match all.get(index).and_then(Option::as_ref) {
        Some(function) => Ok(function.bind(py).clone()),
        None => find(entry.name),
    }
}
