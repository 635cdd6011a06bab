//! The end of Python objects that layers without Python hold.
//!
//! No destructor waits for the GIL: who holds it may wait for a lock that the caller of the destructor has. Without the GIL an
//! object is put down here, and let go by the next of ours who has it, or by the main thread in its next steps
//! (`Py_AddPendingCall`). Once the process ends nothing is asked any more, and what is left is left to it.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::ending;
use crate::ffi::interpreter::{Ensured, call_later, holds_gil, with_interpreter};
use crate::ffi::objects::{Reference, is_last};
use crate::once::intern;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::flush::PythonAccess;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_base::iterative_drop;
use pygpu_base::log_queue;
use pygpu_device::shutdown;

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
    pub(crate) fn end(self, py: Python<'_>) {
        if is_last(&self.0, py) {
            return; // its drop decides how it ends
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken out once, here, since the drop of `this` does not run.
        Reference::new(unsafe { ManuallyDrop::take(&mut this.0) }).end(&py);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: taken out once, here.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        iterative_drop::drop_iteratively(object, let_go, let_go);
    }
}

/// Lets go of an object in whatever state the thread is.
pub(crate) fn let_go(object: Py<PyAny>) {
    // From here on a plain pointer: what is dropped unasked would trust pyo3's count.
    let object = Reference::new(object);
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
fn let_go_with_gil(object: Reference) {
    let Some(_asking) = ending::leave_to_ask() else { return };
    let ensured = Ensured::new();
    match object.is_shared(&ensured) {
        true => object.end(&ensured),
        false => Python::try_attach(|py| object.end(&py)).unwrap_or_default(),
    }
}

/// Objects that nobody holds any more but this list.
static LATER: ForkSafeMutex<Vec<Reference>> = ForkSafeMutex::new(Vec::new());
/// Whether there may be any.
static IS_ANY: AtomicBool = AtomicBool::new(false);

#[cold]
fn put_down(object: Reference) {
    LATER.lock().push(object);
    ring();
}

/// Says that there is something for whoever has the GIL next.
#[cold]
pub(crate) fn ring() {
    if !IS_ANY.swap(true, Ordering::AcqRel) {
        // Refused where the list of pending calls is full: then somebody of ours comes by.
        call_later(pick_up_pending);
    }
}

extern "C" fn pick_up_pending(_: *mut c_void) -> c_int {
    catch_panic(0, || {
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
        found.into_iter().for_each(|object| object.end(&py));
        hand_on(py);
    });
}

/// Lets the journal say that there is something.
pub(crate) fn register() {
    log_queue::set_wakeup(ring);
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
