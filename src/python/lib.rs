//! The Python module `PyGPU._core`, with all pyo3 classes. A method parses its arguments, calls the lower layers with the GIL
//! released around driver calls, and wraps the result.
//!
//! The packages import in one direction, as the layers do: `tests/repository/test_layers.py` verifies it.

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
mod names;
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
// A free-threaded interpreter that imports the module enables the GIL: see docs/design/deferred_arithmetic.md.
#[pymodule(gil_used = true)]
mod _core {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)?;
        exchange::dlpack::register();
        runtime::compiler::register();
        settings::register();
        callback::register();
        deferral::set_hooks();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        array::register(module)?;
        convert::register(module)?;
        runtime::register(module)?;
        host::register(module)?;
        create::register(module)?;
        exchange::share::register(module)?;
        texture::register(module)?;
        kernel::register(module)?;
        custom::register(module)?;
        views::register(module)?;
        deferral::register(module)?;
        operators::register(module)?;
        compat::register(module)?;
        exit::register(module)?;
        names::intern_all(module)?;
        convert::ndarray::prepare(module.py());
        array::class::check_object_layout(module.py())
    }
}
