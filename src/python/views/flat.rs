//! Defines the attribute `GPUArray.flat`.

use pyo3::prelude::*;
use pyo3::types::PyEllipsis;

use crate::array::class::GpuArray;
use crate::py_once::intern;

#[pymethods]
impl GpuArray {
    /// Access to the elements in C order by one index, as a `flatiter`; an assignment repeats or truncates the values.
    #[getter]
    // stub: -> flatiter
    fn flat<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._functions.indexing.flat_iterator"))?
            .getattr(intern!(py, "flatiter"))?
            .call1((slf,))
    }

    #[setter]
    fn set_flat(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::flat(slf)?.set_item(PyEllipsis::get(slf.py()), value)
    }
}
