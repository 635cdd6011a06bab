//! `Ufunc.at`: applies a function at indices that may repeat.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::class::GpuArray;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host::transfer;
use crate::names::names;
use crate::py_once::intern;
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_ops::selection::{self, UfuncAt};
use pygpu_ops::ufunc::{self, PromotionOperand, UfuncEntry};

/// Runs a call with an array, a key, and a second operand for binary functions.
///
/// # Errors
/// `TypeError`, `ValueError` and `IndexError` as NumPy's; the driver's.
pub(super) fn call(row: &'static UfuncEntry, given: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = given.py();
    if row.inputs > 2 || row.outputs() > 1 {
        return Err(PyValueError::new_err("Only unary and binary ufuncs supported at this time"));
    }
    if given.len() != 1 + row.inputs {
        let wanted = if given.len() <= row.inputs { "second operand needed for ufunc" } else { "too many operands" };
        return Err(PyValueError::new_err(format!("{}.at(): {wanted}", row.name)));
    }
    let mut all = vec![row.name.into_pyobject(py)?.into_any()];
    all.extend(given.iter());
    let function = py.import(intern!(py, "PyGPU._functions.accumulation"))?.getattr(intern!(py, "at"))?;
    finalization::run_python(py, || function.call1(PyTuple::new(py, all)?).map(drop))
}

/// Applies a function at sorted positions of an array with one axis, prepared by the caller.
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
    let row = ufunc::row(name).ok_or_else(|| PyTypeError::new_err(format!("{name} is no function of the table")))?;
    let own = array.get().array(py)?;
    let (places, order) = (places.get().array(py)?, order.get().array(py)?);
    let values = values.map(|values| values.get().array(py)).transpose()?;
    let operands: Vec<PromotionOperand> =
        [Some(own), values].into_iter().flatten().map(|one| PromotionOperand::Strong(one.dtype().kind())).collect();
    let kind = ufunc::resolve(row, &operands);
    let Some(kind) = kind else {
        return Err(PyTypeError::new_err(format!("ufunc '{name}' not supported for the input types of {name}.at")));
    };
    let apart = match values {
        Some(values) if copy::may_overlap(own, values) => Some(transfer::device_copy_like(py, values)?),
        _ => None,
    };
    let values = apart.as_ref().or(values);
    let stream = stream::current(own.device());
    let call = UfuncAt { row, kind, array: own, places, order, values };
    Ok(py.without_gil(|| selection::at(&call, &stream))?)
}

names! {
    internal_functions: _apply_at;
}
