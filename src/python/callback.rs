//! Drops of Python objects that layers without Python own.
//!
//! No destructor waits for the GIL, because the thread that holds it may wait for a lock of the destructor's caller.
//! Without the GIL an object is queued. The next PyGPU call with the GIL drops it, or the main thread does so in a pending call
//! (`Py_AddPendingCall`). During process exit nothing is requested; the remaining objects stay allocated.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::ffi::interpreter::{GilEnsured, call_later, holds_gil, with_interpreter};
use crate::ffi::objects::{Reference, is_last};
use crate::finalization;
use crate::py_once::intern;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::flush::PythonAccess;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_base::iterative_drop;
use pygpu_base::log_queue;
use pygpu_device::shutdown;

/// A Python object owned by a layer without Python, such as an exporter. It may be dropped in any state of any thread.
pub(crate) struct SendPyObject(ManuallyDrop<Py<PyAny>>);

impl SendPyObject {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(ManuallyDrop::new(object))
    }

    pub(crate) fn object(&self) -> &Py<PyAny> {
        &self.0
    }

    /// Drops the object on a thread that certainly holds the GIL.
    ///
    /// No GIL request is needed if the object is shared, because then this drop ends nothing.
    pub(crate) fn end(self, py: Python<'_>) {
        if is_last(&self.0, py) {
            return; // its drop decides where the object ends
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken out once, here, since the drop of `this` does not run.
        Reference::new(unsafe { ManuallyDrop::take(&mut this.0) }).end(&py);
    }
}

impl Drop for SendPyObject {
    fn drop(&mut self) {
        // SAFETY: taken out once, here.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        iterative_drop::drop_iteratively(object, release_object, release_object);
    }
}

/// Drops an object in any state of the thread.
pub(crate) fn release_object(object: Py<PyAny>) {
    // A plain pointer from here on: a drop without a check of the GIL would trust pyo3's count.
    let object = Reference::new(object);
    if shutdown::exiting() {
        return; // left to the process
    }
    if holds_gil() && PythonAccess::here().is_some() {
        release_with_gil(object);
    } else {
        put_down(object);
    }
}

/// Drops an object like `with_interpreter`, without an update of pyo3's count if the object is shared.
fn release_with_gil(object: Reference) {
    let Some(_asking) = finalization::try_gil_request() else { return };
    let ensured = GilEnsured::new();
    match object.is_shared(&ensured) {
        true => object.end(&ensured),
        false => Python::try_attach(|py| object.end(&py)).unwrap_or_default(),
    }
}

/// Objects that only this list references.
static LATER: ForkSafeMutex<Vec<Reference>> = ForkSafeMutex::new(Vec::new());
/// Whether the list or the log queue may have entries.
static IS_ANY: AtomicBool = AtomicBool::new(false);

#[cold]
fn put_down(object: Reference) {
    LATER.lock().push(object);
    ring();
}

/// Schedules [`pick_up`] for the next thread that holds the GIL.
#[cold]
pub(crate) fn ring() {
    if !IS_ANY.swap(true, Ordering::AcqRel) {
        // Refused if the list of pending calls is full; then a PyGPU call picks the objects up.
        call_later(pick_up_pending);
    }
}

extern "C" fn pick_up_pending(_: *mut c_void) -> c_int {
    catch_panic(0, || {
        with_interpreter(pick_up);
        0
    })
}

/// Drops the queued objects and delivers the log queue. Called by threads that hold the GIL.
#[inline]
pub(crate) fn pick_up(py: Python<'_>) {
    if IS_ANY.load(Ordering::Relaxed) {
        pick_up_all(py);
    }
}

#[cold]
fn pick_up_all(py: Python<'_>) {
    IS_ANY.store(false, Ordering::Release);
    // The lock is free while objects end, because their destructors may run any code.
    let found = std::mem::take(&mut *LATER.lock());
    if shutdown::exiting() {
        return;
    }
    finalization::run_python(py, || {
        found.into_iter().for_each(|object| object.end(&py));
        hand_on(py);
    });
}

/// Registers the wake-up function of the log queue.
pub(crate) fn register() {
    log_queue::set_wakeup(ring);
}

/// Delivers the log queue to Python's `logging`. A pending exception of the running code is kept.
fn hand_on(py: Python<'_>) {
    let notes = log_queue::take();
    if notes.is_empty() {
        return;
    }
    let raised = PyErr::take(py);
    let pairs: Vec<_> = notes.into_iter().map(|note| (note.level as i32, note.text)).collect();
    let told = py
        .import(intern!(py, "PyGPU._native.observability.log_messages"))
        .and_then(|module| module.call_method1(intern!(py, "log"), (pairs,)));
    if let Err(error) = told {
        error.write_unraisable(py, None);
    }
    if let Some(raised) = raised {
        raised.restore(py);
    }
}

/// An exception raised by a user's function, on its way through layers without Python.
#[derive(Debug)]
pub(crate) struct CallbackError {
    value: SendPyObjectDebug,
    text: String,
}

struct SendPyObjectDebug(SendPyObject);

impl std::fmt::Debug for SendPyObjectDebug {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a Python exception")
    }
}

impl CallbackError {
    pub(crate) fn new(py: Python<'_>, error: PyErr) -> Self {
        let text = error.to_string();
        Self { value: SendPyObjectDebug(SendPyObject::new(error.into_value(py).into_any())), text }
    }

    pub(crate) fn to_error(&self, py: Python<'_>) -> PyErr {
        PyErr::from_value(self.value.0.object().bind(py).clone())
    }
}

impl std::fmt::Display for CallbackError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::error::Error for CallbackError {}
