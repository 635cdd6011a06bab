//! Defines the class `Graph`, and the methods of `Stream` that begin and end a capture.

use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::device;
use super::stream as stream_argument;
use super::stream::PyStream;
use crate::atexit::Detached;
use crate::exported_names::names;
use crate::fusion;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use pygpu_array::graph::{self, Graph};
use pygpu_backend::{CaptureMode, StreamFlags};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_memory::stream_captures;

/// Device work that is captured once and launched as a whole.
///
/// Parameters
/// ----------
/// stream : Stream, optional
///     Stream to capture, but not a default stream. By default a new stream.
/// mode : {'relaxed', 'thread_local', 'global'}, optional
///     Driver calls that are allowed during the capture. 'relaxed' allows all calls; 'thread_local' rejects calls of
///     this thread that may wait for the device; 'global' rejects such calls of any thread.
///
/// Raises
/// ------
/// NotSupportedError
///     Raised by operations that cannot be captured, such as `get()`.
/// CudaError
///     At the end of the block, if the capture was invalidated.
///
/// Notes
/// -----
/// Inside the ``with`` block, the captured stream is the thread's current stream, and work enqueued on this stream is
/// recorded but does not run. The graph keeps all arrays and kernels that it uses alive. Each launch waits for earlier
/// work on these arrays on any stream, and later work on these arrays waits for the launch. Arrays created during the
/// capture have memory immediately; the work that fills them is part of the graph.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.empty(5, 'float32')
/// >>> with PyGPU.Graph() as graph:
/// ...     _ = a.fill(3)
/// >>> graph.launch()
/// >>> a.tolist()
/// [3.0, 3.0, 3.0, 3.0, 3.0]
#[pyclass(frozen, weakref, name = "Graph", module = "PyGPU")]
pub(crate) struct PyGraph {
    graph: Detached<OnceLock<Graph>>,
    capture: Mutex<CaptureOptions>,
}

/// Stream and mode of the capture of a `Graph`, and whether its `with` block is being executed.
struct CaptureOptions {
    stream: Option<Stream>,
    mode: CaptureMode,
    is_recording: bool,
}

fn parse_mode(text: &str) -> PyResult<CaptureMode> {
    match text {
        "relaxed" => Ok(CaptureMode::Relaxed),
        "thread_local" => Ok(CaptureMode::ThreadLocal),
        "global" => Ok(CaptureMode::Global),
        other => Err(PyValueError::new_err(format!("mode {other:?} is none of 'relaxed', 'thread_local', 'global'"))),
    }
}

/// Ends the capture of a stream and returns the captured graph.
fn finish_capture(py: Python<'_>, stream: &Stream) -> PyResult<PyGraph> {
    let graph = py.without_gil(|| graph::end(stream))?;
    let options = CaptureOptions { stream: Some(stream.clone()), mode: CaptureMode::Relaxed, is_recording: false };
    Ok(PyGraph { graph: Detached::new(OnceLock::from(graph)), capture: Mutex::new(options) })
}

impl PyGraph {
    /// Returns the captured graph; raises `ValueError` before the end of the capture.
    pub(crate) fn graph(&self) -> PyResult<&Graph> {
        self.graph.get().ok_or_else(|| {
            PyValueError::new_err(
                "the graph is empty: capture its work in `with graph:`, and launch it after the block",
            )
        })
    }

    /// Returns the thread's current stream during the capture of this graph; raises `ValueError` at other times.
    pub(crate) fn capturing(&self) -> PyResult<Stream> {
        let options = self.options();
        match options.stream.as_ref().filter(|_| options.is_recording) {
            Some(stream) => Ok(stream::current(stream.device())),
            None => Err(PyValueError::new_err(
                "the graph is not being captured: conditions and what they decide are made inside of `with graph:`",
            )),
        }
    }

    fn options(&self) -> std::sync::MutexGuard<'_, CaptureOptions> {
        self.capture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyGraph {
    #[new]
    #[pyo3(signature = (
        stream: "StreamLike" = None, mode: "Literal['relaxed', 'thread_local', 'global']" = "relaxed"
    ) -> "Self")]
    fn new(py: Python<'_>, stream: Option<&Bound<'_, PyAny>>, mode: &str) -> PyResult<Self> {
        let mode = parse_mode(mode)?;
        let stream = match stream.filter(|stream| !stream.is_none()) {
            Some(stream) => Some(stream_argument::from_anywhere(py, stream, Device::current()?)?),
            None => None,
        };
        let options = CaptureOptions { stream, mode, is_recording: false };
        Ok(Self { graph: Detached::new(OnceLock::new()), capture: Mutex::new(options) })
    }

    /// Begins the capture.
    fn __enter__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        fusion::flush_all_pending(py, FlushReason::StreamSync);
        let graph_object = slf.get();
        if graph_object.graph.get().is_some() || graph_object.options().is_recording {
            return Err(PyValueError::new_err("a graph is captured once; make another Graph()"));
        }
        // The lock on the options is acquired once for both values. Two calls of `options()` in one statement would
        // deadlock, because the first guard would still exist at the second call.
        let (configured, mode) = {
            let options = graph_object.options();
            (options.stream.clone(), options.mode)
        };
        let stream = py.without_gil(|| {
            let stream = match configured {
                Some(stream) => stream,
                None => {
                    let device = Device::current()?;
                    device.backend().graphs()?;
                    Stream::create(device, StreamFlags { non_blocking: true, priority: 0 })?
                }
            };
            graph::begin(&stream, mode).map(|()| stream)
        })?;
        stream::push_current(stream.clone());
        let mut options = graph_object.options();
        (options.stream, options.is_recording) = (Some(stream), true);
        drop(options);
        Ok(slf)
    }

    /// Ends the capture at the end of the `with` block; if the block raised an exception, the captured work is
    /// discarded.
    #[pyo3(signature = (*exception: "object") -> "bool")]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let stream = {
            let mut options = self.options();
            options.is_recording = false;
            options.stream.clone()
        };
        let Some(stream) = stream else { return Ok(false) };
        stream::pop_current(&stream);
        if !exception.get_item(0)?.is_none() {
            py.without_gil(|| graph::abandon(&stream));
            return Ok(false);
        }
        let graph = py.without_gil(|| graph::end(&stream))?;
        let _ = self.graph.set(graph);
        Ok(false)
    }

    /// Enqueues all of the graph's work on a stream. The host does not wait.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     Any stream of the graph's device; the thread's current stream by default.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no work was captured yet, and for a stream of another device.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> with PyGPU.Graph() as graph:
    /// ...     zeros = PyGPU.zeros(3)
    /// >>> graph.launch(PyGPU.Stream())
    /// >>> zeros.tolist()
    /// [0.0, 0.0, 0.0]
    #[pyo3(signature = (stream: "StreamLike" = None) -> "None")]
    fn launch(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let graph = self.graph()?;
        let stream = stream_argument::from_argument(py, stream, graph.device())?;
        Ok(py.without_gil(|| graph.launch(&stream))?)
    }

    /// Launches the graph like `launch`, under torch's name.
    #[pyo3(signature = (stream: "StreamLike" = None) -> "None")]
    fn replay(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        self.launch(py, stream)
    }

    /// Uploads the graph to the device, so that the first launch is as fast as later ones.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     The thread's current stream by default.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> with PyGPU.Graph() as graph:
    /// ...     zeros = PyGPU.zeros(3)
    /// >>> graph.upload()
    #[pyo3(signature = (stream: "StreamLike" = None) -> "None")]
    fn upload(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let graph = self.graph()?;
        let stream = stream_argument::from_argument(py, stream, graph.device())?;
        Ok(py.without_gil(|| graph.upload(&stream))?)
    }

    /// Number of operations of the graph.
    #[getter]
    fn num_nodes(&self) -> PyResult<usize> {
        Ok(self.graph()?.count())
    }

    /// Device on which the graph runs.
    #[getter]
    fn device(&self) -> PyResult<device::PyDevice> {
        Ok(self.graph()?.device().into())
    }

    fn __repr__(&self) -> String {
        match self.graph.get() {
            Some(graph) => format!("<PyGPU.Graph of {} operations on {}>", graph.count(), graph.device()),
            None => "<PyGPU.Graph, empty>".to_owned(),
        }
    }

    /// Returns the device and the operations in order as HTML, for notebooks.
    #[pyo3(signature = () -> "str")]
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        py.import(intern!(py, "PyGPU._observability.notebook_views"))?.call_method1(intern!(py, "graph_html"), (slf,))
    }
}

#[pymethods]
impl PyStream {
    /// Captures work enqueued on the stream from now on, until `end_capture`, instead of running it.
    ///
    /// Parameters
    /// ----------
    /// mode : {'relaxed', 'thread_local', 'global'}, optional
    ///     The same as for `Graph`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a default stream.
    /// CudaError
    ///     For a stream that is already capturing.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> stream = PyGPU.Stream()
    /// >>> stream.begin_capture()
    /// >>> with stream:
    /// ...     zeros = PyGPU.zeros(3)
    /// >>> graph = stream.end_capture()
    /// >>> graph.launch(stream)
    #[pyo3(signature = (mode: "Literal['relaxed', 'thread_local', 'global']" = "relaxed") -> "None")]
    fn begin_capture(&self, py: Python<'_>, mode: &str) -> PyResult<()> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        let mode = parse_mode(mode)?;
        let stream = self.stream()?;
        Ok(py.without_gil(|| graph::begin(stream, mode))?)
    }

    /// Ends the capture that began on the stream.
    ///
    /// Returns
    /// -------
    /// Graph
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If no capture began.
    /// CudaError
    ///     If the capture was invalidated.
    ///
    /// Examples
    /// --------
    /// See `begin_capture`.
    #[pyo3(signature = () -> "Graph")]
    fn end_capture(&self, py: Python<'_>) -> PyResult<PyGraph> {
        finish_capture(py, self.stream()?)
    }

    /// Whether the stream is part of a capture, including one that another library began.
    #[getter]
    fn is_capturing(&self, py: Python<'_>) -> PyResult<bool> {
        let stream = self.stream()?;
        Ok(py.without_gil(|| stream_captures::number_of(stream))?.is_some())
    }
}

names! {
    classes "Kernels": PyGraph;
}
