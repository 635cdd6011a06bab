//! The state of the interpreter and of the GIL, for functions that other libraries call.
//!
//! Why the interpreter is queried: pyo3 counts for each thread how often it attached, and believes that count. A library that was called
//! from below us may have released the GIL since (PyTorch does while it frees a tensor) and then call us back: by the count the thread
//! is attached, and whatever it does to an object races with the thread that has the GIL.

use std::ffi::{c_int, c_void};

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::newer;
use super::objects::HasGil;
use crate::ending;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::flush::PythonAccess;

/// Whether the interpreter says that this thread holds the GIL. It may say so wrongly where there are several interpreters; then
/// somebody waits for the GIL who need not, and nothing is done without it.
pub(crate) fn holds_gil() -> bool {
    // SAFETY: the functions may be called on any thread. After the interpreter's end the last one answers 1, so that the first is
    // asked first; a thread that Python does not know has no state.
    unsafe { ffi::Py_IsInitialized() != 0 && !ffi::PyGILState_GetThisThreadState().is_null() && newer::holds_gil() }
}

/// Runs `work` if this thread holds the GIL. pyo3's count, which may not include it, makes no difference to work with objects.
pub(crate) fn if_held<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    // SAFETY: the interpreter says so.
    holds_gil().then(|| work(unsafe { Python::assume_attached() }))
}

/// Runs `work` with the GIL, whatever the thread's state is; waits for it if need be. `None`, and nothing is done, where Python
/// cannot be asked: it is not there any more, or is about to end, or its collector is asking us.
pub(crate) fn with_interpreter<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _access = PythonAccess::expected()?;
    let _asking = ending::leave_to_ask()?;
    // SAFETY: may be asked at any time.
    if unsafe { ffi::Py_IsInitialized() } == 0 {
        return None;
    }
    let _ensured = Ensured::new();
    // The thread has the GIL now. This tells pyo3's count, which may have known and may not.
    Python::try_attach(work)
}

/// Answers a function of C that reports errors as Python does: an error, or a panic, becomes the thread's exception, and -1. Who
/// calls has the GIL by contract, and then pays for the question only.
pub(crate) fn answer(work: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    catch_panic(-1, || {
        if holds_gil() {
            // SAFETY: the interpreter says so. That pyo3 may not know makes no difference to what `work` does with it.
            return restore(unsafe { Python::assume_attached() }, work);
        }
        with_interpreter(|py| restore(py, work)).unwrap_or(-1)
    })
}

fn restore(py: Python<'_>, work: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    // Caught here already, while there is an interpreter that can be told.
    let result = catch_panic(None, || Some(work(py)));
    match result.unwrap_or_else(|| Err(PySystemError::new_err("a defect of PyGPU; see the text on stderr"))) {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// The GIL, taken in the interpreter's own counting.
pub(crate) struct Ensured(ffi::PyGILState_STATE);

impl Ensured {
    /// For a thread that [`ending::leave_to_ask`] let ask, for as long as its answer lives.
    pub(crate) fn new() -> Self {
        // SAFETY: the interpreter is there, and does not end while `shutdown::Asking` counts this thread.
        Self(unsafe { ffi::PyGILState_Ensure() })
    }
}

impl HasGil for Ensured {}

impl Drop for Ensured {
    fn drop(&mut self) {
        // SAFETY: goes with the call in `new`, on the same thread, innermost first.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Lets the main thread call a function in its next steps; refused where the list of pending calls is full.
pub(crate) fn call_later(function: extern "C" fn(*mut c_void) -> c_int) {
    // SAFETY: needs no GIL; the function takes no data.
    unsafe { ffi::Py_AddPendingCall(Some(function), std::ptr::null_mut()) };
}
