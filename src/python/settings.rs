//! Reads the environment for the crate, under the GIL, from `os.environ`: who changes it there holds the GIL too, and what
//! it says is what Python code of the program sees.

use std::error::Error;
use std::ffi::OsString;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callback::Raised;
use crate::ffi::interpreter::with_interpreter;
use pygpu_backend::set_interrupt_check;
use pygpu_base::settings;
use pygpu_device::shutdown;

fn environment() -> Option<Vec<(OsString, OsString)>> {
    // Whoever ends the process needs none, and must not be waited for.
    if shutdown::exiting() {
        return None;
    }
    with_interpreter(|py| copy(py).ok()).flatten()
}

fn copy(py: Python<'_>) -> PyResult<Vec<(OsString, OsString)>> {
    let copy = py.import("os")?.getattr("environ")?.call_method0("copy")?;
    copy.cast_into::<PyDict>()?.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect()
}

/// What Ctrl-C raises on this thread: nothing but on the main one, or where the program's own handler raises nothing.
fn interrupted() -> Option<Arc<dyn Error + Send + Sync>> {
    with_interpreter(|py| py.check_signals().err().map(|error| Arc::new(Raised::new(py, error)) as Arc<_>)).flatten()
}

/// Says who reads, and who knows of Ctrl-C.
pub(crate) fn register() {
    settings::read_with(environment);
    set_interrupt_check(interrupted);
}
