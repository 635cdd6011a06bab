//! Defines the class `GraphNode`, and the members `Graph.nodes` and `Graph.update`, which list the operations of a
//! graph and update their parameters.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::call::argument_packing::{self, ArgumentCheck};
use super::dimensions::{extent, parse_u32};
use crate::array::class::GpuArray;
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::graph::PyGraph;
use pygpu_array::graph::{self, GraphOperation};
use pygpu_backend::{LaunchShape, NodeKind};
use pygpu_base::error::Error;
use pygpu_device::stream::{self, Stream};
use pygpu_kernel::launch::{self, Launched};
use pygpu_memory::BlockUse;

/// Operation of a graph: an element of `Graph.nodes`.
#[pyclass(frozen, name = "GraphNode", module = "PyGPU")]
pub(crate) struct PyGraphNode {
    graph: Py<PyGraph>,
    index: usize,
    kind: NodeKind,
    name: Option<String>,
}

#[pymethods]
impl PyGraphNode {
    /// Kind of the operation: 'kernel', 'memcpy', 'memset', 'host', or another of the driver's names.
    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// Name of the kernel; None for other kinds, and for a kernel that another library captured.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Index in `Graph.nodes`.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    fn __repr__(&self) -> String {
        let name = self.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
        format!("<PyGPU.GraphNode {}: {}{name}>", self.index, self.kind.name())
    }
}

/// Returns the kernel launch from which a node was created; `None` for other nodes.
fn launch_of(node: &GraphOperation) -> Option<Arc<Launched>> {
    node.part.clone()?.downcast::<Launched>().ok()
}

#[pymethods]
impl PyGraph {
    /// Operations in the order of their capture.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(5, 'uint8')
    /// >>> with PyGPU.Graph() as graph:
    /// ...     _ = a.fill(3)
    /// >>> graph.nodes
    /// [<PyGPU.GraphNode 0: memset>]
    #[getter]
    fn nodes(slf: &Bound<'_, Self>) -> PyResult<Vec<PyGraphNode>> {
        let graph = slf.get().graph()?;
        let nodes = graph.nodes().into_iter().enumerate().map(|(index, node)| {
            let name = launch_of(&node).map(|launch_of| launch_of.function.name().to_owned());
            Ok(PyGraphNode { graph: slf.clone().unbind(), index, kind: graph.kind(&node)?, name })
        });
        nodes.collect()
    }

    /// Replace parameters of the graph for later launches, of one node or of all.
    ///
    /// Parameters
    /// ----------
    /// what : GraphNode or Graph
    ///     Either a node of this graph, whose parameters are replaced, or another graph with the same operations, whose
    ///     parameters replace all parameters of this graph.
    /// *arguments : object
    ///     The new parameters of the node. For a kernel, its launch arguments; omit them to keep the current arguments.
    ///     For a memcpy, the target and the source, each an array or pinned memory. For a memset, the array and the
    ///     value. Alternatively, for a node of any kind, a function without parameters that enqueues a single
    ///     operation, such as ``lambda: kernel[grid, block](x)``.
    /// grid, block : int or tuple of int, optional
    ///     Launch shape of the kernel; the current shape by default.
    /// shared : int, optional
    ///     Bytes of dynamic shared memory; the current number by default.
    /// strided : bool, optional
    ///     Whether to accept arrays with any strides.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the node belongs to another graph, or if the parameters result in another kind of operation or in several
    ///     operations.
    /// CudaError
    ///     If the other graph differs from this graph in more than parameters. The error contains the driver's reason.
    ///     No parameter is changed in this case.
    /// NotSupportedError
    ///     If a node of this kind has no replaceable parameters, or if the driver does not support replacing them.
    ///
    /// Notes
    /// -----
    /// Launches in progress keep their parameters. The graph keeps the new arguments alive, and releases the replaced
    /// arguments when all launches that use them have completed. Later launches of the graph wait for earlier work on
    /// the new arrays, and later work on these arrays waits for the launches.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a, b = PyGPU.zeros(5, 'uint8'), PyGPU.zeros(5, 'uint8')
    /// >>> with PyGPU.Graph() as graph:
    /// ...     _ = a.fill(3)
    /// >>> graph.update(graph.nodes[0], b, 7)
    /// >>> graph.launch()
    /// >>> int(a[0]), int(b[0])
    /// (0, 7)
    #[pyo3(signature = (what, /, *arguments, grid=None, block=None, shared=None, strided=false))]
    // stub: @overload
    // stub: def update(self, what: Graph, /) -> None: ...
    // stub: @overload
    // stub: def update(
    // stub:     self,
    // stub:     what: GraphNode,
    // stub:     /,
    // stub:     *arguments: Any,
    // stub:     grid: int | Sequence[int] | None = None,
    // stub:     block: int | Sequence[int] | None = None,
    // stub:     shared: int | None = None,
    // stub:     strided: bool = False,
    // stub: ) -> None: ...
    fn update(
        slf: &Bound<'_, Self>,
        what: &Bound<'_, PyAny>,
        arguments: &Bound<'_, PyTuple>,
        grid: Option<&Bound<'_, PyAny>>,
        block: Option<&Bound<'_, PyAny>>,
        shared: Option<&Bound<'_, PyAny>>,
        strided: bool,
    ) -> PyResult<()> {
        let shape = ShapeChange { grid, block, shared };
        if let Ok(other) = what.cast::<Self>() {
            return adopt_parameters(slf, other, arguments, &shape);
        }
        let (index, kind) = node_index(slf, what)?;
        let rules = if strided { ArgumentCheck::Strided } else { ArgumentCheck::Strict };
        let parameters = NodeParameters::resolve(slf, (index, kind), arguments, shape, rules)?;
        replace(slf.py(), slf.get().graph()?, index, |stream| parameters.enqueue(slf.py(), stream))
    }
}

/// Parts of a kernel's launch shape that an update replaces; the other parts keep their values.
struct ShapeChange<'a, 'py> {
    grid: Option<&'a Bound<'py, PyAny>>,
    block: Option<&'a Bound<'py, PyAny>>,
    shared: Option<&'a Bound<'py, PyAny>>,
}

impl ShapeChange<'_, '_> {
    fn has_any(&self) -> bool {
        self.grid.is_some() || self.block.is_some() || self.shared.is_some()
    }

    /// Rejects the arguments `grid`, `block` and `shared` if `is_kernel` is false. This is the case for a node that is
    /// no kernel launch, and for an operation that a Python function enqueues, because the function chooses the launch
    /// shape itself.
    fn check_kernel(&self, is_kernel: bool) -> PyResult<()> {
        if is_kernel || !self.has_any() {
            return Ok(());
        }
        Err(PyTypeError::new_err("grid, block and shared are of a kernel's node that is given arguments"))
    }

    fn apply(&self, mut shape: LaunchShape) -> PyResult<LaunchShape> {
        if let Some(grid) = self.grid {
            shape.grid = extent(grid, "grid")?;
        }
        if let Some(block) = self.block {
            shape.block = extent(block, "block")?;
        }
        if let Some(shared) = self.shared {
            shape.shared = parse_u32(shared, "shared")?;
        }
        Ok(shape)
    }
}

/// Replaces all parameters of a graph by the parameters of another graph.
fn adopt_parameters(
    graph: &Bound<'_, PyGraph>,
    other: &Bound<'_, PyGraph>,
    arguments: &Bound<'_, PyTuple>,
    shape: &ShapeChange<'_, '_>,
) -> PyResult<()> {
    let target = graph.get().graph()?;
    if shape.has_any() || !arguments.is_empty() {
        return Err(PyTypeError::new_err("update(graph) takes no more than the graph: its operations have all else"));
    }
    let other = other.get().graph()?;
    Ok(graph.py().without_gil(|| target.update(other))?)
}

/// Returns the index and the kind of a node, and rejects a node of another graph.
fn node_index(graph: &Bound<'_, PyGraph>, what: &Bound<'_, PyAny>) -> PyResult<(usize, NodeKind)> {
    graph.get().graph()?;
    let node = what.cast::<PyGraphNode>().map_err(|_| {
        let class = what.get_type();
        PyTypeError::new_err(format!("update takes a node of graph.nodes, or another graph, not {class}"))
    })?;
    let node = node.get();
    match node.graph.is(graph) {
        true => Ok((node.index, node.kind)),
        false => Err(PyValueError::new_err("the node is of another graph; take one of graph.nodes")),
    }
}

/// The new parameters of a node. To set them, an operation with these parameters is captured from a stream, and its
/// parameters are copied to the node.
enum NodeParameters<'a, 'py> {
    /// A Python function that enqueues one operation. The node receives the parameters of this operation.
    Function(Bound<'py, PyAny>),
    /// A launch of the node's kernel with its current arguments and another launch shape.
    Relaunch { launch: Arc<Launched>, node: GraphOperation, shape: ShapeChange<'a, 'py> },
    /// A launch of the node's kernel with new arguments, and possibly another launch shape.
    Kernel {
        launch: Arc<Launched>,
        shape: ShapeChange<'a, 'py>,
        arguments: &'a Bound<'py, PyTuple>,
        rules: ArgumentCheck,
    },
    /// A copy; the arguments are its target and source.
    Copy(&'a Bound<'py, PyTuple>),
    /// A fill of an array; the arguments are the array and the value.
    Fill(&'a Bound<'py, PyTuple>),
    /// No operation: the node is a kernel launch that another library captured, so its parameters cannot be replaced.
    ForeignKernel,
    /// No operation: the driver cannot replace the parameters of nodes of this kind.
    Other(NodeKind),
}

impl<'a, 'py> NodeParameters<'a, 'py> {
    fn resolve(
        graph: &Bound<'py, PyGraph>,
        (index, kind): (usize, NodeKind),
        arguments: &'a Bound<'py, PyTuple>,
        shape: ShapeChange<'a, 'py>,
        rules: ArgumentCheck,
    ) -> PyResult<Self> {
        let node = graph.get().graph()?.nodes().into_iter().nth(index);
        let launch = node.as_ref().and_then(launch_of);
        if arguments.len() == 1
            && let function = arguments.get_item(0)?
            && function.is_callable()
        {
            shape.check_kernel(false)?;
            return Ok(Self::Function(function));
        }
        shape.check_kernel(kind == NodeKind::Kernel)?;
        Ok(match (kind, launch, node) {
            (NodeKind::Kernel, Some(launch), Some(node)) if arguments.is_empty() => {
                Self::Relaunch { launch, node, shape }
            }
            (NodeKind::Kernel, Some(launch), _) => Self::Kernel { launch, shape, arguments, rules },
            (NodeKind::Kernel, ..) => Self::ForeignKernel,
            (NodeKind::Copy, ..) => Self::Copy(arguments),
            (NodeKind::Fill, ..) => Self::Fill(arguments),
            (kind, ..) => Self::Other(kind),
        })
    }

    /// Enqueues the operation that these parameters describe on a capturing stream.
    fn enqueue(self, py: Python<'py>, stream: &Stream) -> PyResult<()> {
        match self {
            Self::Function(function) => with_current_stream(stream, || function.call0().map(drop)),
            Self::Relaunch { launch, node, shape } => relaunch(py, &node, &launch, &shape.apply(launch.shape)?, stream),
            Self::Kernel { launch, shape, arguments, rules } => {
                argument_packing::call(&launch.function, &shape.apply(launch.shape)?, stream, arguments, rules)
            }
            Self::Copy(arguments) => with_current_stream(stream, || copy(arguments)),
            Self::Fill(arguments) => with_current_stream(stream, || fill(arguments)),
            Self::ForeignKernel => Err(Error::not_supported(
                "the kernel of the node was not launched by PyGPU; give a function that launches what it is to be",
            )
            .into()),
            Self::Other(kind) => Err(Error::not_supported(format!(
                "a node of the kind {} has no parameters to exchange; capture the graph again, and update(graph)",
                kind.name()
            ))
            .into()),
        }
    }
}

/// Replaces the parameters of a node by the parameters of the operation that `enqueue` adds to a capturing stream.
fn replace(
    py: Python<'_>,
    graph: &graph::Graph,
    index: usize,
    enqueue: impl FnOnce(&Stream) -> PyResult<()>,
) -> PyResult<()> {
    let stream = py.without_gil(|| graph.begin_part())?;
    match enqueue(&stream) {
        Ok(()) => Ok(py.without_gil(|| graph.end_part(stream, index))?),
        Err(error) => {
            py.without_gil(|| graph::abandon(&stream));
            Err(error)
        }
    }
}

/// Calls a function while `stream` is the thread's current stream.
fn with_current_stream(stream: &Stream, call: impl FnOnce() -> PyResult<()>) -> PyResult<()> {
    stream::push_current(stream.clone());
    let outcome = call();
    stream::pop_current(stream);
    outcome
}

/// Enqueues the kernel launch of a node again, with another launch shape.
fn relaunch(
    py: Python<'_>,
    node: &GraphOperation,
    launch_of: &Launched,
    shape: &LaunchShape,
    stream: &Stream,
) -> PyResult<()> {
    let uses: Vec<BlockUse<'_>> = node.uses.iter().map(|(block, access)| (block, *access)).collect();
    let mut arguments = launch_of.arguments.clone();
    // SAFETY: the original launch has checked the same arguments, and the graph keeps their memory alive.
    Ok(py.without_gil(|| unsafe { launch::launch(&launch_of.function, shape, stream, &mut arguments, &uses) })?)
}

/// Enqueues a copy of the values of the second argument to the first argument.
fn copy(arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let py = arguments.py();
    let Ok((target, source)) = arguments.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(PyTypeError::new_err("a memcpy takes its target and its source: update(node, target, source)"));
    };
    if !target.is_instance_of::<GpuArray>() {
        let keywords = PyDict::new(py);
        keywords.set_item(intern!(py, "ary"), target)?;
        return source.call_method(intern!(py, "get_async"), (), Some(&keywords)).map(drop);
    }
    if source.is_instance_of::<GpuArray>() {
        return target.set_item(py.Ellipsis(), source);
    }
    target.call_method1(intern!(py, "set_async"), (source,)).map(drop)
}

/// Enqueues a fill of the array in the first argument with the value in the second argument.
fn fill(arguments: &Bound<'_, PyTuple>) -> PyResult<()> {
    let Ok((target, value)) = arguments.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(PyTypeError::new_err("a memset takes an array and a value: update(node, array, value)"));
    };
    target.call_method1(intern!(target.py(), "fill"), (value,)).map(drop)
}

names! {
    classes "Kernels": PyGraphNode;
}
