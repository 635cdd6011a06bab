//! The classes `GraphCondition` and `GraphBody`: what of a graph is done is decided while it runs.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::argument::KernelArgument;
use crate::gil::WithoutGil;
use crate::names::names;
use crate::runtime::graph::PyGraph;
use pygpu_array::graph::conditional::{self, Body, Condition};
use pygpu_backend::Branching;
use pygpu_device::stream::{self, Stream};

/// A number by which a graph decides what it does, set by kernels: what `Graph.create_condition` gives.
///
/// Notes
/// -----
/// A kernel takes it as ``cudaGraphConditionalHandle``, which is 64 bits wide, and calls ``cudaGraphSetConditional(handle, number)``.
/// It is one of the graph in which it was made: elsewhere the handle means nothing. It decides in one operation.
#[pyclass(frozen, weakref, extends = KernelArgument, name = "GraphCondition", module = "PyGPU")]
pub(crate) struct PyGraphCondition {
    condition: Condition,
    default: Option<u32>,
    /// As long as there is the handle, the address behind it is one.
    _keeper: Option<Arc<dyn Any + Send + Sync>>,
}

#[pymethods]
impl PyGraphCondition {
    /// What a kernel gets.
    #[getter]
    fn handle(&self) -> u64 {
        self.condition.handle()
    }

    /// The number that it has when a launch begins; None, if it keeps what the launch before has left.
    #[getter]
    fn default_value(&self) -> Option<u32> {
        self.default
    }

    fn __repr__(&self) -> String {
        let default = self.default.map_or_else(|| "None".to_owned(), |default| default.to_string());
        format!("<PyGPU.GraphCondition {:#x}, default_value={default}>", self.condition.handle())
    }
}

/// What a graph does where a condition says so; captured in a ``with`` statement.
///
/// Notes
/// -----
/// Inside ``with`` a stream that captures it is the thread's current one.
#[pyclass(frozen, weakref, name = "GraphBody", module = "PyGPU")]
pub(crate) struct PyGraphBody {
    body: Body,
    stream: Mutex<Option<Stream>>,
}

impl PyGraphBody {
    fn stream(&self) -> std::sync::MutexGuard<'_, Option<Stream>> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyGraphBody {
    /// Begins its capture.
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

    /// Ends its capture.
    #[pyo3(signature = (*_exception: "object") -> "bool")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let Some(stream) = self.stream().clone() else { return Ok(false) };
        stream::pop_current(&stream);
        let ended = py.without_gil(|| conditional::end(&stream));
        match _exception.get_item(0)?.is_none() {
            true => Ok(ended.map(|()| false)?),
            false => Ok(false), // the exception says more than what came of it
        }
    }
}

#[pymethods]
impl PyGraph {
    /// A number by which the graph is to decide what it does, and which its kernels set.
    ///
    /// Parameters
    /// ----------
    /// default_value : int, optional
    ///     What it is when a launch begins, without a kernel that sets it; by default what the launch before has left, and at first 0.
    ///
    /// Returns
    /// -------
    /// GraphCondition
    ///     Kernels take it as ``cudaGraphConditionalHandle`` and call ``cudaGraphSetConditional(handle, number)``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Outside of the graph's ``with`` statement.
    /// NotSupportedError
    ///     On HIP, which has no conditional nodes, and for CUDA's drivers before 12.4.
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
        let _keeper = condition.keeper();
        let own = PyGraphCondition { condition, default: default_value, _keeper };
        Bound::new(py, PyClassInitializer::from(bytes).add_subclass(own))
    }

    /// What is done once if the condition is not 0.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     One of this graph.
    ///
    /// Returns
    /// -------
    /// GraphBody
    ///     For a ``with`` statement in which its work is captured, right here.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     Outside of the graph's ``with`` statement, for a condition of another graph, and while a body is being captured on another
    ///     stream.
    ///
    /// Examples
    /// --------
    /// As for `create_condition`.
    #[pyo3(signature = (condition: "GraphCondition") -> "GraphBody")]
    fn if_then(&self, py: Python<'_>, condition: &Bound<'_, PyGraphCondition>) -> PyResult<PyGraphBody> {
        let [body] = self.branch(py, condition, Branching::If)?;
        Ok(body)
    }

    /// What is done if the condition is not 0, and what is done if it is.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     One of this graph.
    ///
    /// Returns
    /// -------
    /// tuple of GraphBody
    ///     Two, each for a ``with`` statement, one right after the other.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As for `if_then`.
    /// CudaError
    ///     From CUDA's drivers before 12.8.
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

    /// What is done again and again as long as the condition is not 0.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     One of this graph, asked before each turn. A kernel of the body sets it to 0 at last, or the loop has no end.
    ///
    /// Returns
    /// -------
    /// GraphBody
    ///     For a ``with`` statement in which its work is captured, right here.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As for `if_then`.
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

    /// What is done if the condition is 0, 1, 2 and so on; nothing, if it is larger.
    ///
    /// Parameters
    /// ----------
    /// condition : GraphCondition
    ///     One of this graph.
    /// count : int
    ///     How many cases there are.
    ///
    /// Returns
    /// -------
    /// tuple of GraphBody
    ///     So many, each for a ``with`` statement, one right after the other. A case that is left out does nothing.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     As for `if_then`, and for no case.
    /// CudaError
    ///     From CUDA's drivers before 12.8.
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
