//! Performs flushes that Python code causes. A flush releases the GIL, because a launch may wait for a function that
//! needs the GIL.

pub(crate) mod record_node;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::exported_names::names;
use crate::ffi::interpreter::with_held_gil;
use crate::gil::WithoutGil;
use pygpu_array::DeferredArray;
use pygpu_base::flush_points::{self as hooks, FlushReason, Scope};
use pygpu_device::shutdown;
use pygpu_memory::{Access, Allocation};
use pygpu_ops::fusion::{self, EagerReason, FusionMode};

/// Registers [`flush_from_anywhere`] as the flush function of the lower layers.
pub(crate) fn set_hooks() {
    fusion::install_hooks(flush_from_anywhere);
}

/// Flushes the queues of deferred operations in `scope` without the GIL. If the calling thread holds the GIL, the GIL
/// is released for the flush and acquired again afterwards. A thread that does not hold the GIL, such as the helper
/// thread, never acquires it here.
fn flush_from_anywhere(scope: Scope, cause: FlushReason) {
    let flush = || fusion::flush(scope, cause);
    if shutdown::exiting() || with_held_gil(|py| py.without_gil(flush)).is_none() {
        flush();
    }
}

/// Launches the pending operations of the calling thread.
#[inline(always)]
pub(crate) fn flush_pending(_: Python<'_>, cause: FlushReason) {
    hooks::flush(cause);
}

/// Launches the pending operations of all threads; a wait, a capture or a reset calls this function first.
#[inline]
pub(crate) fn flush_all_pending(_: Python<'_>, cause: FlushReason) {
    hooks::flush_all(cause);
}

/// Launches the pending operation that computes an operand, whichever thread has deferred it.
///
/// # Errors
/// The error of the launched operation.
#[inline]
pub(crate) fn materialize(array: &DeferredArray) -> PyResult<()> {
    if hooks::has_pending() { require_values(array.allocation()) } else { Ok(()) }
}

/// Launches the operation that computes the values of a memory block, and all earlier operations of the same queue.
///
/// # Errors
/// The error of the launched operation.
#[cold]
#[inline(never)]
pub(crate) fn require_values(block: &Arc<Allocation>) -> PyResult<()> {
    if block.device().is_cpu() {
        return Ok(()); // operations on CPU memory are never deferred
    }
    hooks::flush(FlushReason::Values);
    block.flush(Access::Read, FlushReason::Values);
    block.check()?;
    if !block.is_pending() {
        return Ok(());
    }
    // The operation could not be launched, because this code runs in a function that a stream calls, or during process
    // exit.
    Err(PyRuntimeError::new_err(
        "the array's values wait for their operation, which cannot be launched here: a function that a stream calls may call no \
         driver; launch it before, with PyGPU.flush()",
    ))
}

/// Set whether the calling thread's operations are deferred; Python code uses `PyGPU.fusion`.
///
/// Pending operations are launched before the mode changes.
///
/// Parameters
/// ----------
/// mode : {'auto', 'off'}
///     The new mode.
///
/// Returns
/// -------
/// str
///     The previous mode.
#[pyfunction]
#[pyo3(signature = (mode: "str") -> "str")]
fn _set_fusion(py: Python<'_>, mode: &str) -> PyResult<&'static str> {
    let Some(mode) = FusionMode::named(mode) else {
        return Err(PyValueError::new_err(format!("fusion is 'auto' or 'off', and not '{mode}'")));
    };
    let previous = fusion::current()?;
    if mode != previous {
        flush_pending(py, FlushReason::Explicit);
        fusion::enter(mode);
    }
    Ok(previous.name())
}

/// Return the calling thread's fusion mode.
#[pyfunction]
#[pyo3(signature = () -> "str")]
fn _get_fusion() -> PyResult<&'static str> {
    Ok(fusion::current()?.name())
}

/// Launch this thread's deferred operations, and raise their error if no other call has raised it.
///
/// Operations on arrays of a GPU are deferred, so that one kernel computes several of them. Any access that could
/// observe a pending result launches the operations first. If a launch fails, the error is raised where a result of
/// this launch is used. Call this function inside a `try` to receive the error there.
///
/// Raises
/// ------
/// DriverError
///     If the driver refuses a launch. The message names an operation, its dtype and shape, and the number of
///     operations of the launch.
/// OutOfMemoryError
///     If memory for a result is exhausted.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> x = PyGPU.ones(3)
/// >>> y = 2 * x + 1
/// >>> PyGPU.flush()
#[pyfunction]
#[pyo3(signature = () -> "None")]
fn flush(py: Python<'_>) -> PyResult<()> {
    flush_pending(py, FlushReason::Explicit);
    Ok(hooks::take_error().map_or(Ok(()), Err)?)
}

/// Set the age in microseconds at which a helper thread launches pending operations, for tests.
///
/// Parameters
/// ----------
/// microseconds : int, optional
///     Interval of the helper thread. An operation is launched after one to two intervals. 0 removes the bound, None restores the
///     default.
#[pyfunction]
#[pyo3(signature = (microseconds: "int | None" = None) -> "None")]
fn _bound_fusion_age(microseconds: Option<u64>) {
    fusion::set_interval(microseconds);
}

/// Return the counters of `fusion_report` by name.
#[pyfunction]
#[pyo3(signature = () -> "dict[str, Any]")]
fn _fusion_figures(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let figures = fusion::figures();
    let report = PyDict::new(py);
    for (name, count) in [
        ("operations", figures.nodes),
        ("waiting", fusion::pending_count() as u64),
        ("dropped", figures.dropped),
        ("computed", figures.computed),
        ("kernels", figures.kernels),
        ("fused", figures.fused),
        ("outputs", figures.outputs),
        ("first_meetings", figures.first_meetings),
        ("failures", figures.failures),
    ] {
        report.set_item(name, count)?;
    }
    let (flushes, eager) = (PyDict::new(py), PyDict::new(py));
    for (cause, count) in FlushReason::ALL.iter().zip(figures.closed) {
        flushes.set_item(cause.name(), count)?;
    }
    for (reason, count) in EagerReason::ALL.iter().zip(figures.refused) {
        eager.set_item(reason.name(), count)?;
    }
    report.set_item("closed", flushes)?;
    report.set_item("at_once", eager)?;
    Ok(report)
}

/// Begin or end a report. While any report is active, each launch of pending operations is logged to `logging`.
///
/// Parameters
/// ----------
/// is_begun : bool
///     True when a report begins, False when it ends.
#[pyfunction]
#[pyo3(signature = (is_begun: "bool") -> "None")]
fn _watch_fusion(is_begun: bool) {
    fusion::watch(is_begun);
}

/// Return the number of pending operations.
#[pyfunction]
#[pyo3(signature = () -> "int")]
fn _count_waiting() -> usize {
    fusion::pending_count()
}

/// Set limits of deferred operations, for tests; omitted limits return to their defaults.
///
/// Parameters
/// ----------
/// nodes : int, optional
///     Maximum number of pending operations.
/// results : int, optional
///     Maximum bytes of the results of pending operations.
/// held : int, optional
///     Maximum bytes of operands that only pending operations reference, in addition to their results.
/// arrays : int, optional
///     Maximum number of arrays of one kernel.
/// outputs : int, optional
///     Maximum number of results of one kernel.
/// compile_threshold : int, optional
///     Number of uses before an expression is compiled.
#[pyfunction]
#[pyo3(signature = (
    *, nodes: "int | None" = None, results: "int | None" = None, held: "int | None" = None,
    arrays: "int | None" = None, outputs: "int | None" = None, compile_threshold: "int | None" = None
) -> "None")]
fn _limit_fusion(
    nodes: Option<usize>,
    results: Option<usize>,
    held: Option<usize>,
    arrays: Option<usize>,
    outputs: Option<usize>,
    compile_threshold: Option<u64>,
) {
    fusion::reset_limits();
    let limits = fusion::limit();
    let overrides = [
        (&limits.nodes, nodes),
        (&limits.results, results),
        (&limits.held, held),
        (&limits.arrays, arrays),
        (&limits.outputs, outputs),
    ];
    for (limit, overrides) in overrides {
        overrides.into_iter().for_each(|value| limit.store(value, Ordering::Relaxed));
    }
    compile_threshold.into_iter().for_each(|value| limits.compile_threshold.store(value, Ordering::Relaxed));
}

names! {
    internal_functions: _set_fusion, _get_fusion, _fusion_figures, _limit_fusion, _count_waiting, _watch_fusion,
        _bound_fusion_age;
    functions "When it is computed": flush;
}
