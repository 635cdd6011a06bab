//! Python functions called by a stream: `Stream.launch_host_function`.
//!
//! On a GPU they run on a driver thread, which does nothing else meanwhile. Values dropped there whose drop would
//! call the driver are retired (`shutdown::put_off`), and so are the values that the function itself owns: `Kept`
//! releases them on another thread.

use std::ffi::c_void;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::stream::PyStream;
use crate::callback::{Kept, Raised, with_interpreter};
use crate::deferral;
use crate::ending;
use crate::gil::WithoutGil;
use pygpu_backend::{self as backend, HostFunction};
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::caught;
use pygpu_base::flush::Cause;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::capture;

/// Function and its arguments.
struct HostCall {
    function: Kept,
    arguments: Kept,
    is_of_driver: bool,
}

impl HostCall {
    fn run(&self) {
        if self.is_of_driver { backend::as_host_call(|| self.ask()) } else { self.ask() }
    }

    fn ask(&self) {
        with_interpreter(|py| {
            let function = self.function.object().bind(py);
            let outcome = ending::run_users(py, || match self.arguments.object().bind(py).cast::<PyTuple>() {
                Ok(arguments) => function.call1(arguments).map(drop),
                Err(error) => Err(error.into()),
            });
            if let Err(error) = outcome {
                report(py, error, function);
            }
        });
    }
}

/// Stores the exception of a function for the next call that waits. A previously stored exception is reported
/// immediately.
fn report(py: Python<'_>, error: PyErr, function: &Bound<'_, PyAny>) {
    if let Some(surplus) = shutdown::keep(Error::Callback(Arc::new(Raised::new(py, error)))) {
        PyErr::from(surplus).write_unraisable(py, Some(function));
    }
}

/// Called once; drops the arguments afterwards.
extern "C" fn run_once(data: *mut c_void) {
    caught((), || {
        // SAFETY: `launch` created it for this one call.
        let call = unsafe { Box::from_raw(data.cast::<HostCall>()) };
        call.run();
    });
}

/// Called at each launch of a graph, which owns the arguments.
extern "C" fn run_again(data: *mut c_void) {
    caught((), || {
        // SAFETY: alive as long as the graph, and only shared.
        let call = unsafe { &*data.cast::<HostCall>() };
        call.run();
    });
}

/// Enqueues a call on a stream.
///
/// # Safety
/// `function` may be called with `data` once the driver has it.
unsafe fn put(stream: &Stream, function: HostFunction, data: *mut c_void) -> Result<()> {
    let device = stream.device();
    // SAFETY: the stream is borrowed and hence alive; the caller guarantees the rest.
    unsafe { device.backend().call_host(device.index(), stream.handle(), function, data) }
}

fn launch(stream: &Stream, call: Box<HostCall>) -> Result<()> {
    if let Some(capture) = capture::of(stream)? {
        let data = (&raw const *call).cast_mut().cast();
        // SAFETY: the graph keeps the call alive as long as it can be launched.
        unsafe { put(stream, run_again, data)? };
        capture.keep(call);
        return Ok(());
    }
    if capture::number_of(stream)?.is_some() {
        return Err(Error::not_supported(
            "a function cannot be put into a capture that another library began: nobody could tell when its graph is gone, and \
             the function with it; capture with PyGPU.Graph",
        ));
    }
    let data = Box::into_raw(call);
    // SAFETY: the function is called once and then takes ownership of the call.
    let result = unsafe { put(stream, run_once, data.cast()) };
    if result.is_err() {
        // SAFETY: the driver call failed, so the function does not take it.
        drop(unsafe { Box::from_raw(data) });
    }
    result
}

#[pymethods]
impl PyStream {
    /// Calls a Python function in stream order: after earlier work of the stream and before later work.
    ///
    /// Parameters
    /// ----------
    /// function : callable
    ///     Its result is ignored. It is kept alive until it has run.
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
    /// On a GPU the function runs on a driver thread, and the stream waits for it; on the CPU it runs immediately.
    /// Its exception is raised by the next call that waits (`synchronize()`, `get()`); a second exception before that
    /// goes to :func:`sys.unraisablehook`. The function must not use the GPU, which raises NotSupportedError, nor
    /// wait for GPU work: let it notify another thread. Functions that have not started when the process ends do not
    /// run.
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
    #[pyo3(signature = (function, *arguments))]
    fn launch_host_function(&self, function: &Bound<'_, PyAny>, arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
        deferral::close(function.py(), Cause::Order);
        if !function.is_callable() {
            let given = function.get_type();
            return Err(PyTypeError::new_err(format!("launch_host_function takes a function, not {given}")));
        }
        let stream = self.stream()?;
        let call = Box::new(HostCall {
            function: Kept::new(function.clone().unbind()),
            arguments: Kept::new(arguments.clone().into_any().unbind()),
            is_of_driver: !stream.device().is_cpu(),
        });
        Ok(function.py().without_gil(|| launch(stream, call))?)
    }
}
