//! Defines `Stream.launch_host_function`, by which a stream calls a Python function.
//!
//! On a GPU, the functions run on a driver thread, which does no other work until the functions return. This thread
//! must not call the driver. A value whose drop would call the driver is therefore stored and dropped later on another
//! thread (`shutdown::defer_drop`). The function and its arguments are [`SendPyObject`]s, which another thread drops.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::stream::PyStream;
use crate::callback::{CallbackError, SendPyObject};
use crate::ffi::host_call::{HostCall, call_on_each_launch, call_once};
use crate::ffi::interpreter::with_interpreter;
use crate::finalization;
use crate::fusion;
use crate::gil::WithoutGil;
use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::stream_captures;

/// A Python function and its arguments, which a stream calls.
struct PythonCall {
    function: SendPyObject,
    arguments: SendPyObject,
    runs_on_driver_thread: bool,
}

impl HostCall for PythonCall {
    fn run(&self) {
        if self.runs_on_driver_thread { backend::as_host_call(|| self.call_function()) } else { self.call_function() }
    }
}

impl PythonCall {
    fn call_function(&self) {
        with_interpreter(|py| {
            let function = self.function.object().bind(py);
            let outcome =
                finalization::run_user_function(py, || match self.arguments.object().bind(py).cast::<PyTuple>() {
                    Ok(arguments) => function.call1(arguments).map(drop),
                    Err(error) => Err(error.into()),
                });
            if let Err(error) = outcome {
                report(py, error, function);
            }
        });
    }
}

/// Stores the exception of a function. The next call that waits for the device raises this exception. If an earlier
/// exception is still stored, the new exception is passed to `sys.unraisablehook` instead.
fn report(py: Python<'_>, error: PyErr, function: &Bound<'_, PyAny>) {
    if let Some(previous) = shutdown::store_error(Error::Callback(Arc::new(CallbackError::new(py, error)))) {
        PyErr::from(previous).write_unraisable(py, Some(function));
    }
}

fn launch(stream: &Stream, call: Box<PythonCall>) -> Result<()> {
    if let Some(capture) = stream_captures::of(stream)? {
        // SAFETY: the next statement makes the graph own `call` by `retain`, so `call` stays alive and at its address
        // as long as the graph can be launched.
        unsafe { call_on_each_launch(stream, &*call)? };
        capture.retain(call);
        return Ok(());
    }
    if stream_captures::number_of(stream)?.is_some() {
        return Err(Error::not_supported(
            "a function cannot be put into a capture that another library began: nobody could tell when its graph is gone, and \
             the function with it; capture with PyGPU.Graph",
        ));
    }
    call_once(stream, call)
}

#[pymethods]
impl PyStream {
    /// Calls a Python function in stream order: after earlier work of the stream and before later work.
    ///
    /// Parameters
    /// ----------
    /// function : callable
    ///     Function to call. Its result is ignored. PyGPU keeps the function alive until it has run.
    /// *arguments : object
    ///     Arguments of the call.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the function is not callable.
    /// NotSupportedError
    ///     While another library captures the stream. In a `Graph` the function is called at each launch, and the
    ///     graph keeps it alive.
    ///
    /// Notes
    /// -----
    /// On a GPU the function runs on a driver thread, and the stream waits for its end; on the CPU the function runs
    /// immediately. The next call that waits (`synchronize()`, `get()`) raises the function's exception. A second
    /// exception before that call goes to :func:`sys.unraisablehook`. The function must not use the GPU, which raises
    /// NotSupportedError, nor wait for GPU work. It may notify another thread that uses the GPU. Functions that have
    /// not started when the process ends do not run.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> done = []
    /// >>> stream = PyGPU.Stream()
    /// >>> stream.launch_host_function(done.append, 'all of it')
    /// >>> stream.synchronize()
    /// >>> done
    /// ['all of it']
    #[pyo3(signature = (function: "Callable[..., object]", *arguments: "object") -> "None")]
    fn launch_host_function(&self, function: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
        fusion::flush_pending(function.py(), FlushReason::StreamSync);
        if !function.is_callable() {
            let class = function.get_type();
            return Err(PyTypeError::new_err(format!("launch_host_function takes a function, not {class}")));
        }
        let stream = self.stream()?;
        let call = Box::new(PythonCall {
            function: SendPyObject::new(function.clone().unbind()),
            arguments: SendPyObject::new(arguments.clone().into_any().unbind()),
            runs_on_driver_thread: !stream.device().is_cpu(),
        });
        Ok(function.py().without_gil(|| launch(stream, call))?)
    }
}
