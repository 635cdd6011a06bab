//! The door to Python for what other libraries call, and the end of Python objects that layers without Python hold.
//!
//! Why a door: pyo3 counts for each thread how often it attached, and believes that count. A library that was called from below
//! us may have released the GIL since (PyTorch does while it frees a tensor) and then call us back: by the count the thread
//! is attached, and whatever it does to an object races with the thread that has the GIL. So whoever may be called by others asks
//! the interpreter itself, which knows: `PyGILState_Ensure`.
//!
//! No destructor waits for the GIL: who holds it may wait for a lock that the caller of the destructor has. Without the GIL an
//! object is put down here, and let go by the next of ours who has it, or by the main thread in its next steps
//! (`Py_AddPendingCall`). Once the process ends nothing is asked any more, and what is left is left to it.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;

use crate::ending;
use crate::newer;
use crate::once::intern;
use pygpu_base::ffi_guard::caught;
use pygpu_base::flush::PythonAccess;
use pygpu_base::fork_safe::Global;
use pygpu_base::iterative_drop;
use pygpu_base::log_queue;
use pygpu_device::shutdown;

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
    caught(-1, || {
        if holds_gil() {
            // SAFETY: the interpreter says so. That pyo3 may not know makes no difference to what `work` does with it.
            return restore(unsafe { Python::assume_attached() }, work);
        }
        with_interpreter(|py| restore(py, work)).unwrap_or(-1)
    })
}

fn restore(py: Python<'_>, work: impl FnOnce(Python<'_>) -> PyResult<()>) -> c_int {
    // Caught here already, while there is an interpreter that can be told.
    let result = caught(None, || Some(work(py)));
    match result.unwrap_or_else(|| Err(PySystemError::new_err("a defect of PyGPU; see the text on stderr"))) {
        Ok(()) => 0,
        Err(error) => {
            error.restore(py);
            -1
        }
    }
}

/// The GIL, had in the interpreter's own counting.
struct Ensured(ffi::PyGILState_STATE);

impl Ensured {
    fn new() -> Self {
        // SAFETY: the interpreter is there, and does not end while `shutdown::Asking` counts this thread.
        Self(unsafe { ffi::PyGILState_Ensure() })
    }
}

impl Drop for Ensured {
    fn drop(&mut self) {
        // SAFETY: goes with the call in `new`, on the same thread, innermost first.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Whether the interpreter says that this thread holds the GIL. It may say so wrongly where there are several interpreters; then
/// somebody waits for the GIL who need not, and nothing is done without it.
pub(crate) fn holds_gil() -> bool {
    // SAFETY: the functions may be called on any thread. After the interpreter's end the last one answers 1, so that the first is
    // asked first; a thread that Python does not know has no state.
    unsafe { ffi::Py_IsInitialized() != 0 && !ffi::PyGILState_GetThisThreadState().is_null() && newer::holds_gil() }
}

/// A Python object that layers without Python keep, such as a lender: it may be dropped in any state of any thread.
pub(crate) struct Kept(ManuallyDrop<Py<PyAny>>);

impl Kept {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(ManuallyDrop::new(object))
    }

    pub(crate) fn object(&self) -> &Py<PyAny> {
        &self.0
    }

    /// Lets go of it on a thread that has the GIL for certain, which then need not be asked for where somebody else has the object too:
    /// nothing ends by that.
    pub(crate) fn end(self, _: Python<'_>) {
        let object = self.0.as_ptr();
        // SAFETY: a live object, and `py` shows that the GIL is held; our reference is given up once, here.
        unsafe {
            if ffi::Py_REFCNT(object) > 1 {
                std::mem::forget(self);
                ffi::Py_DECREF(object);
            }
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: taken out once, here.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        iterative_drop::end(object, let_go, let_go);
    }
}

/// Lets go of an object in whatever state the thread is.
pub(crate) fn let_go(object: Py<PyAny>) {
    // From here on a plain pointer: what is dropped unasked would trust pyo3's count.
    let Some(object) = NonNull::new(object.into_ptr()) else { return };
    if shutdown::exiting() {
        return; // left to the process
    }
    if holds_gil() && PythonAccess::here().is_some() {
        let_go_with_gil(object);
    } else {
        put_down(object);
    }
}

/// As `with_interpreter`, whose count of pyo3's need not be told where nothing ends.
fn let_go_with_gil(object: NonNull<ffi::PyObject>) {
    let Some(_asking) = ending::leave_to_ask() else { return };
    let _ensured = Ensured::new();
    // SAFETY: the reference was ours and is given up once, with the GIL.
    let let_go = || unsafe { ffi::Py_DECREF(object.as_ptr()) };
    // SAFETY: a live object, asked with the GIL.
    match unsafe { ffi::Py_REFCNT(object.as_ptr()) } > 1 {
        true => let_go(),
        false => Python::try_attach(|_| let_go()).unwrap_or_default(),
    }
}

/// Objects that nobody holds any more but this list.
static LATER: Global<Vec<Reference>> = Global::new(Vec::new());
/// Whether there may be any.
static IS_ANY: AtomicBool = AtomicBool::new(false);

struct Reference(NonNull<ffi::PyObject>);

// SAFETY: it is only handed on, to whoever has the GIL.
unsafe impl Send for Reference {}

#[cold]
fn put_down(object: NonNull<ffi::PyObject>) {
    LATER.lock().push(Reference(object));
    ring();
}

/// Says that there is something for whoever has the GIL next.
#[cold]
pub(crate) fn ring() {
    if !IS_ANY.swap(true, Ordering::AcqRel) {
        // Refused where the list of pending calls is full: then somebody of ours comes by.
        // SAFETY: needs no GIL; the function is static.
        unsafe { ffi::Py_AddPendingCall(Some(pick_up_pending), std::ptr::null_mut()) };
    }
}

extern "C" fn pick_up_pending(_: *mut c_void) -> c_int {
    caught(0, || {
        with_interpreter(pick_up);
        0
    })
}

/// Lets go of what was put down, and hands on what the journal has. For whoever has the GIL anyway.
#[inline]
pub(crate) fn pick_up(py: Python<'_>) {
    if IS_ANY.load(Ordering::Relaxed) {
        pick_up_all(py);
    }
}

#[cold]
fn pick_up_all(py: Python<'_>) {
    IS_ANY.store(false, Ordering::Release);
    // The lock is free while objects end, which may run anything.
    let found = std::mem::take(&mut *LATER.lock());
    if shutdown::exiting() {
        return;
    }
    ending::run_python(py, || {
        for Reference(object) in found {
            // SAFETY: the reference was put down once, and `py` shows that the GIL is held.
            unsafe { ffi::Py_DECREF(object.as_ptr()) };
        }
        hand_on(py);
    });
}

/// Lets the journal say that there is something.
pub(crate) fn register() {
    log_queue::ring_with(ring);
}

/// Gives Python's `logging` what the journal has. Whatever runs may have raised something, which is no business of a logger's.
fn hand_on(py: Python<'_>) {
    let notes = log_queue::take();
    if notes.is_empty() {
        return;
    }
    let raised = PyErr::take(py);
    let pairs: Vec<_> = notes.into_iter().map(|note| (note.level as i32, note.text)).collect();
    let told = py
        .import(intern!(py, "PyGPU._native.seen.journal"))
        .and_then(|module| module.call_method1(intern!(py, "log"), (pairs,)));
    if let Err(error) = told {
        error.write_unraisable(py, None);
    }
    if let Some(raised) = raised {
        raised.restore(py);
    }
}

/// What a user's own function raised, on its way through layers without Python.
#[derive(Debug)]
pub(crate) struct Raised {
    value: KeptDebug,
    text: String,
}

struct KeptDebug(Kept);

impl std::fmt::Debug for KeptDebug {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a Python exception")
    }
}

impl Raised {
    pub(crate) fn new(py: Python<'_>, error: PyErr) -> Self {
        let text = error.to_string();
        Self { value: KeptDebug(Kept::new(error.into_value(py).into_any())), text }
    }

    pub(crate) fn to_error(&self, py: Python<'_>) -> PyErr {
        PyErr::from_value(self.value.0.object().bind(py).clone())
    }
}

impl std::fmt::Display for Raised {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for Raised {}
