//! What PyCUDA's and PybindGPU's modules need beyond the native surface.

use pyo3::prelude::*;

pub(crate) mod driver_memory;
pub(crate) mod managed;
pub(crate) mod pybindgpu;
pub(crate) mod pycuda;

/// Puts classes and functions into the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    driver_memory::register(module)?;
    managed::register(module)?;
    pycuda::register(module)
}
