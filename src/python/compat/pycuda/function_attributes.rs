//! Defines functions that read and write attributes of a `Function`, under PyCUDA's names and numbers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::function::PyFunction;
use crate::convert::number;
use crate::errors;
use pygpu_backend::{FunctionAttributes, FunctionSetting};

impl PyFunction {
    fn attributes(&self, py: Python<'_>) -> PyResult<FunctionAttributes> {
        self.kernel.get().attributes(py)
    }
}

#[pymethods]
impl PyFunction {
    /// Return an attribute of the function, by a number of `function_attribute`.
    ///
    /// Parameters
    /// ----------
    /// attr : int
    ///     For example ``function_attribute.NUM_REGS``.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.driver import Function, function_attribute
    /// >>> func = Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
    /// >>> func.get_attribute(function_attribute.MAX_THREADS_PER_BLOCK) > 0
    /// True
    #[pyo3(signature = (attr: "int") -> "int")]
    fn get_attribute(&self, attr: &Bound<'_, PyAny>) -> PyResult<i32> {
        let values = self.attributes(attr.py())?;
        Ok(match number::int32(attr, "attr")? {
            0 => values.max_threads_per_block,
            1 => values.static_shared_bytes,
            2 => values.constant_bytes,
            3 => values.local_bytes,
            4 => values.registers,
            5 => values.ptx_version,
            6 => values.binary_version,
            8 => values.max_dynamic_shared_bytes,
            9 => values.preferred_carveout,
            other => {
                let error = PyValueError::new_err(format!("function attribute {other} is not known"));
                return Err(errors::as_logic(attr.py(), error));
            }
        })
    }

    /// Set `MAX_DYNAMIC_SHARED_SIZE_BYTES` or `PREFERRED_SHARED_MEMORY_CARVEOUT`.
    ///
    /// Parameters
    /// ----------
    /// attr : int
    ///     A value of `function_attribute`.
    /// value : int
    ///     The new value.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.driver import Function, function_attribute
    /// >>> func = Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
    /// >>> func.set_attribute(function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 16384)
    #[pyo3(signature = (attr: "int", value: "int") -> "None")]
    fn set_attribute(&self, attr: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = number::int32(value, "value")?;
        let setting = match number::int32(attr, "attr")? {
            8 => FunctionSetting::MaxDynamicSharedBytes(value),
            9 => FunctionSetting::PreferredCarveout(value),
            other => {
                let error = PyValueError::new_err(format!("function attribute {other} cannot be set"));
                return Err(errors::as_logic(attr.py(), error));
            }
        };
        self.kernel.get().set(attr.py(), setting)
    }

    /// Set the cache preference: L1 cache or shared memory.
    ///
    /// Parameters
    /// ----------
    /// fc : int
    ///     A value of `func_cache`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> from PyGPU.driver import Function, func_cache
    /// >>> func = Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
    /// >>> func.set_cache_config(func_cache.PREFER_L1)
    #[pyo3(signature = (fc: "int") -> "None")]
    fn set_cache_config(&self, fc: &Bound<'_, PyAny>) -> PyResult<()> {
        self.kernel.get().set(fc.py(), FunctionSetting::CachePreference(number::int32(fc, "fc")?))
    }

    /// Maximum number of threads per block.
    #[getter]
    fn max_threads_per_block(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_threads_per_block)
    }

    /// Bytes of static shared memory per block.
    #[getter]
    fn shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.static_shared_bytes)
    }

    /// Bytes of constant memory.
    #[getter]
    fn const_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.constant_bytes)
    }

    /// Bytes of local memory per thread.
    #[getter]
    fn local_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.local_bytes)
    }

    /// Registers per thread.
    #[getter]
    fn num_regs(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.registers)
    }

    /// The target PTX version, as 90 for 9.0.
    #[getter]
    fn ptx_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.ptx_version)
    }

    /// The target architecture, as 90 for ``sm_90``.
    #[getter]
    fn binary_version(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.binary_version)
    }

    /// Maximum number of bytes of dynamic shared memory per launch; a launch that requires more raises this maximum.
    #[getter]
    fn max_dynamic_shared_size_bytes(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.max_dynamic_shared_bytes)
    }

    /// Percentage of the first-level cache requested as shared memory; -1 is the driver's choice.
    #[getter]
    fn preferred_shared_memory_carveout(&self, py: Python<'_>) -> PyResult<i32> {
        Ok(self.attributes(py)?.preferred_carveout)
    }
}
