//! stub
use crate::array::Array;
use numpy::PyUntypedArray;
use pyo3::prelude::*;
pub(super) fn empty_like_array<'py>(py: Python<'py>, a: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    super::host::empty_like(py, a.layout(), a.dtype())
}
