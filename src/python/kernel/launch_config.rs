//! Defines the class `LaunchConfig`, which contains a launch shape and launch attributes, and the launcher that
//! combines a configuration with a kernel.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use super::class::PyKernel;
use super::dimensions::{extent, parse_u32};
use crate::convert::number;
use crate::exported_names::names;
use crate::kernel::call::argument_packing::{self, ArgumentCheck};
use crate::runtime::stream as runtime_stream;
use pygpu_backend::{ClusterPolicy, LaunchAttributes, LaunchShape};
use pygpu_device::stream::{self, Stream};
use pygpu_kernel::LaunchConfig;
use pygpu_layout::tuple_text;

/// Launch shape with attributes, for ``kernel[config](*arguments)``.
///
/// Parameters
/// ----------
/// grid : int or tuple of int
///     Blocks along x, y, z.
/// block : int or tuple of int
///     Threads of a block along x, y, z.
/// shared : int, optional
///     Bytes of dynamic shared memory of a block, up to the device's limit. If the kernel's own limit is lower, the
///     launch raises that limit.
/// stream : Stream, optional
///     The stream of the launch; the thread's current stream at the time of the launch by default.
/// cluster : int or tuple of int, optional
///     Blocks of a thread-block cluster along x, y, z. The blocks of a cluster run concurrently and access each other's
///     shared memory. The grid must be a multiple of the cluster. More than 8 blocks need
///     ``kernel.non_portable_cluster_size_allowed = True``. A kernel compiled with ``__cluster_dims__`` has a fixed
///     cluster.
/// cluster_scheduling_policy : {'spread', 'load_balancing'}, optional
///     Distribution of a cluster's blocks over multiprocessors; by default the driver chooses the distribution.
/// cooperative : bool, optional
///     Run all blocks concurrently, so that they may wait for one another (``cooperative_groups::this_grid().sync()``).
/// programmatic_dependent_launch : bool, optional
///     The kernel may begin before the preceding kernel on the stream has ended. The kernel must call
///     ``cudaGridDependencySynchronize()`` (``griddepcontrol.wait``) before the kernel reads or writes global memory.
/// priority : int, optional
///     Priority of the launch; lower numbers run first. The stream's priority by default.
/// preferred_shared_memory_carveout : int, optional
///     Percentage of the L1 cache preferred as shared memory; -1 lets the driver choose. The kernel's setting by
///     default.
///
/// Raises
/// ------
/// TypeError, ValueError
///     If a shape, number or policy is invalid. Attributes that the device or the kernel does not support are rejected
///     by the launch.
///
/// Notes
/// -----
/// Clusters and programmatic dependence require CUDA devices of compute capability 9.0 or newer. On other devices a
/// cluster of one block has no effect, and a larger cluster raises `NotSupportedError`. On devices without programmatic
/// dependence, the attribute has no effect and kernels run sequentially. Priority and carveout are hints; a device that
/// does not support them ignores them.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> kernel = PyGPU.Kernel('__global__ void fill(float *x, float a) { x[blockIdx.x * blockDim.x + threadIdx.x] = a; }')
/// >>> config = PyGPU.LaunchConfig(2, 4, cooperative=True, priority=-1)
/// >>> x = PyGPU.zeros(8, np.float32)
/// >>> kernel[config](x, 3)
/// >>> x.tolist()
/// [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]
/// >>> config.replace(grid=4).grid
/// (4, 1, 1)
#[pyclass(frozen, name = "LaunchConfig", module = "PyGPU")]
pub(crate) struct PyLaunchConfig {
    config: LaunchConfig,
    stream: Option<Py<PyAny>>,
}

/// Sets the launch attribute that has the name `name`. Returns false, and sets nothing, if no launch attribute has this
/// name.
pub(crate) fn set(config: &mut LaunchConfig, name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let LaunchConfig { shape, attributes } = config;
    let is_given = !value.is_none();
    match name {
        "cooperative" => shape.cooperative = value.is_truthy()?,
        "programmatic_dependent_launch" => attributes.programmatic = value.is_truthy()?,
        "cluster" => attributes.cluster = is_given.then(|| extent(value, name)).transpose()?,
        "cluster_scheduling_policy" => attributes.cluster_policy = is_given.then(|| policy(value)).transpose()?,
        "priority" => attributes.priority = is_given.then(|| number::int32(value, name)).transpose()?,
        "preferred_shared_memory_carveout" => {
            attributes.carveout = is_given.then(|| number::int32(value, name)).transpose()?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn policy(value: &Bound<'_, PyAny>) -> PyResult<ClusterPolicy> {
    match value.cast::<PyString>().ok().map(|text| text.to_str()).transpose()? {
        Some("spread") => Ok(ClusterPolicy::Spread),
        Some("load_balancing") => Ok(ClusterPolicy::LoadBalancing),
        _ => Err(PyValueError::new_err(format!(
            "cluster_scheduling_policy is 'spread', 'load_balancing' or None, not {}",
            value.repr()?
        ))),
    }
}

impl PyLaunchConfig {
    /// Returns the launch configuration as a value of the Rust core.
    pub(crate) fn config(&self) -> &LaunchConfig {
        &self.config
    }

    /// Converts the configuration's argument `stream` to a stream on the kernel's device. Returns `None` if the
    /// configuration has no stream.
    pub(crate) fn stream_for(&self, py: Python<'_>, kernel: &PyKernel) -> PyResult<Option<Stream>> {
        let device = kernel.function().device();
        let argument = self.stream.as_ref().map(|stream| stream.bind(py));
        argument.map(|stream| runtime_stream::from_argument(py, Some(stream), device)).transpose()
    }

    fn set_field(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match name {
            "grid" => self.config.shape.grid = extent(value, name)?,
            "block" => self.config.shape.block = extent(value, name)?,
            "shared" => self.config.shape.shared = parse_u32(value, name)?,
            "stream" => self.stream = (!value.is_none()).then(|| value.clone().unbind()),
            _ if set(&mut self.config, name, value)? => {}
            _ => return Err(PyTypeError::new_err(format!("LaunchConfig has no {name}: {}", NAMES.join(", ")))),
        }
        Ok(())
    }
}

const NAMES: [&str; 10] = [
    "grid",
    "block",
    "shared",
    "stream",
    "cluster",
    "cluster_scheduling_policy",
    "cooperative",
    "programmatic_dependent_launch",
    "priority",
    "preferred_shared_memory_carveout",
];

type Extent = (u32, u32, u32);

#[pymethods]
impl PyLaunchConfig {
    #[new]
    #[pyo3(signature = (grid, block, shared=None, stream=None, **attributes),
           text_signature = "(grid, block, shared=0, stream=None, *, cluster=None, cluster_scheduling_policy=None, \
                             cooperative=False, programmatic_dependent_launch=False, priority=None, \
                             preferred_shared_memory_carveout=None)")]
    // stub: def __new__(
    // stub:     cls,
    // stub:     grid: int | Sequence[int],
    // stub:     block: int | Sequence[int],
    // stub:     shared: int = 0,
    // stub:     stream: StreamLike = None,
    // stub:     *,
    // stub:     cluster: int | Sequence[int] | None = None,
    // stub:     cluster_scheduling_policy: str | None = None,
    // stub:     cooperative: bool = False,
    // stub:     programmatic_dependent_launch: bool = False,
    // stub:     priority: int | None = None,
    // stub:     preferred_shared_memory_carveout: int | None = None,
    // stub: ) -> Self: ...
    fn py_new(
        grid: &Bound<'_, PyAny>,
        block: &Bound<'_, PyAny>,
        shared: Option<&Bound<'_, PyAny>>,
        stream: Option<&Bound<'_, PyAny>>,
        attributes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let shape = LaunchShape {
            grid: extent(grid, "grid")?,
            block: extent(block, "block")?,
            shared: shared.map_or(Ok(0), |shared| parse_u32(shared, "shared"))?,
            cooperative: false,
        };
        let config = LaunchConfig { shape, attributes: LaunchAttributes::default() };
        let mut new_config = Self { config, stream: stream.map(|stream| stream.clone().unbind()) };
        for (name, value) in attributes.into_iter().flatten() {
            new_config.set_field(name.cast::<PyString>()?.to_str()?, &value)?;
        }
        Ok(new_config)
    }

    /// Return a copy with some values changed.
    ///
    /// Parameters
    /// ----------
    /// **changes
    ///     Keywords of `LaunchConfig` with their new values.
    ///
    /// Returns
    /// -------
    /// LaunchConfig
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.LaunchConfig(8, 128).replace(cluster=2)
    /// LaunchConfig((8, 1, 1), (128, 1, 1), cluster=(2, 1, 1))
    #[pyo3(signature = (**changes: "Any") -> "LaunchConfig")]
    fn replace(&self, py: Python<'_>, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut new_config =
            Self { config: self.config, stream: self.stream.as_ref().map(|stream| stream.clone_ref(py)) };
        for (name, value) in changes.into_iter().flatten() {
            new_config.set_field(name.cast::<PyString>()?.to_str()?, &value)?;
        }
        Ok(new_config)
    }

    /// Blocks along x, y, z.
    #[getter]
    // stub: -> tuple[int, int, int]
    fn grid(&self) -> PyResult<Extent> {
        Ok(self.config.shape.grid.into())
    }

    /// Threads of a block along x, y, z.
    #[getter]
    // stub: -> tuple[int, int, int]
    fn block(&self) -> PyResult<Extent> {
        Ok(self.config.shape.block.into())
    }

    /// Bytes of dynamic shared memory of a block.
    #[getter]
    fn shared(&self) -> PyResult<u32> {
        Ok(self.config.shape.shared)
    }

    /// Stream of the launch; None for the thread's current stream.
    #[getter]
    // stub: -> StreamLike
    fn stream(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        Ok(self.stream.as_ref().map(|stream| stream.clone_ref(py)))
    }

    /// Blocks of a cluster along x, y, z; None for the kernel's compiled cluster.
    #[getter]
    // stub: -> tuple[int, int, int] | None
    fn cluster(&self) -> PyResult<Option<Extent>> {
        Ok(self.config.attributes.cluster.map(Into::into))
    }

    /// ``'spread'``, ``'load_balancing'``, or None for the driver's choice.
    #[getter]
    fn cluster_scheduling_policy(&self) -> PyResult<Option<&'static str>> {
        Ok(self.config.attributes.cluster_policy.map(policy_name))
    }

    /// Whether all blocks run concurrently.
    #[getter]
    fn cooperative(&self) -> PyResult<bool> {
        Ok(self.config.shape.cooperative)
    }

    /// Whether the kernel may begin before the preceding kernel on the stream has ended.
    #[getter]
    fn programmatic_dependent_launch(&self) -> PyResult<bool> {
        Ok(self.config.attributes.programmatic)
    }

    /// Priority, lower numbers first; None for the stream's priority.
    #[getter]
    fn priority(&self) -> PyResult<Option<i32>> {
        Ok(self.config.attributes.priority)
    }

    /// Percentage of the L1 cache preferred as shared memory; None for the kernel's setting.
    #[getter]
    fn preferred_shared_memory_carveout(&self) -> PyResult<Option<i32>> {
        Ok(self.config.attributes.carveout)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let LaunchConfig { shape, attributes } = &self.config;
        let mut text = format!("LaunchConfig({}, {}", tuple_text(shape.grid), tuple_text(shape.block));
        if shape.shared != 0 {
            text.push_str(&format!(", shared={}", shape.shared));
        }
        if let Some(stream) = &self.stream {
            text.push_str(&format!(", stream={}", stream.bind(py).repr()?));
        }
        if let Some(cluster) = &attributes.cluster {
            text.push_str(&format!(", cluster={}", tuple_text(cluster)));
        }
        if let Some(policy) = attributes.cluster_policy {
            text.push_str(&format!(", cluster_scheduling_policy='{}'", policy_name(policy)));
        }
        if shape.cooperative {
            text.push_str(", cooperative=True");
        }
        if attributes.programmatic {
            text.push_str(", programmatic_dependent_launch=True");
        }
        if let Some(priority) = attributes.priority {
            text.push_str(&format!(", priority={priority}"));
        }
        if let Some(percent) = attributes.carveout {
            text.push_str(&format!(", preferred_shared_memory_carveout={percent}"));
        }
        text.push(')');
        Ok(text)
    }
}

fn policy_name(policy: ClusterPolicy) -> &'static str {
    match policy {
        ClusterPolicy::Spread => "spread",
        ClusterPolicy::LoadBalancing => "load_balancing",
    }
}

/// Kernel with a launch shape and attributes: the result of ``kernel[config]``.
#[pyclass(frozen, freelist = 8, name = "ConfiguredLauncher", module = "PyGPU")]
pub(crate) struct ConfiguredLauncher {
    kernel: Py<PyKernel>,
    config: LaunchConfig,
    stream: Option<Stream>,
}

impl ConfiguredLauncher {
    pub(crate) fn new(kernel: &Bound<'_, PyKernel>, launch_config: &PyLaunchConfig) -> PyResult<Self> {
        let stream = launch_config.stream_for(kernel.py(), kernel.get())?;
        Ok(Self { kernel: kernel.clone().unbind(), config: launch_config.config, stream })
    }
}

#[pymethods]
impl ConfiguredLauncher {
    #[pyo3(signature = (*args: "Any", **kwargs: "Any") -> "None")]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let function = self.kernel.get().function();
        let current;
        let stream = match &self.stream {
            Some(stream) => stream,
            None => {
                current = stream::current(function.device());
                &current
            }
        };
        let Some(kwargs) = kwargs else {
            return argument_packing::call(function, &self.config, stream, args, ArgumentCheck::Strict);
        };
        let (config, rules) = with_keywords(self.config, kwargs)?;
        argument_packing::call(function, &config, stream, args, rules)
    }

    /// The kernel that a call launches.
    #[getter]
    // stub: -> Kernel
    fn kernel(&self, py: Python<'_>) -> Py<PyKernel> {
        self.kernel.clone_ref(py)
    }

    fn __repr__(&self) -> PyResult<String> {
        let ([gx, gy, gz], [bx, by, bz]) = (self.config.shape.grid, self.config.shape.block);
        let name = self.kernel.get().function().name();
        Ok(format!("<PyGPU.ConfiguredLauncher {name}[({gx}, {gy}, {gz}), ({bx}, {by}, {bz})]>"))
    }
}

/// Changes a configuration by the keyword arguments of a launch. Returns the changed configuration, and how strictly
/// the launch checks its arguments.
pub(crate) fn with_keywords(
    mut config: LaunchConfig,
    kwargs: &Bound<'_, PyDict>,
) -> PyResult<(LaunchConfig, ArgumentCheck)> {
    let mut rules = ArgumentCheck::Strict;
    for (name, value) in kwargs {
        match name.cast::<PyString>()?.to_str()? {
            "strided" => rules = if value.is_truthy()? { ArgumentCheck::Strided } else { ArgumentCheck::Strict },
            name if set(&mut config, name, &value)? => {}
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a launch takes the keywords strided, {}, not {other}: kernel[grid, block, stream, shared](...)",
                    NAMES[4..].join(", ")
                )));
            }
        }
    }
    Ok((config, rules))
}

names! {
    classes "Kernels": PyLaunchConfig;
    internal_classes: ConfiguredLauncher;
}
