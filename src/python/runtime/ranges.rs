//! Named ranges in a profiler's timeline, switched on and off.

use pyo3::prelude::*;

use crate::gil::WithoutGil;
use crate::names::names;
use pygpu_backend::libraries::ranges;

/// Switches ranges on or off; `PyGPU.profile.annotate` for Python code.
///
/// Parameters
/// ----------
/// which : str or None
///     `nvtx`, `roctx` or a library's path; None switches them off.
///
/// Returns
/// -------
/// str or None
///     The library's file.
#[pyfunction]
#[pyo3(signature = (which: "str | None") -> "str | None")]
fn _annotate(py: Python<'_>, which: Option<String>) -> PyResult<Option<String>> {
    match which {
        Some(which) => Ok(Some(py.without_gil(|| ranges::switch_on(&which))?)),
        None => {
            ranges::switch_off();
            Ok(None)
        }
    }
}

/// Whether ranges are on, as `PYGPU_PROFILE` or a call said.
///
/// Returns
/// -------
/// bool
#[pyfunction]
#[pyo3(signature = () -> "bool")]
fn _is_annotated(py: Python<'_>) -> bool {
    py.without_gil(ranges::are_on)
}

/// Begins a range on this thread, and tells whether it did.
///
/// Parameters
/// ----------
/// name : str
///     What a profiler shows.
///
/// Returns
/// -------
/// bool
#[pyfunction]
#[pyo3(signature = (name: "str") -> "bool")]
fn _begin_range(name: &str) -> bool {
    // It ends with `_end_range`.
    ranges::range(|| name).map(std::mem::forget).is_some()
}

/// Ends what `_begin_range` began last.
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn _end_range() {
    ranges::end();
}

names! {
    internal_functions: _annotate, _is_annotated, _begin_range, _end_range;
}
