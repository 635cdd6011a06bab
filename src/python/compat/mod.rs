//! Defines the functions of PyCUDA's, PybindGPU's and CuPy's modules that the native interface lacks.

use pyo3::prelude::*;

mod cupy;
pub(crate) mod driver_memory;
pub(crate) mod managed_memory;
pub(crate) mod pybindgpu;
pub(crate) mod pycuda;

/// Adds classes and functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    driver_memory::register(module)?;
    managed_memory::register(module)?;
    pycuda::register(module)
}
