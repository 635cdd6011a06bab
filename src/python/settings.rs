//! Reads environment variables for the Rust layers from `os.environ`, with the GIL held. Python code that changes a
//! variable holds the GIL, too, and reads the same values.

use std::error::Error;
use std::ffi::OsString;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callback::CallbackError;
use crate::ffi::interpreter::with_interpreter;
use pygpu_backend::set_interrupt_check;
use pygpu_base::settings;
use pygpu_device::shutdown;

fn environment() -> Option<Vec<(OsString, OsString)>> {
    // During process exit the finalizing thread needs no environment variables, and must not wait for the GIL.
    if shutdown::exiting() {
        return None;
    }
    with_interpreter(|py| copy(py).ok()).flatten()
}

fn copy(py: Python<'_>) -> PyResult<Vec<(OsString, OsString)>> {
    let copy = py.import("os")?.getattr("environ")?.call_method0("copy")?;
    copy.cast_into::<PyDict>()?.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect()
}

/// Returns the exception that Python's signal handlers raise after Ctrl-C. Returns `None` on any thread but the main
/// thread, and if the program's handler raises no exception.
fn interrupted() -> Option<Arc<dyn Error + Send + Sync>> {
    with_interpreter(|py| py.check_signals().err().map(|error| Arc::new(CallbackError::new(py, error)) as Arc<_>))
        .flatten()
}

/// Registers the functions that read the environment variables and that check for Ctrl-C.
pub(crate) fn register() {
    settings::read_with(environment);
    set_interrupt_check(interrupted);
}
