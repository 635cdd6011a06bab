//! stub
use pyo3::prelude::*;
use numpy::PyUntypedArray;
use crate::array::Array;
pub(super) fn empty_like_array<'py>(py: Python<'py>, a: &Array) -> PyResult<Bound<'py, PyUntypedArray>> { super::host::empty_like(py, a.layout(), a.dtype()) }
