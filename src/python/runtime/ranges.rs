//! Enabling and disabling of named ranges in a profiler's timeline.

use pyo3::prelude::*;

use crate::gil::WithoutGil;
use pygpu_backend::libraries::ranges;

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
fn _annotate(py: Python<'_>, which: Option<String>) -> PyResult<Option<String>> {
    match which {
        Some(which) => Ok(Some(py.without_gil(|| ranges::switch_on(&which))?)),
        None => {
            ranges::switch_off();
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
fn _is_annotated(py: Python<'_>) -> bool {
    py.without_gil(ranges::are_on)
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
fn _begin_range(name: &str) -> bool {
    // Leaked, because `_end_range` ends it.
    ranges::range(|| name).map(std::mem::forget).is_some()
}

/// Ends the range begun last by `_begin_range`.
#[pyfunction]
fn _end_range() {
    ranges::end();
}

/// Adds the functions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_annotate, module)?)?;
    module.add_function(wrap_pyfunction!(_is_annotated, module)?)?;
    module.add_function(wrap_pyfunction!(_begin_range, module)?)?;
    module.add_function(wrap_pyfunction!(_end_range, module)?)
}
