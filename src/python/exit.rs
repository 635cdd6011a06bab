//! The end: of an object whose drop reaches a driver, and of the process.

use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use crate::gil::{self, WithoutGil};
use pygpu_backend as backend;
use pygpu_base::flush::PythonAccess;
use pygpu_device::shutdown;

/// Drops what calls a driver in its drop, with the GIL released: the driver may wait for a thread that waits for the GIL.
pub(crate) fn drop_detached<T: Send + 'static>(value: T) {
    if backend::is_host_call() || PythonAccess::expected().is_none() {
        shutdown::put_off(Box::new(value));
        return;
    }
    if shutdown::exiting() {
        drop(value); // calls no driver any more
        return;
    }
    Python::attach(|py| py.without_gil(move || drop(value)));
}

/// Prints what a destructor reported and no call has raised.
fn say_what_nobody_heard(py: Python<'_>) {
    if let Err(error) = shutdown::report_deferred() {
        PyErr::from(error).write_unraisable(py, None);
    }
}

/// Leaves memory to the process from `atexit` on: what is dropped later may find the driver half gone.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let leave = PyCFunction::new_closure(py, Some(c"leave_to_process"), None, |args, _| {
        say_what_nobody_heard(args.py());
        gil::end(args.py());
    })?;
    py.import("atexit")?.call_method1("register", (leave,))?;
    Ok(())
}
