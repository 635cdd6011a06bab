//! The Python module `PyGPU._core`: the only pyo3 classes. Each method parses its arguments, calls the layers below with the
//! GIL released around whatever may reach a driver, and wraps the result.
//!
//! The rooms import one way, as the layers do: `tests/repository/test_layers.py` holds the line.

use pyo3::prelude::*;

mod callback;
mod deferral;
mod ending;
mod errors;
mod exit;
mod ffi;
mod gil;
mod late;
mod libraries;
mod once;
mod settings;

mod array;
mod compat;
mod convert;
mod create;
mod custom;
mod exchange;
mod host;
mod kernel;
mod operators;
mod runtime;
mod texture;
mod views;

/// The native core of PyGPU.
// Imported by a free-threaded interpreter it enables the GIL: docs/design/deferred_arithmetic.md has why.
#[pymodule(gil_used = true)]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::array::attributes::Flags;
    #[pymodule_export]
    use super::array::class::GpuArray;
    #[pymodule_export]
    use super::create::asarray::asarray;
    #[pymodule_export]
    use super::create::astype::astype;
    #[pymodule_export]
    use super::create::creation::{empty, full, ones, zeros};
    #[pymodule_export]
    use super::create::from_dlpack::from_dlpack;
    #[pymodule_export]
    use super::create::like::{empty_like, full_like, ones_like, zeros_like};
    #[pymodule_export]
    use super::create::sequence::{arange, linspace};
    #[pymodule_export]
    use super::create::upload::{to_gpu, to_gpu_async};
    #[pymodule_export]
    use super::operators::protocols::_restore;
    #[pymodule_export]
    use super::views::copyto::copyto;
    #[pymodule_export]
    use super::views::view::{broadcast_to, expand_dims, flip, moveaxis};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)?;
        exchange::dlpack::register();
        runtime::compiler::register();
        settings::register();
        callback::register();
        deferral::register();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        convert::register(module)?;
        runtime::register(module)?;
        host::register(module)?;
        create::register(module)?;
        exchange::share::register(module)?;
        texture::register(module)?;
        kernel::register(module)?;
        custom::register(module)?;
        views::take::register(module)?;
        deferral::add_to(module)?;
        operators::register(module)?;
        compat::register(module)?;
        exit::register(module)?;
        convert::ndarray::prepare(module.py());
        array::class::check_object_layout(module.py())
    }
}
