//! Queries the state of the interpreter and of the GIL, for PyGPU functions that other libraries call.
//!
//! The interpreter is queried because pyo3 relies on its own count of each thread's attachments. A library that PyGPU
//! calls may release the GIL (PyTorch does while it frees a tensor) and then call back. According to pyo3's count the
//! thread is still attached, and its access to an object races with the thread that holds the GIL.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::capi_optional;
use super::objects::HasGil;
use crate::finalization;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::flush_points::PythonAccess;

/// Returns whether the interpreter reports that this thread holds the GIL. With several interpreters the report may
/// wrongly be false. The thread then waits for the GIL unnecessarily, but never works without the GIL.
pub(crate) fn holds_gil() -> bool {
    // SAFETY: any thread may call these functions. `PyGILState_Check` returns 1 after finalization, so
    // `Py_IsInitialized` is called first. A thread unknown to Python has no thread state.
    unsafe {
        ffi::Py_IsInitialized() != 0 && !ffi::PyGILState_GetThisThreadState().is_null() && capi_optional::holds_gil()
    }
}

/// Returns whether the calling thread runs in the main interpreter of the process, whose number is 0.
pub(crate) fn is_main(_: Python<'_>) -> bool {
    // SAFETY: the GIL token proves that the thread is attached to an interpreter, which is therefore alive.
    unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) == 0 }
}

/// Runs `work` if this thread holds the GIL. Even if pyo3's count of this thread's attachments is 0 here, `work` may
/// use Python objects.
pub(crate) fn with_held_gil<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // SAFETY: the interpreter reported above that this thread holds the GIL.
    holds_gil().then(|| work(unsafe { Python::assume_attached() }))
}

/// Runs `work` with the GIL, on any thread. If the thread does not hold the GIL, the call waits for the GIL.
///
/// Returns `None` without a call of `work` if the interpreter is missing, about to end, or inside the callback of its
/// garbage collector.
pub(crate) fn with_interpreter<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _access = PythonAccess::expected()?;
    let _gil_request = finalization::try_gil_request()?;
    // SAFETY: CPython permits calls of `Py_IsInitialized` at any time and on any thread.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    let _ensured = GilEnsured::new();
    // `GilEnsured::new` has acquired the GIL for this thread. `try_attach` updates pyo3's count.
    Python::try_attach(work)
}

/// Runs the body of a C function that reports errors in Python's way: an error or panic sets the thread's exception and
/// returns -1. The C function's contract requires that its caller holds the GIL. If the caller violates this contract,
/// `work` waits for the GIL.
pub(crate) fn run_as_c_function(work: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    catch_panic(-1, || {
        if holds_gil() {
            // SAFETY: the interpreter reported above that this thread holds the GIL. pyo3's count does not affect the
            // use of the token.
            return restore(unsafe { Python::assume_attached() }, work);
        }
        with_interpreter(|py| restore(py, work)).unwrap_or(-1)
    })
}

fn restore(py: Python<'_>, work: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    // Panics are caught here, while the interpreter exists and can store the exception.
    let result = catch_panic(None, || Some(work(py)));
    match result.unwrap_or_else(|| Err(PySystemError::new_err("a defect of PyGPU; see the text on stderr"))) {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// Guard that holds the GIL. It acquires the GIL by `PyGILState_Ensure`, which relies on the interpreter's count of
/// attachments instead of pyo3's.
pub(crate) struct GilEnsured(ffi::PyGILState_STATE);

impl GilEnsured {
    /// Acquires the GIL. The caller holds the guard of [`finalization::try_gil_request`] until this value is dropped.
    pub(crate) fn new() -> Self {
        // SAFETY: the interpreter exists and does not end, because the caller holds a `shutdown::ForeignCallGuard`,
        // which counts this thread.
        Self(unsafe { ffi::PyGILState_Ensure() })
    }
}

impl HasGil for GilEnsured {}

impl Drop for GilEnsured {
    fn drop(&mut self) {
        // SAFETY: this call releases the GIL that `new` acquired on the same thread. Values are dropped in reverse
        // order of their creation, as the interpreter requires.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Schedules a function on the main thread as a pending call. Python ignores the call if its list of pending calls is
/// full.
pub(crate) fn add_pending_call(function: extern "C" fn(*mut c_void) -> c_int) {
    // SAFETY: `Py_AddPendingCall` may be called without the GIL, and the scheduled function does not read its data
    // argument.
    unsafe { ffi::Py_AddPendingCall(Some(function), std::ptr::null_mut()) };
}
