//! Implements `Ufunc.at`, which applies a function at indices that may repeat.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::class::GpuArray;
use crate::exported_names::names;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host_transfers::transfer;
use crate::py_once::intern;
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_ops::selection::{self, UfuncAt};
use pygpu_ops::ufunc::{self, PromotionOperand, UfuncEntry};

/// Computes `Ufunc.at`. The arguments are an array, a key, and, for a binary function, a second operand.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError`, as in NumPy; driver errors.
pub(super) fn call(entry: &'static UfuncEntry, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = arguments.py();
    if entry.inputs > 2 || entry.outputs() > 1 {
        return Err(PyValueError::new_err("Only unary and binary ufuncs supported at this time"));
    }
    if arguments.len() != 1 + entry.inputs {
        let problem =
            if arguments.len() <= entry.inputs { "second operand needed for ufunc" } else { "too many operands" };
        return Err(PyValueError::new_err(format!("{}.at(): {problem}", entry.name)));
    }
    let mut call_arguments = vec![entry.name.into_pyobject(py)?.into_any()];
    call_arguments.extend(arguments.iter());
    let function = py.import(intern!(py, "PyGPU._functions.accumulation"))?.getattr(intern!(py, "at"))?;
    finalization::run_python(py, || function.call1(PyTuple::new(py, call_arguments)?).map(drop))
}

/// Apply a function at positions of an array with one axis. The caller must sort the positions.
#[pyfunction]
#[pyo3(signature = (
    name: "str", array: "GPUArray", places: "GPUArray", order: "GPUArray", values: "GPUArray | None"
) -> "None")]
fn _apply_at(
    name: &str,
    array: &Bound<'_, GpuArray>,
    places: &Bound<'_, GpuArray>,
    order: &Bound<'_, GpuArray>,
    values: Option<&Bound<'_, GpuArray>>,
) -> PyResult<()> {
    let py = array.py();
    let entry = ufunc::row(name).ok_or_else(|| PyTypeError::new_err(format!("{name} is no function of the table")))?;
    let target = array.get().array(py)?;
    let (places, order) = (places.get().array(py)?, order.get().array(py)?);
    let values = values.map(|values| values.get().array(py)).transpose()?;
    let operands: Vec<PromotionOperand> = [Some(target), values]
        .into_iter()
        .flatten()
        .map(|array_operand| PromotionOperand::Strong(array_operand.dtype().kind()))
        .collect();
    let kind = ufunc::resolve(entry, &operands);
    let Some(kind) = kind else {
        return Err(PyTypeError::new_err(format!("ufunc '{name}' not supported for the input types of {name}.at")));
    };
    let values_copy = match values {
        Some(values) if copy::may_overlap(target, values) => Some(transfer::device_copy_like(py, values)?),
        _ => None,
    };
    let values = values_copy.as_ref().or(values);
    let stream = stream::current(target.device());
    let call = UfuncAt { row: entry, kind, array: target, places, order, values };
    Ok(py.without_gil(|| selection::at(&call, &stream))?)
}

names! {
    internal_functions: _apply_at;
}
