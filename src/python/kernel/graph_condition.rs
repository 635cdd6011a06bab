//! Defines the classes `GraphCondition` and `GraphBody` for conditional nodes of graphs.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::argument::KernelArgument;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::runtime::graph::PyGraph;
use pygpu_array::graph::conditional::{self, Condition, ConditionalBody};
use pygpu_backend::Branching;
use pygpu_device::stream::{self, Stream};

/// Number that decides what a graph executes, set by kernels: the result of `Graph.create_condition`.
///
/// Notes
/// -----
/// A kernel receives the condition as a parameter of type ``cudaGraphConditionalHandle``, which is 64 bits wide,
/// and sets the number by ``cudaGraphSetConditional(handle, number)``. The condition belongs to the graph in which it
/// was created, and the handle is invalid in other graphs. One conditional node can use the condition.
#[pyclass(frozen, weakref, extends = KernelArgument, name = "GraphCondition", module = "PyGPU")]
pub(crate) struct PyGraphCondition {
    condition: Condition,
    default: Option<u32>,
    /// Owner of the memory to which the handle refers; `None` if there is no such memory.
    _owner: Option<Arc<dyn Any + Send + Sync>>,
}

#[pymethods]
impl PyGraphCondition {
    /// Handle to pass to kernels.
    #[getter]
    fn handle(&self) -> u64 {
        self.condition.handle()
    }

    /// Value at the beginning of a launch; None if the value of the previous launch is kept.
    #[getter]
    fn default_value(&self) -> Option<u32> {
        self.default
    }

    fn __repr__(&self) -> String {
        let default = self.default.map_or_else(|| "None".to_owned(), |default| default.to_string());
        format!("<PyGPU.GraphCondition {:#x}, default_value={default}>", self.condition.handle())
    }
}

/// Body of a conditional node, captured in a ``with`` statement.
///
/// Notes
/// -----
/// In the ``with`` statement the thread's current stream captures the body.
#[pyclass(frozen, weakref, name = "GraphBody", module = "PyGPU")]
pub(crate) struct PyGraphBody {
    body: ConditionalBody,
    stream: Mutex<Option<Stream>>,
}

impl PyGraphBody {
    fn stream(&self) -> std::sync::MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyGraphBody {
    /// Begin the capture.
    fn __enter__<'py>(slf: Bound<'py, Self>, py: Python<'py>) -> PyResult<Bound<'py, Self>> {
        let this = slf.get();
        if this.stream().is_some() {
            return Err(PyValueError::new_err("a body of a conditional node is captured once"));
        }
        let stream = py.without_gil(|| this.body.begin())?;
        stream::push_current(stream.clone());
        *this.stream() = Some(stream);
        Ok(slf)
    }

    /// End the capture.
    #[pyo3(signature = (*_exception: "object") -> "bool")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let Some(stream) = self.stream().clone() else { return Ok(false) };
        stream::pop_current(&stream);
        let ended = py.without_gil(|| conditional::end(&stream));
        match _exception.get_item(0)?.is_none() {
            true => Ok(ended.map(|()| false)?),
            false => Ok(false), // an exception in the `with` body explains more than the error of the incomplete capture, so that exception is raised
        }
    }
}

#[pymethods]
impl PyGraph {
    /// Create a number that the graph's kernels set and that decides what the graph executes.
    ///
    /// Parameters
    /// ----------
    /// default_value : int, optional
    ///     Value at the beginning of each launch. By default the value of the previous launch is kept, which is 0 for
    ///     the first launch.
    ///
    /// Returns
    /// -------
    /// GraphCondition
    ///     The number. A kernel receives it through a parameter of type ``cudaGraphConditionalHandle`` and sets it by
    ///     ``cudaGraphSetConditional(handle, number)``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Outside of the graph's ``with`` statement.
    /// NotSupportedError
    ///     On HIP, which has no conditional nodes, and on CUDA if the driver is older than 12.4.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> with PyGPU.Graph() as graph:
    /// ...     condition = graph.create_condition(1)
    /// ...     with graph.if_then(condition):
    /// ...         ones = PyGPU.full(3, 1.0)
    /// >>> ones[...] = 0
    /// >>> graph.launch()
    /// >>> ones.tolist()
    /// [1.0, 1.0, 1.0]
    #[pyo3(signature = (default_value: "int | None" = None) -> "GraphCondition")]
    fn create_condition<'py>(
        slf: &Bound<'py, Self>,
        default_value: Option<u32>,
    ) -> PyResult<Bound<'py, PyGraphCondition>> {
        let (py, stream) = (slf.py(), slf.get().capturing()?);
        let condition = py.without_gil(|| Condition::new(&stream, default_value))?;
        let bytes = KernelArgument::plain(&condition.handle().to_ne_bytes());
        let _owner = condition.owner();
        let subclass = PyGraphCondition { condition, default: default_value, _owner };
        Bound::new(py, PyClassInitializer::from(bytes).add_subclass(subclass))
    }

    /// Add a body that is executed once if the condition is nonzero.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     A condition of this graph.
    ///
    /// Returns
    /// -------
    /// GraphBody
    ///     The body, to be captured in a ``with`` statement directly after this call.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the call is outside of the graph's ``with`` statement, if the condition belongs to another graph, or
    ///     while another stream captures a body.
    ///
    /// Examples
    /// --------
    /// See `create_condition`, whose example contains a call of `if_then`.
    #[pyo3(signature = (condition: "GraphCondition") -> "GraphBody")]
    fn if_then(&self, py: Python<'_>, condition: &Bound<'_, PyGraphCondition>) -> PyResult<PyGraphBody> {
        let [body] = self.branch(py, condition, Branching::If)?;
        Ok(body)
    }

    /// Add two bodies, one for a nonzero and one for a zero condition.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     A condition of this graph.
    ///
    /// Returns
    /// -------
    /// tuple of GraphBody
    ///     Two bodies, for two ``with`` statements that directly follow one another.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     The same errors as for `if_then`.
    /// CudaError
    ///     If the CUDA driver is older than 12.8.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> with PyGPU.Graph() as graph:
    /// ...     then, otherwise = graph.if_else(graph.create_condition(0))
    /// ...     with then:
    /// ...         _ = a.fill(1)
    /// ...     with otherwise:
    /// ...         _ = a.fill(2)
    /// >>> graph.launch()
    /// >>> a.tolist()
    /// [2.0, 2.0, 2.0]
    #[pyo3(signature = (condition: "GraphCondition") -> "tuple[GraphBody, GraphBody]")]
    fn if_else(&self, py: Python<'_>, condition: &Bound<'_, PyGraphCondition>) -> PyResult<(PyGraphBody, PyGraphBody)> {
        self.branch(py, condition, Branching::If).map(|[then, otherwise]| (then, otherwise))
    }

    /// Add a body that is repeated while the condition is nonzero.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     A condition of this graph, which is checked before each iteration. A kernel in the body must eventually set
    ///     the condition to 0; otherwise the loop never ends.
    ///
    /// Returns
    /// -------
    /// GraphBody
    ///     The body, to be captured in a ``with`` statement directly after this call.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     The same errors as for `if_then`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('''__global__ void step(int *x, cudaGraphConditionalHandle more) {
    /// ...     *x += 1;
    /// ...     cudaGraphSetConditional(more, *x < 10);
    /// ... }''')
    /// >>> x = PyGPU.zeros((), 'int32')
    /// >>> with PyGPU.Graph() as graph:
    /// ...     more = graph.create_condition(1)
    /// ...     with graph.while_loop(more):
    /// ...         kernel[1, 1](x, more)
    /// >>> graph.launch()
    /// >>> int(x)
    /// 10
    #[pyo3(signature = (condition: "GraphCondition") -> "GraphBody")]
    fn while_loop(&self, py: Python<'_>, condition: &Bound<'_, PyGraphCondition>) -> PyResult<PyGraphBody> {
        let [body] = self.branch(py, condition, Branching::While)?;
        Ok(body)
    }

    /// Add one body for each value 0, 1, 2 and so on of the condition; a larger value executes no body.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     A condition of this graph.
    /// count : int
    ///     Number of cases.
    ///
    /// Returns
    /// -------
    /// tuple of GraphBody
    ///     One body per case, for ``with`` statements that directly follow one another. A case without a captured body
    ///     does nothing.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     The same errors as for `if_then`; also if `count` is 0.
    /// CudaError
    ///     If the CUDA driver is older than 12.8.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> with PyGPU.Graph() as graph:
    /// ...     for number, case in enumerate(graph.switch(graph.create_condition(2), 4)):
    /// ...         with case:
    /// ...             _ = a.fill(number)
    /// >>> graph.launch()
    /// >>> a.tolist()
    /// [2.0, 2.0, 2.0]
    #[pyo3(signature = (condition: "GraphCondition", count: "int") -> "tuple[GraphBody, ...]")]
    fn switch<'py>(
        &self,
        py: Python<'py>,
        condition: &Bound<'_, PyGraphCondition>,
        count: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        if count == 0 || u32::try_from(count).is_err() {
            return Err(PyValueError::new_err(format!("switch has one case at least, and not {count}")));
        }
        PyTuple::new(py, self.bodies(py, condition, Branching::Switch, count)?)
    }
}

impl PyGraph {
    fn branch<const N: usize>(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyGraphCondition>,
        branching: Branching,
    ) -> PyResult<[PyGraphBody; N]> {
        let bodies = self.bodies(py, condition, branching, N)?;
        bodies.try_into().map_err(|_| PyValueError::new_err("the driver made another number of bodies"))
    }

    fn bodies(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyGraphCondition>,
        branching: Branching,
        count: usize,
    ) -> PyResult<Vec<PyGraphBody>> {
        let (stream, condition) = (self.capturing()?, condition.get());
        let bodies = py.without_gil(|| condition.condition.put(&stream, branching, count))?;
        Ok(bodies.into_iter().map(|body| PyGraphBody { body, stream: Mutex::default() }).collect())
    }
}

names! {
    classes "Kernels": PyGraphCondition, PyGraphBody;
}
