//! Concatenates dense arrays of one dtype; `PyGPU._functions.joining` concatenates other arrays.

use pyo3::prelude::*;
use smallvec::SmallVec;

use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_array::Array;
use pygpu_copy as copy;
use pygpu_device::stream;
use pygpu_ops::join;

/// Concatenate arrays along an axis.
///
/// Parameters
/// ----------
/// parts : list of GPUArray
///     The arrays. The function returns None if an element has another type.
/// axis : int
///     Index of the axis, not negative.
///
/// Returns
/// -------
/// GPUArray or None
///     None unless all parts are dense and of one dtype.
#[pyfunction]
#[pyo3(signature = (parts: "Sequence[Any]", axis: "int") -> "GPUArray | None")]
pub(crate) fn _joined<'py>(
    py: Python<'py>,
    parts: Vec<Bound<'py, PyAny>>,
    axis: usize,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let mut gpu_arrays: SmallVec<[&Bound<'py, GpuArray>; 8]> = SmallVec::new();
    for part in &parts {
        let Ok(part) = part.cast::<GpuArray>() else { return Ok(None) };
        gpu_arrays.push(part);
    }
    let arrays = gpu_arrays.iter().map(|part| part.get().array(py)).collect::<PyResult<SmallVec<[&Array; 8]>>>()?;
    let (Some(first), Some(shape)) = (gpu_arrays.first(), join::shape(&arrays, axis)) else { return Ok(None) };
    let _inherited = allocator_inheritance::inherit(py, arrays.iter().copied())?;
    let device = first.get().device();
    let joined = py.without_gil(|| join::join(&arrays, axis, &shape, &stream::current(device)))?;
    Ok(Some(new_like(first, GpuArray::from_array(joined))?))
}

/// Return whether two arrays of one device may share a byte.
///
/// The call does not make the addresses of the arrays visible outside PyGPU.
///
/// Parameters
/// ----------
/// one, other : GPUArray
///     The arrays.
#[pyfunction]
#[pyo3(signature = (one: "GPUArray", other: "GPUArray") -> "bool")]
pub(crate) fn _may_overlap(one: &Bound<'_, GpuArray>, other: &Bound<'_, GpuArray>) -> PyResult<bool> {
    Ok(copy::may_overlap(one.get().array(one.py())?, other.get().array(other.py())?))
}

names! {
    internal_functions: _joined, _may_overlap;
}
