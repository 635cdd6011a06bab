//! The Python module `PyGPU._core`: the only pyo3 classes. Each method parses its arguments, calls the layers below with the
//! GIL released around whatever may reach a driver, and wraps the result.

use pyo3::prelude::*;

mod errors;

/// The native core of PyGPU.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)
    }
}
