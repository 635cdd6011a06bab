//! Enables, disables, begins and ends named ranges, which a profiler shows in its timeline.

use pyo3::prelude::*;

use crate::exported_names::names;
use crate::gil::WithoutGil;
use pygpu_backend::libraries::profiler_ranges;

/// Enables or disables named ranges in a profiler's timeline. `PyGPU.profile.annotate` calls this function.
///
/// Parameters
/// ----------
/// which : str or None
///     The profiler library that receives the ranges: `nvtx`, `roctx` or a path; None disables ranges.
///
/// Returns
/// -------
/// str or None
///     Path of the opened library; None if ranges were disabled.
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

/// Returns whether ranges are enabled, by the environment variable `PYGPU_PROFILE` or by `_annotate`.
///
/// Returns
/// -------
/// bool
#[pyfunction]
#[pyo3(signature = () -> "bool")]
fn _is_annotated(py: Python<'_>) -> bool {
    py.without_gil(profiler_ranges::are_on)
}

/// Begins a named range on this thread if ranges are enabled, and returns whether they are enabled.
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
    // The guard of the range is leaked, because its drop would end the range, which `_end_range` ends later.
    profiler_ranges::range(|| name).map(std::mem::forget).is_some()
}

/// Ends the last range that `_begin_range` began on this thread.
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn _end_range() {
    profiler_ranges::end();
}

names! {
    internal_functions: _annotate, _is_annotated, _begin_range, _end_range;
}
