//! Defines the functions of PyCUDA's, PybindGPU's and CuPy's modules that the native interface lacks.

use crate::exported_names::ExportedNames;

mod cupy;
pub(crate) mod driver_memory;
pub(crate) mod managed_memory;
pub(crate) mod pybindgpu;
pub(crate) mod pycuda;

/// Adds classes and functions to the module.
pub(crate) fn register(names: &mut ExportedNames) {
    driver_memory::register(names);
    managed_memory::register(names);
    pycuda::register(names);
}
