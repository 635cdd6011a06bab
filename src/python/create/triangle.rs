//! Copies triangles of large matrices on a GPU; `PyGPU._functions.matrices` computes all other triangles.

use pyo3::prelude::*;

use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_like};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_device::stream;
use pygpu_ops::triangle::{self, Triangle};

/// Copy one triangle of each matrix in the last two axes, and set the other elements to 0.
///
/// Parameters
/// ----------
/// array : GPUArray
///     The matrices.
/// diagonal : int
///     Index of the diagonal that bounds the triangle and belongs to it.
/// is_upper : bool
///     Whether the triangle is above the diagonal.
///
/// Returns
/// -------
/// GPUArray or None
///     None if there is no kernel for the array.
#[pyfunction]
#[pyo3(signature = (array: "GPUArray", diagonal: "int", is_upper: "bool") -> "GPUArray | None")]
pub(crate) fn _triangle<'py>(
    array: &Bound<'py, GpuArray>,
    diagonal: i64,
    is_upper: bool,
) -> PyResult<Option<Bound<'py, GpuArray>>> {
    let py = array.py();
    let source = array.get().array(py)?;
    let _inherited = allocator_inheritance::inherit(py, std::iter::once(source))?;
    let part = if is_upper { Triangle::Upper } else { Triangle::Lower };
    let copied = py.without_gil(|| triangle::copy(source, part, diagonal, &stream::current(source.device())))?;
    copied.map(|copied| new_like(array, GpuArray::from_array(copied))).transpose()
}

names! {
    internal_functions: _triangle;
}
