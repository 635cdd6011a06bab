//! Drops Python objects that are owned by Rust code of lower layers, which do not use Python's API.
//!
//! A destructor does not wait for the GIL, because the thread that holds the GIL may wait for a lock of the
//! destructor's caller. If the thread of the destructor does not hold the GIL, the object is queued. The next PyGPU
//! call with the GIL drops the queued objects, or the main thread drops them in a pending call (`Py_AddPendingCall`).
//! During process exit no drop requests the GIL, and the remaining objects stay allocated.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::ffi::interpreter::{GilEnsured, add_pending_call, holds_gil, with_interpreter};
use crate::ffi::objects::{Reference, is_last};
use crate::finalization;
use crate::py_once::intern;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::flush_points::PythonAccess;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_base::iterative_drop;
use pygpu_base::log_queue;
use pygpu_device::shutdown;
use pygpu_memory::stream_check::{self, Finding, FindingKind};

/// Owns a Python object, such as the producer of imported memory, for Rust code that does not use Python's API. The
/// value may be dropped on any thread, with or without the GIL.
pub(crate) struct SendPyObject(ManuallyDrop<Py<PyAny>>);

impl SendPyObject {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(ManuallyDrop::new(object))
    }

    pub(crate) fn object(&self) -> &Py<PyAny> {
        &self.0
    }

    /// Releases the reference on a thread that holds the GIL, as `py` proves.
    ///
    /// If other references to the object exist, the reference count is decremented directly, because the object
    /// survives. If not, the drop of `self` releases the last reference.
    pub(crate) fn release(self, py: Python<'_>) {
        if is_last(&self.0, py) {
            return; // the reference is the last one: the drop of `self` drops the object here, or queues it for another thread
        }
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the object is taken out once, here, because the drop of `this` does not run.
        Reference::new(unsafe { ManuallyDrop::take(&mut this.0) }).release(&py);
    }
}

impl Drop for SendPyObject {
    fn drop(&mut self) {
        // SAFETY: the object is taken out once, here, because `drop` runs once.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        iterative_drop::drop_iteratively(object, release_object, release_object);
    }
}

/// Releases a reference on any thread, with or without the GIL.
pub(crate) fn release_object(object: Py<PyAny>) {
    // The reference is converted to a plain pointer first, because the drop of a `Py` would not check whether the
    // thread holds the GIL, but rely on pyo3's count of the thread's attachments, which may be outdated.
    let object = Reference::new(object);
    if shutdown::exiting() {
        return; // the process is exiting, so the object stays allocated until its end
    }
    if holds_gil() && PythonAccess::here().is_some() {
        release_with_gil(object);
    } else {
        queue_object(object);
    }
}

/// Releases a reference on a thread that holds the GIL. Unlike `with_interpreter`, this function updates pyo3's count of
/// attachments only for the last reference.
fn release_with_gil(object: Reference) {
    let Some(_gil_request) = finalization::try_gil_request() else { return };
    let ensured = GilEnsured::new();
    match object.is_shared(&ensured) {
        true => object.release(&ensured),
        false => Python::try_attach(|py| object.release(&py)).unwrap_or_default(),
    }
}

/// Queue of references to Python objects that the next thread with the GIL must release.
static QUEUED: ForkSafeMutex<Vec<Reference>> = ForkSafeMutex::new(Vec::new());
/// Whether `QUEUED` or the log queue may have entries.
static HAS_QUEUED: AtomicBool = AtomicBool::new(false);

#[cold]
fn queue_object(object: Reference) {
    QUEUED.lock().push(object);
    schedule_delivery();
}

/// Schedules [`deliver_queued`] for the next thread that holds the GIL.
#[cold]
pub(crate) fn schedule_delivery() {
    if !HAS_QUEUED.swap(true, Ordering::AcqRel) {
        // Python refuses the pending call if its list of pending calls is full. The next PyGPU call then drops the
        // queued objects.
        add_pending_call(deliver_from_pending_call);
    }
}

extern "C" fn deliver_from_pending_call(_: *mut c_void) -> c_int {
    catch_panic(0, || {
        with_interpreter(deliver_queued);
        0
    })
}

/// Drops the queued objects, and delivers the log queue and the queued warnings of the check of streams. Threads that hold
/// the GIL call this function.
#[inline]
pub(crate) fn deliver_queued(py: Python<'_>) {
    if HAS_QUEUED.load(Ordering::Relaxed) {
        deliver_all(py);
    }
}

#[cold]
fn deliver_all(py: Python<'_>) {
    HAS_QUEUED.store(false, Ordering::Release);
    // The lock is released before the objects are dropped, because their destructors may run arbitrary code.
    let queued = std::mem::take(&mut *QUEUED.lock());
    if shutdown::exiting() {
        return;
    }
    finalization::run_python(py, || {
        queued.into_iter().for_each(|object| object.release(&py));
        deliver_log(py);
        deliver_findings(py);
    });
}

/// Passes the queued warnings about work that is not ordered by streams (`PYGPU_CHECK_STREAMS=1`) to the Python
/// function that issues warnings.
fn deliver_findings(py: Python<'_>) {
    let findings = stream_check::take();
    if findings.is_empty() {
        return;
    }
    let pending_error = PyErr::take(py);
    for finding in findings {
        if let Err(error) = report_finding(py, &finding) {
            error.write_unraisable(py, None);
        }
    }
    if let Some(pending_error) = pending_error {
        pending_error.restore(py);
    }
}

fn report_finding(py: Python<'_>, finding: &Finding) -> PyResult<()> {
    let kind = match finding.kind {
        FindingKind::Use => "use",
        FindingKind::Release => "release",
        FindingKind::Address => "address",
    };
    let origin = finding.origin.as_ref().and_then(|origin| origin.downcast_ref::<SendPyObject>());
    let origin = origin.map(|origin| origin.object().clone_ref(py));
    let (waiter, worker) = (finding.waiter.handle().0, finding.worker.handle().0);
    let module = py.import(intern!(py, "PyGPU._streams.stream_check"))?;
    module.call_method1(intern!(py, "report"), (kind, waiter, worker, origin, finding.thread)).map(drop)
}

/// Registers the function that schedules the delivery of the log queue.
pub(crate) fn register() {
    log_queue::set_wakeup(schedule_delivery);
}

/// Delivers the log queue to Python's `logging`. An exception that is set on the thread is saved before and restored
/// afterwards.
fn deliver_log(py: Python<'_>) {
    let records = log_queue::take();
    if records.is_empty() {
        return;
    }
    let pending_error = PyErr::take(py);
    let pairs: Vec<_> = records.into_iter().map(|record| (record.level as i32, record.text)).collect();
    let result = py
        .import(intern!(py, "PyGPU._observability.log_messages"))
        .and_then(|module| module.call_method1(intern!(py, "log"), (pairs,)));
    if let Err(error) = result {
        error.write_unraisable(py, None);
    }
    if let Some(pending_error) = pending_error {
        pending_error.restore(py);
    }
}

/// Carries a Python exception of a user's function through Rust code that does not use Python's API.
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
