//! What is known of a kernel and what can be set of it, in PyCUDA's spelling.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::driver_function::DriverFunction;
use super::gil::WithoutGil;
use super::number;
use crate::backend::FunctionSetting;

impl DriverFunction {
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.kernel.bind(py).getattr(name)
    }
}

#[pymethods]
impl DriverFunction {
    /// What is known of the kernel.
    ///
    /// Parameters
    /// ----------
    /// attribute : function_attribute
    ///     For example ``function_attribute.NUM_REGS``.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another number.
    ///
    /// Examples
    /// --------
    /// >>> func.get_attribute(PyGPU.driver.function_attribute.NUM_REGS)  # doctest: +SKIP
    /// 12
    fn get_attribute(&self, attribute: &Bound<'_, PyAny>) -> PyResult<i32> {
        let py = attribute.py();
        let known = py.without_gil(|| self.kernel.get().function().attributes())?;
        Ok(match number::int32(attribute, "attribute")? {
            0 => known.max_threads_per_block,
            1 => known.static_shared_bytes,
            2 => known.constant_bytes,
            3 => known.local_bytes,
            4 => known.registers,
            5 => known.ptx_version,
            6 => known.binary_version,
            // Whether global loads are cached on the first level: only a debugging build of a driver is asked otherwise.
            7 => 0,
            8 => known.max_dynamic_shared_bytes,
            9 => known.preferred_carveout,
            other => return Err(PyValueError::new_err(format!("{other} is no function_attribute"))),
        })
    }

    /// Sets something of the kernel.
    ///
    /// Parameters
    /// ----------
    /// attribute : function_attribute
    ///     ``MAX_DYNAMIC_SHARED_SIZE_BYTES`` or ``PREFERRED_SHARED_MEMORY_CARVEOUT``.
    /// value : int
    ///     Bytes, or percent.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another attribute.
    ///
    /// Examples
    /// --------
    /// >>> func.set_attribute(PyGPU.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536)  # doctest: +SKIP
    fn set_attribute(&self, attribute: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = number::int32(value, "value")?;
        let setting = match number::int32(attribute, "attribute")? {
            8 => FunctionSetting::MaxDynamicSharedBytes(value),
            9 => FunctionSetting::PreferredCarveout(value),
            other => {
                return Err(PyValueError::new_err(format!(
                    "function_attribute {other} cannot be set: MAX_DYNAMIC_SHARED_SIZE_BYTES and \
                     PREFERRED_SHARED_MEMORY_CARVEOUT can"
                )));
            }
        };
        let function = self.kernel.get().function();
        Ok(attribute.py().without_gil(|| function.set(setting))?)
    }

    /// Sets what the first-level cache is rather used for.
    ///
    /// Parameters
    /// ----------
    /// fc : func_cache
    ///     For example ``func_cache.PREFER_SHARED``.
    ///
    /// Examples
    /// --------
    /// >>> func.set_cache_config(PyGPU.driver.func_cache.PREFER_L1)  # doctest: +SKIP
    fn set_cache_config(&self, fc: &Bound<'_, PyAny>) -> PyResult<()> {
        let setting = FunctionSetting::CachePreference(number::int32(fc, "fc")?);
        let function = self.kernel.get().function();
        Ok(fc.py().without_gil(|| function.set(setting))?)
    }

    /// Registers of a thread.
    #[getter]
    fn num_regs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "num_regs")
    }

    /// Bytes of static shared memory of a block.
    #[getter]
    fn shared_size_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "shared_size_bytes")
    }

    /// Bytes of local memory of a thread.
    #[getter]
    fn local_size_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "local_size_bytes")
    }

    /// Bytes of constant memory.
    #[getter]
    fn const_size_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "const_size_bytes")
    }

    /// Most threads of a block that it can be launched with.
    #[getter]
    fn max_threads_per_block<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "max_threads_per_block")
    }

    /// The version of PTX that it was compiled for, as 90 for 9.0.
    #[getter]
    fn ptx_version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "ptx_version")
    }

    /// The architecture that it was compiled for, as 90 for ``sm_90``.
    #[getter]
    fn binary_version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "binary_version")
    }

    /// Most bytes of dynamic shared memory that it can be launched with.
    #[getter]
    fn max_dynamic_shared_size_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "max_dynamic_shared_size_bytes")
    }

    /// Percentage of the first-level cache that is wanted as shared memory; -1 for the driver's choice.
    #[getter]
    fn preferred_shared_memory_carveout<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.attribute(py, "preferred_shared_memory_carveout")
    }
}
