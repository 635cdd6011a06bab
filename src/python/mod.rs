//! The Python module `PyGPU._core`: the only pyo3 classes. Each method parses its arguments, calls the layers below with the
//! GIL released around whatever may reach a driver, and wraps the result.

use pyo3::prelude::*;

mod array;
mod assign;
mod attributes;
mod creation;
mod device;
mod dtype;
mod errors;
mod foreign;
mod gather;
mod host;
mod import;
mod index;
mod like;
mod pinned;
mod protocols;
mod pybindgpu;
mod shape;
mod stream;
mod transfer;
mod upload;
mod views;

/// The native core of PyGPU.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::array::GpuArray;
    #[pymodule_export]
    use super::attributes::Flags;
    #[pymodule_export]
    use super::creation::{empty, full, ones, zeros};
    #[pymodule_export]
    use super::like::{empty_like, full_like, ones_like, zeros_like};
    #[pymodule_export]
    use super::protocols::_restore;
    #[pymodule_export]
    use super::upload::{arange, to_gpu, to_gpu_async};
    #[pymodule_export]
    use super::views::{broadcast_to, expand_dims, flip, moveaxis};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        array::check_object_layout(module.py())
    }
}
