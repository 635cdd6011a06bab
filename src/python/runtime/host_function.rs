//! Functions of Python that a stream calls: `Stream.launch_host_function`.
//!
//! On a GPU they run on a thread of the driver's, which does nothing else meanwhile. What ends there and would call the driver
//! is put off (`shutdown::put_off`), and so is the end of what the function itself holds: `Kept` lets go of it elsewhere.

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

/// A function and what it is called with.
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

/// Keeps what a function raised for the next call that waits. What it finds there before it is told now.
fn report(py: Python<'_>, error: PyErr, function: &Bound<'_, PyAny>) {
    if let Some(surplus) = shutdown::keep(Error::Callback(Arc::new(Raised::new(py, error)))) {
        PyErr::from(surplus).write_unraisable(py, Some(function));
    }
}

/// Called once, and ends what it is called with.
extern "C" fn run_once(data: *mut c_void) {
    caught((), || {
        // SAFETY: `launch` made it for this one call.
        let call = unsafe { Box::from_raw(data.cast::<HostCall>()) };
        call.run();
    });
}

/// Called at each launch of a graph, which holds what it is called with.
extern "C" fn run_again(data: *mut c_void) {
    caught((), || {
        // SAFETY: alive as long as the graph, and only shared.
        let call = unsafe { &*data.cast::<HostCall>() };
        call.run();
    });
}

/// Puts a call on a stream.
///
/// # Safety
/// `function` may be called with `data` once the driver has it.
unsafe fn put(stream: &Stream, function: HostFunction, data: *mut c_void) -> Result<()> {
    let device = stream.device();
    // SAFETY: the stream is borrowed, and so alive; the rest is promised.
    unsafe { device.backend().call_host(device.index(), stream.handle(), function, data) }
}

fn launch(stream: &Stream, call: Box<HostCall>) -> Result<()> {
    if let Some(capture) = capture::of(stream)? {
        let data = (&raw const *call).cast_mut().cast();
        // SAFETY: the graph keeps the call as long as it may be launched.
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
    // SAFETY: the function is called once, and takes the call then.
    let result = unsafe { put(stream, run_once, data.cast()) };
    if result.is_err() {
        // SAFETY: nobody has taken it.
        drop(unsafe { Box::from_raw(data) });
    }
    result
}

#[pymethods]
impl PyStream {
    /// Calls a function of Python in the order of the stream: after what was put on it before, and before what comes after.
    ///
    /// Parameters
    /// ----------
    /// function : callable
    ///     What it returns is ignored. It is held until it has run.
    /// *arguments : object
    ///     What it is called with.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If it cannot be called.
    /// NotSupportedError
    ///     While another library captures the stream. In a `Graph` it is called at each launch, and held by the graph.
    ///
    /// Notes
    /// -----
    /// On a GPU it runs on a thread of the driver's, and the stream waits for it; on the CPU it runs at once. What it raises, the
    /// next call that waits raises (`synchronize()`, `get()`); a second error before that goes to :func:`sys.unraisablehook`. It
    /// must not use the GPU, which raises NotSupportedError, nor wait for work of it: let it tell another thread. When
    /// the process ends, what has not begun does not run.
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
