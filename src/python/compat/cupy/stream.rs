//! Defines the attributes of a stream under CuPy's names.

use pyo3::prelude::*;

use crate::gil::WithoutGil;
use crate::runtime::stream::PyStream;

#[pymethods]
impl PyStream {
    /// Whether this stream and the legacy default stream do not wait for each other.
    #[getter]
    fn is_non_blocking(&self, py: Python<'_>) -> PyResult<bool> {
        let stream = self.stream()?;
        Ok(py.without_gil(|| stream.flags())?.non_blocking)
    }

    /// Priority after the driver's clamping; lower numbers run first. 0 on the CPU.
    #[getter]
    fn priority(&self, py: Python<'_>) -> PyResult<i32> {
        let stream = self.stream()?;
        Ok(py.without_gil(|| stream.flags())?.priority)
    }
}
