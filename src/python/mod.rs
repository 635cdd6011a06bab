//! The Python module `PyGPU._core`: the only pyo3 classes. Each method parses its arguments, calls the layers below with the
//! GIL released around whatever may reach a driver, and wraps the result.

use pyo3::prelude::*;

mod address;
mod allocator;
mod array;
mod asarray;
mod assign;
mod attributes;
mod c_types;
mod cai;
mod callback;
mod config;
mod creation;
mod device;
mod device_memory;
mod devices;
mod dlpack;
mod driver_memory;
mod dtype;
mod elementwise;
mod errors;
mod event;
mod exchange;
mod exit;
mod fields;
mod foreign;
mod from_dlpack;
mod gather;
mod gil;
mod graph;
mod host;
mod host_side;
mod import;
mod index;
mod kernel;
mod kernel_attributes;
mod kernel_call;
mod kernel_host;
mod kernel_launcher;
mod kernel_module;
mod kernel_refusal;
mod kernel_source;
mod kernel_values;
mod like;
mod memory;
mod newer;
mod number;
mod once;
mod operators;
mod ops_call;
mod pinned;
mod place;
mod producer;
mod properties;
mod protocols;
mod pybindgpu;
mod pycuda_context;
mod pycuda_function;
mod pycuda_function_attributes;
mod pycuda_source;
mod raw;
mod raw_copy;
mod reduction;
mod result;
mod scan;
mod selection;
mod settings;
mod shape;
mod spare;
mod stream;
mod strict;
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
    use super::asarray::asarray;
    #[pymodule_export]
    use super::attributes::Flags;
    #[pymodule_export]
    use super::creation::{empty, full, ones, zeros};
    #[pymodule_export]
    use super::from_dlpack::from_dlpack;
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
        dlpack::register();
        kernel_source::register();
        settings::register();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        device::register(module)?;
        devices::register(module)?;
        stream::register(module)?;
        event::register(module)?;
        memory::register(module)?;
        allocator::register(module)?;
        raw::register(module)?;
        device_memory::register(module)?;
        driver_memory::register(module)?;
        address::register(module)?;
        raw_copy::register(module)?;
        pinned::register(module)?;
        config::register(module)?;
        graph::register(module)?;
        kernel::register(module)?;
        kernel_host::register(module)?;
        kernel_module::register(module)?;
        c_types::register(module)?;
        elementwise::register(module)?;
        reduction::register(module)?;
        scan::register(module)?;
        pycuda_context::register(module)?;
        pycuda_function::register(module)?;
        pycuda_source::register(module)?;
        exit::register(module)?;
        strict::register(module)?;
        host::prepare(module.py());
        array::check_object_layout(module.py())
    }
}
