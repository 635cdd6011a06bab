//! Defines the attributes and settings of the class `Kernel`, and its methods for the occupancy of the device.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::class::PyKernel;
use super::dimensions::{extent, parse_u32};
use super::launch_config::PyLaunchConfig;
use crate::convert::number;
use crate::gil::WithoutGil;
use pygpu_backend::{FunctionAttributes, FunctionSetting};
use pygpu_kernel::launch;

#[pymethods]
impl PyKernel {
    /// Registers of a thread, under PyCUDA's name.
    #[getter]
    fn num_regs(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.registers)
    }

    /// Registers of a thread; 0 on the CPU.
    #[getter]
    fn registers(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.registers)
    }

    /// Static shared memory of a block in bytes, under PyCUDA's name.
    #[getter]
    fn shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.static_shared_bytes)
    }

    /// Static shared memory of a block in bytes. On the CPU backend the memory of called functions is not included.
    #[getter]
    fn shared(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.static_shared_bytes)
    }

    /// Local memory of a thread in bytes, under PyCUDA's name.
    #[getter]
    fn local_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.local_bytes)
    }

    /// Local memory of a thread in bytes; 0 on the CPU.
    #[getter]
    fn local(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.local_bytes)
    }

    /// Constant memory in bytes, under PyCUDA's name.
    #[getter]
    fn const_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.constant_bytes)
    }

    /// Constant memory in bytes.
    #[getter]
    fn constant(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.constant_bytes)
    }

    /// Maximum number of threads per block, under PyCUDA's name.
    #[getter]
    fn max_threads_per_block(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_threads_per_block)
    }

    /// Maximum number of threads per block.
    #[getter]
    fn max_threads(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_threads_per_block)
    }

    /// PTX version for which the kernel was compiled, e.g. 90 for 9.0.
    #[getter]
    fn ptx_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.ptx_version)
    }

    /// Architecture for which the kernel was compiled, e.g. 90 for ``sm_90``.
    #[getter]
    fn binary_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.binary_version)
    }

    /// Maximum dynamic shared memory of a launch in bytes. A launch that needs more raises it automatically, within the
    /// device's limit. It can be set.
    #[getter]
    fn max_dynamic_shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_dynamic_shared_bytes)
    }

    #[setter]
    // stub: -> int
    fn set_max_dynamic_shared_size_bytes(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = number::int32(value, "max_dynamic_shared_size_bytes")?;
        self.set(value.py(), FunctionSetting::MaxDynamicSharedBytes(bytes))
    }

    /// Percentage of the L1 cache preferred as shared memory; -1, the default, is the driver's choice. It can be set.
    #[getter]
    fn preferred_shared_memory_carveout(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.preferred_carveout)
    }

    #[setter]
    // stub: -> int
    fn set_preferred_shared_memory_carveout(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let percent = number::int32(value, "preferred_shared_memory_carveout")?;
        self.set(value.py(), FunctionSetting::PreferredCarveout(percent))
    }

    /// Whether clusters may exceed the portable size of 8 blocks, which every device with clusters supports. It can be
    /// set.
    #[getter]
    fn non_portable_cluster_size_allowed(&self) -> PyResult<bool> {
        Ok(self.function().allows_large_clusters())
    }

    #[setter]
    // stub: -> bool
    fn set_non_portable_cluster_size_allowed(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(value.py(), FunctionSetting::NonPortableClusters(value.is_truthy()?))
    }

    /// Shape of the cluster for which the kernel was compiled by ``__cluster_dims__``, in blocks along x, y, z; or
    /// None.
    #[getter]
    fn required_cluster(&self, py: Python<'_>) -> PyResult<Option<(u32, u32, u32)>> {
        let function = self.function();
        Ok(py.without_gil(|| function.required_cluster())?.map(Into::into))
    }

    /// Return the maximum cluster size of a launch in blocks; 1 on a device without clusters.
    ///
    /// Parameters
    /// ----------
    /// block : int or tuple of int
    ///     Threads of a block.
    /// shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    ///
    /// Returns
    /// -------
    /// int
    ///     At most 8, unless ``non_portable_cluster_size_allowed`` is set.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> kernel.max_cluster_size(128) >= 1  # 8 on an H200
    /// True
    #[pyo3(
        signature = (block: "int | Sequence[int]", shared: "int" = None) -> "int",
        text_signature = "($self, block, shared=0)"
    )]
    fn max_cluster_size(&self, block: &Bound<'_, PyAny>, shared: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let block_shape = extent(block, "block")?;
        let shared = shared.map_or(Ok(0), |shared| parse_u32(shared, "shared"))?;
        let function = self.function();
        Ok(block.py().without_gil(|| function.max_cluster_size(block_shape, shared))?)
    }

    /// Return how many clusters of a launch run concurrently, or how many blocks on a device without clusters.
    ///
    /// Parameters
    /// ----------
    /// config : LaunchConfig
    ///     The launch.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> kernel.max_active_clusters(PyGPU.LaunchConfig(8, 128, cluster=1)) > 0
    /// True
    #[pyo3(signature = (config: "LaunchConfig") -> "int")]
    fn max_active_clusters(&self, py: Python<'_>, config: &PyLaunchConfig) -> PyResult<u32> {
        let (function, config) = (self.function(), *config.config());
        Ok(py.without_gil(|| launch::active_clusters(function, &config))?)
    }

    /// Set the preferred use of the L1 cache.
    ///
    /// Parameters
    /// ----------
    /// preference : int
    ///     0 is no preference, 1 prefers shared memory, 2 prefers cache, 3 prefers equal sizes.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> kernel.set_cache_config(2)
    #[pyo3(signature = (preference: "int") -> "None")]
    fn set_cache_config(&self, preference: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = number::int32(preference, "preference")?;
        self.set(preference.py(), FunctionSetting::CachePreference(value))
    }

    /// Return the number of blocks that run concurrently on one multiprocessor.
    ///
    /// Parameters
    /// ----------
    /// block : int or tuple of int
    ///     Threads of a block.
    /// shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> kernel.active_blocks(256) > 0
    /// True
    #[pyo3(
        signature = (block: "int | Sequence[int]", shared: "int" = None) -> "int",
        text_signature = "($self, block, shared=0)"
    )]
    fn active_blocks(&self, block: &Bound<'_, PyAny>, shared: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let threads = extent(block, "block")?.iter().fold(1u32, |product, length| product.saturating_mul(*length));
        let shared = shared.map_or(Ok(0), |shared| parse_u32(shared, "shared"))?;
        let function = self.function();
        Ok(block.py().without_gil(|| function.active_blocks(threads, shared))?)
    }

    /// Return the occupancy of a multiprocessor by blocks of a given size.
    ///
    /// Parameters
    /// ----------
    /// block : int or tuple of int
    ///     Threads of a block.
    /// dynamic_shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    ///
    /// Returns
    /// -------
    /// blocks : int
    ///     Blocks that run concurrently on one multiprocessor; 0 if none fits. On the CPU backend one block runs per
    ///     processor.
    /// fraction : float
    ///     Warps of these blocks as a fraction of the multiprocessor's maximum.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> occupancy = kernel.occupancy(256)  # Occupancy(blocks=8, fraction=1.0) on an H200
    /// >>> 0 < occupancy.fraction <= 1
    /// True
    #[pyo3(
        signature = (block: "int | Sequence[int]", dynamic_shared: "int" = None) -> "Occupancy",
        text_signature = "($self, block, dynamic_shared=0)"
    )]
    fn occupancy<'py>(
        &self,
        block: &Bound<'py, PyAny>,
        dynamic_shared: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = block.py();
        let threads = extent(block, "block")?.iter().fold(1u32, |product, length| product.saturating_mul(*length));
        let shared = dynamic_shared.map_or(Ok(0), |shared| parse_u32(shared, "dynamic_shared"))?;
        if threads == 0 {
            return Err(PyValueError::new_err("a block has at least one thread along each axis, not 0"));
        }
        let function = self.function();
        let result = py.without_gil(|| function.occupancy(threads, shared))?;
        py.import("PyGPU._kernels.occupancy")?.getattr("Occupancy")?.call1((result.blocks, result.fraction))
    }

    /// Threads per block with the best occupancy, without dynamic shared memory; see also `suggested_shape`.
    #[getter]
    fn suggested_block(&self, py: Python<'_>) -> PyResult<u32> {
        let function = self.function();
        Ok(py.without_gil(|| function.suggested_shape(0, 0))?.1)
    }

    /// Return a launch shape that fills the device with the best occupancy.
    ///
    /// Parameters
    /// ----------
    /// shared : int, optional
    ///     Bytes of dynamic shared memory of a block.
    /// limit : int, optional
    ///     Maximum number of threads per block; 0 for no limit.
    ///
    /// Returns
    /// -------
    /// grid, block : int
    ///     The smallest number of blocks that fills the device, and the threads per block.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> kernel = PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }')
    /// >>> blocks, threads = kernel.suggested_shape()  # (264, 1024) on an H200
    #[pyo3(
        signature = (shared: "int" = None, limit: "int" = None) -> "tuple[int, int]",
        text_signature = "($self, shared=0, limit=0)"
    )]
    fn suggested_shape(
        &self,
        py: Python<'_>,
        shared: Option<&Bound<'_, PyAny>>,
        limit: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(u32, u32)> {
        let shared = shared.map_or(Ok(0), |shared| parse_u32(shared, "shared"))?;
        let limit = limit.map_or(Ok(0), |limit| parse_u32(limit, "limit"))?;
        let function = self.function();
        Ok(py.without_gil(|| function.suggested_shape(shared, limit))?)
    }
}

impl PyKernel {
    pub(crate) fn attributes(&self, py: Python<'_>) -> PyResult<FunctionAttributes> {
        let function = self.function();
        Ok(py.without_gil(|| function.attributes())?)
    }

    pub(crate) fn set(&self, py: Python<'_>, setting: FunctionSetting) -> PyResult<()> {
        let function = self.function();
        Ok(py.without_gil(|| function.set(setting))?)
    }
}
