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

    use exported_names::ExportedNames;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        if !ffi::interpreter::is_main(module.py()) {
            // The imported Python module raises the error for subinterpreters. The package PyGPU imports that module
            // itself only if NumPy is not loaded yet.
            module.py().import("PyGPU._process.main_interpreter")?;
        }
        let mut exported = ExportedNames::default();
        let names = &mut exported;
        errors::register(names);
        interop::dlpack::register();
        runtime::compiler::register();
        settings::register();
        callback::register();
        fusion::set_hooks();
        names.add("__version__", exported_names::text, env!("CARGO_PKG_VERSION"), true);
        array::register(names);
        convert::register(names);
        runtime::register(names);
        host_transfers::register(names);
        create::register(names);
        interop::ipc::register(names);
        texture::register(names);
        kernel::register(names);
        custom_kernels::register(names);
        views::register(names);
        fusion::register(names);
        operators::register(names);
        compat::register(names);
        atexit::register(module)?;
        exported.publish(module)?;
        convert::ndarray::prepare(module.py());
        array::class::check_object_layout(module.py())
    }
}
