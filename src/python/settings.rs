//! Reads the environment for the crate, under the GIL, from `os.environ`: who changes it there holds the GIL too, and what
//! it says is what Python code of the program sees.

use std::ffi::OsString;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::python::callback;
use crate::{lifetime, settings};

fn environment() -> Option<Vec<(OsString, OsString)>> {
    // Whoever ends the process needs none, and must not be waited for.
    if lifetime::exiting() {
        return None;
    }
    callback::with_interpreter(|py| copy(py).ok()).flatten()
}

fn copy(py: Python<'_>) -> PyResult<Vec<(OsString, OsString)>> {
    let copy = py.import("os")?.getattr("environ")?.call_method0("copy")?;
    copy.cast_into::<PyDict>()?.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect()
}

/// Says who reads.
pub(crate) fn register() {
    settings::read_with(environment);
}
