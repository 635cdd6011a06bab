//! Defines the Python module `PyGPU._core`, which contains all pyo3 classes. A method parses its arguments, calls the
//! lower layers with the GIL released around driver calls, and wraps the result.
//!
//! Each folder of this crate imports only folders of lower layers. `tests/repository/test_rust_layers.py` lists the
//! layers and verifies this rule.

use pyo3::prelude::*;

mod atexit;
mod callback;
mod errors;
mod exported_names;
mod ffi;
mod finalization;
mod fusion;
mod gil;
mod init_cell;
mod library_search;
mod py_once;
mod settings;

mod array;
mod compat;
mod convert;
mod create;
mod custom_kernels;
mod host_transfers;
mod interop;
mod kernel;
mod operators;
mod runtime;
mod texture;
mod views;

/// The native core of PyGPU.
// When a free-threaded interpreter imports this module, it enables the GIL, because `gil_used` is set: see
// docs/design/fusion.md.
#[pymodule(gil_used = true)]
mod _core {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        if !ffi::interpreter::is_main(module.py()) {
            // The imported Python module raises the error for subinterpreters. The package PyGPU imports that module
            // itself only if NumPy is not loaded yet.
            module.py().import("PyGPU._process.main_interpreter")?;
        }
        errors::register(module)?;
        interop::dlpack::register();
        runtime::compiler::register();
        settings::register();
        callback::register();
        fusion::set_hooks();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        array::register(module)?;
        convert::register(module)?;
        runtime::register(module)?;
        host_transfers::register(module)?;
        create::register(module)?;
        interop::ipc::register(module)?;
        texture::register(module)?;
        kernel::register(module)?;
        custom_kernels::register(module)?;
        views::register(module)?;
        fusion::register(module)?;
        operators::register(module)?;
        compat::register(module)?;
        atexit::register(module)?;
        exported_names::intern_all(module)?;
        convert::ndarray::prepare(module.py());
        array::class::check_object_layout(module.py())
    }
}
