//! Enabling and disabling of named ranges in a profiler's timeline.

use pyo3::prelude::*;

use crate::gil::WithoutGil;
use crate::names::names;
use pygpu_backend::libraries::profiler_ranges;

/// Enables or disables ranges; `PyGPU.profile.annotate` for Python code.
///
/// Parameters
/// ----------
/// which : str or None
///     `nvtx`, `roctx` or a library's path; None disables ranges.
///
/// Returns
/// -------
/// str or None
///     File of the library.
#[pyfunction]
#[pyo3(signature = (which: "str | None") -> "str | None")]
fn _annotate(py: Python<'_>, which: Option<String>) -> PyResult<Option<String>> {
    match which {
        Some(which) => Ok(Some(py.without_gil(|| profiler_ranges::switch_on(&which))?)),
        None => {
            profiler_ranges::switch_off();
            Ok(None)
        }
    }
}

/// Returns whether ranges are enabled, by `PYGPU_PROFILE` or a call.
///
/// Returns
/// -------
/// bool
#[pyfunction]
#[pyo3(signature = () -> "bool")]
fn _is_annotated(py: Python<'_>) -> bool {
    py.without_gil(profiler_ranges::are_on)
}

/// Begins a range on this thread; returns whether ranges are enabled.
///
/// Parameters
/// ----------
/// name : str
///     Name shown by a profiler.
///
/// Returns
/// -------
/// bool
#[pyfunction]
#[pyo3(signature = (name: "str") -> "bool")]
fn _begin_range(name: &str) -> bool {
    // The guard must not end the range, because `_end_range` does.
    profiler_ranges::range(|| name).map(std::mem::forget).is_some()
}

/// Ends the range begun last by `_begin_range`.
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn _end_range() {
    profiler_ranges::end();
}

names! {
    internal_functions: _annotate, _is_annotated, _begin_range, _end_range;
}
