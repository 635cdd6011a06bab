//! Evaluates special functions by SciPy, for arrays in host memory.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;

use super::super::operand::{OperandValues, UfuncOperand};
use super::super::ufunc_launch::{Targets, UfuncLoop};
use crate::convert::dtype;
use crate::host_transfers::cpu_view;
use crate::py_once::{PyOnce, intern};
use pygpu_base::dtype::{DType, ScalarType};

/// Returns SciPy's ufunc that computes a loop, i.e. the implementation of a function for certain types. Returns `None`
/// for a loop of bfloat16, for a loop with a mask, and if SciPy or its ufunc is missing.
///
/// # Errors
/// Python exceptions, but no `ImportError` of SciPy.
pub(in super::super) fn scipy_ufunc<'py>(
    py: Python<'py>,
    ufunc_loop: &UfuncLoop<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static FUNCTIONS: PyOnce<Py<PyDict>> = PyOnce::new();
    // In NumPy 2.4, calls of SciPy's ufuncs with both a mask and a cast return wrong results, so calls with a mask are
    // not passed to SciPy.
    if ufunc_loop.kind == ScalarType::BFloat16 || ufunc_loop.mask.is_some() {
        return Ok(None);
    }
    let find = || -> PyResult<Py<PyDict>> {
        let module = py.import(intern!(py, "PyGPU._special.scipy_functions"))?;
        Ok(module.getattr(intern!(py, "functions"))?.call0()?.cast_into::<PyDict>()?.unbind())
    };
    FUNCTIONS.get_or_try_init(py, find)?.bind(py).get_item(ufunc_loop.entry.name)
}

/// Computes a loop by SciPy's ufunc.
///
/// # Errors
/// The errors of SciPy.
pub(in super::super) fn run(
    py: Python<'_>,
    function: &Bound<'_, PyAny>,
    ufunc_loop: &UfuncLoop<'_>,
    values: &OperandValues<'_, '_>,
    targets: &Targets<'_>,
) -> PyResult<()> {
    let mut arguments: SmallVec<[Bound<'_, PyAny>; 4]> = SmallVec::new();
    for value in values {
        arguments.push(match value {
            UfuncOperand::Array(array) => cpu_view::borrowed(py, array.materialized()?)?.into_any(),
            UfuncOperand::Temporary { array, .. } => cpu_view::borrowed(py, array)?.into_any(),
            UfuncOperand::Number { object, .. } => object.clone(),
        });
    }
    let outs = targets.iter().map(|target| cpu_view::borrowed(py, target)).collect::<PyResult<SmallVec<[_; 2]>>>()?;
    // SciPy's ufuncs try their loops in another order than PyGPU, and could select another loop. Therefore the call
    // passes the loop's type. The casts are already checked, so the call allows all casts.
    let kind = match ufunc_loop.kind {
        ScalarType::Float16 => ScalarType::Float32,
        kind => kind,
    };
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "out"), PyTuple::new(py, outs)?)?;
    keywords.set_item(intern!(py, "dtype"), dtype::to_python(py, DType::new(kind))?)?;
    keywords.set_item(intern!(py, "casting"), intern!(py, "unsafe"))?;
    function.call(PyTuple::new(py, arguments)?, Some(&keywords)).map(drop)
}
