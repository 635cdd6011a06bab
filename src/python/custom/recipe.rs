//! What a kernel was made of, for its pickles.

use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyTuple;

use crate::once::intern;

/// The arguments of `__init__`, in order.
pub(crate) struct Recipe(Py<PyTuple>);

impl From<Bound<'_, PyTuple>> for Recipe {
    fn from(given: Bound<'_, PyTuple>) -> Self {
        Self(given.unbind())
    }
}

impl Recipe {
    /// What `__reduce__` gives for a kernel of the class `T`, or of one that derives from it.
    ///
    /// # Errors
    /// Those of pickling the arguments.
    pub(crate) fn reduced<'py, T: PyTypeInfo>(&self, kernel: &Bound<'py, T>) -> PyResult<Bound<'py, PyAny>> {
        let py = kernel.py();
        let module = py.import(intern!(py, "PyGPU._native.pickled_kernels"))?;
        module.getattr(intern!(py, "reduced"))?.call1((kernel, T::type_object(py), &self.0))
    }
}
