//! Reads the argument `where=` of ufuncs and reductions. It is a mask that selects the elements for which a call
//! computes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array::attributes::is_scalar;
use crate::array::class::{ArrayResult, GpuArray, new_exact};
use crate::convert::argument_errors;
use crate::create::filled::fill_zeros;
use crate::host_transfers::device_arrays::new_array;
use crate::py_once::intern;
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_device::Device;
use pygpu_layout::MemoryOrder;
use pygpu_ops::reductions::ReductionEntry;

/// Returns the truth value of a mask that is a single number, and thus selects all elements or none. Returns `None` for
/// other objects.
pub(super) fn truth_of_number(mask: &Bound<'_, PyAny>) -> PyResult<Option<bool>> {
    if mask.is_instance_of::<GpuArray>() || !is_scalar(mask) { Ok(None) } else { mask.is_truthy().map(Some) }
}

/// Creates a mask without axes that broadcasts to any shape and excludes all elements.
pub(super) fn none_selected(py: Python<'_>, device: Device) -> ArrayResult<'_> {
    let mask = new_array(py, &[], DType::new(ScalarType::Bool), MemoryOrder::C, device)?;
    fill_zeros(py, &mask)?;
    new_exact(py, GpuArray::from_array(mask))
}

/// Returns the device of the first array among the operands and outputs of a call; the current device if there is no
/// array.
pub(super) fn device_of_call(arguments: &Bound<'_, PyTuple>, keywords: &Bound<'_, PyDict>) -> PyResult<Device> {
    let device_of = |object: &Bound<'_, PyAny>| object.cast::<GpuArray>().ok().map(|array| array.get().device());
    let in_tuple = |tuple: &Bound<'_, PyTuple>| tuple.iter().find_map(|object| device_of(&object));
    let out = keywords.get_item(intern!(arguments.py(), "out"))?;
    let found = in_tuple(arguments)
        .or_else(|| out.as_ref().and_then(device_of))
        .or_else(|| out.as_ref().and_then(|out| out.cast::<PyTuple>().ok()).and_then(in_tuple));
    found.map_or_else(|| Ok(Device::current()?), Ok)
}

/// Reads the argument `where=` of a reduction. Returns a mask that is true for the elements to reduce, or `None` if all
/// elements are reduced.
pub(super) fn mask_argument<'py>(
    entry: &ReductionEntry,
    array: &Array,
    mask: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let Some(object) = mask.filter(|mask| !mask.is_none()) else { return Ok(None) };
    if let Some(is_true) = truth_of_number(object)? {
        return if is_true { Ok(None) } else { none_selected(object.py(), array.device()).map(Some) };
    }
    let Ok(mask) = object.cast::<GpuArray>() else {
        return Err(argument_errors::mask(entry.name, object));
    };
    let mask_array = mask.get();
    if mask_array.dtype().kind() != ScalarType::Bool || mask_array.device() != array.device() {
        return Err(PyTypeError::new_err(format!(
            "{}: where= is an array of bool on {}, and not of {} on {}",
            entry.name,
            array.device(),
            mask_array.dtype().name(),
            mask_array.device()
        )));
    }
    Ok(Some(mask.clone()))
}
