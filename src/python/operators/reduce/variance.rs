//! Computes variances and standard deviations, about the means of the elements or about means that the caller passes
//! (`mean=`).

use pyo3::prelude::*;

use super::super::ufunc_call::{self, UfuncKeywords};
use super::ReductionArgs;
use crate::array::class::{ArrayResult, GpuArray};
use crate::convert::{OptionalArg, ndarray};
use crate::finalization;
use crate::py_once::intern;
use pygpu_ops::reductions::ReductionEntry;
use pygpu_ops::ufunc::builtin_row;

/// Computes the variances of an array along axes. If the caller passes no means, one pass over the elements computes
/// means and variances.
pub(in crate::operators) fn variance<'py>(
    var: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    (args, mean): (&ReductionArgs<'py>, OptionalArg<'_, 'py>),
) -> ArrayResult<'py> {
    match mean.filter(|mean| !mean.is_none()) {
        Some(mean) if !is_omitted(mean)? => variance_about(mean, var, operand, args),
        _ => super::call(var, operand, args),
    }
}

/// Whether a value is `numpy._NoValue`, by which NumPy's functions represent omitted arguments.
#[cold]
fn is_omitted(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    Ok(value.is(&ndarray::numpy(py)?.getattr(intern!(py, "_NoValue"))?))
}

/// Computes the standard deviations of an array along axes, i.e. the square roots of the variances.
pub(in crate::operators) fn standard_deviation<'py>(
    var: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    options: (&ReductionArgs<'py>, OptionalArg<'_, 'py>),
) -> ArrayResult<'py> {
    let out = variance(var, operand, options)?;
    let root = const { builtin_row("sqrt") };
    ufunc_call::call(operand.py(), root, &[out.as_any()], &UfuncKeywords::into_array(&out))?;
    Ok(out)
}

#[cold]
fn variance_about<'py>(
    mean: &Bound<'py, PyAny>,
    var: &'static ReductionEntry,
    operand: &Bound<'py, GpuArray>,
    args: &ReductionArgs<'py>,
) -> ArrayResult<'py> {
    let py = operand.py();
    let ignores_nan = var.name == "nanvar";
    let arguments =
        (operand, mean, ignores_nan, &args.axis, &args.dtype, &args.out, args.ddof, args.keepdims, &args.mask);
    let result = finalization::run_python(py, || {
        let module = py.import(intern!(py, "PyGPU._functions.statistics"))?;
        module.call_method1(intern!(py, "variance_about"), arguments)
    })?;
    Ok(result.cast_into()?)
}
