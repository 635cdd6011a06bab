//! Reads the argument `out` of reductions and scans.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::class::GpuArray;
use crate::convert::argument_errors;
use pygpu_array::Array;
use pygpu_ops::reductions::ReductionEntry;

/// Returns the name of the function that computes a reduction or its scan.
#[cold]
fn public_name(entry: &ReductionEntry, is_scan: bool) -> &'static str {
    match (is_scan, entry.name) {
        (true, "sum") => "cumsum",
        (true, "prod") => "cumprod",
        (true, "nansum") => "nancumsum",
        (true, "nanprod") => "nancumprod",
        (_, name) => name,
    }
}

/// Checks and returns the output array that the user passed. The array must be writable and on the operand's device.
pub(in crate::operators) fn output_argument<'py>(
    entry: &ReductionEntry,
    is_scan: bool,
    array: &Array,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(object) = out.filter(|out| !out.is_none()) else { return Ok(None) };
    let object_of_one = match object.cast::<PyTuple>() {
        Ok(outs) if outs.len() == 1 => outs.get_item(0)?,
        _ => object.clone(),
    };
    let Ok(out) = object_of_one.cast::<GpuArray>().cloned() else {
        return Err(argument_errors::output(Some(public_name(entry, is_scan)), &object_of_one));
    };
    let out_array = out.get();
    out_array.check_writable(entry.name)?;
    if out_array.device() != array.device() {
        return Err(PyValueError::new_err(format!(
            "{}: out is on {} and the array on {}",
            entry.name,
            out_array.device(),
            array.device()
        )));
    }
    Ok(Some(out))
}
