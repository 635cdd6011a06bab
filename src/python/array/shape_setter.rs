//! Implements the assignment to `a.shape`, which gives the array another view of the same elements.

use std::ffi::CStr;

use pyo3::exceptions::{PyAttributeError, PyDeprecationWarning};
use pyo3::prelude::*;

use super::class::GpuArray;
use crate::convert::shape;
use crate::py_once::{PyOnce, intern};
use pygpu_layout::{MemoryOrder, tuple_text};

const DEPRECATION: &CStr =
    c"Setting the shape on an array has been deprecated in NumPy 2.5; create a view instead, by \
a.reshape(shape, copy=False)";

#[pymethods]
impl GpuArray {
    // This method has no docstring, because the link order would decide whether Python shows the docstring of the
    // getter or of the setter.
    #[setter]
    fn set_shape(slf: &Bound<'_, Self>, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        if is_deprecated(py)? {
            PyErr::warn(py, &py.get_type::<PyDeprecationWarning>(), DEPRECATION, 1)?;
        }
        let lengths = shape::from_python(shape)?;
        let layout = slf.get().layout();
        match layout.reshape(&lengths, MemoryOrder::C)? {
            Some(reshaped) => slf.get().replace_layout(py, reshaped),
            None => Err(PyAttributeError::new_err(format!(
                "Incompatible shape for in-place modification: an array of shape {} and strides {} has no view of shape \
                 {}; use `.reshape()` to make a copy with the desired shape",
                tuple_text(layout.shape()),
                tuple_text(layout.strides()),
                tuple_text(lengths)
            ))),
        }
    }
}

/// Whether the installed version of NumPy deprecates the assignment.
fn is_deprecated(py: Python<'_>) -> PyResult<bool> {
    static IS_DEPRECATED: PyOnce<bool> = PyOnce::new();
    let read = || {
        let version: String = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "__version__"))?.extract()?;
        let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0u32));
        Ok::<_, PyErr>((numbers.next(), numbers.next()) >= (Some(2), Some(5)))
    };
    IS_DEPRECATED.get_or_try_init(py, read).copied()
}
