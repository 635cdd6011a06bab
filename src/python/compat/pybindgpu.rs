//! Defines the attributes of PybindGPU's arrays. The Python package defines the pointer wrappers and status objects.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::finalization;
use crate::py_once::intern;

const STATUS: &str = "_last_status";

#[pymethods]
impl GpuArray {
    /// Do nothing: an array has device memory from the start.
    #[pyo3(signature = () -> "None")]
    fn allocate(&self) {}

    /// 1 if the elements are C-contiguous, else 0.
    #[getter]
    fn flag_c_contiguous(&self) -> i32 {
        self.layout().is_c_contiguous().into()
    }

    /// The device address as a pointer wrapper.
    #[getter]
    fn device_data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = py.import(intern!(py, "PyGPU._pybindgpu.pointer"))?;
        finalization::run_python(py, || module.call_method1(intern!(py, "device_pointer"), (slf,)))
    }

    /// The address of the host mirror as a pointer wrapper; null if the array has no host mirror yet.
    #[getter]
    fn host_data<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let arguments = (slf.getattr(intern!(py, "host_array"))?, slf.getattr(intern!(py, "dtype"))?);
        let module = py.import(intern!(py, "PyGPU._pybindgpu.pointer"))?;
        finalization::run_python(py, || module.call_method1(intern!(py, "host_pointer"), arguments))
    }

    /// Write one element, counted in memory order.
    ///
    /// An index out of range is ignored and reported in `last_status`.
    ///
    /// Parameters
    /// ----------
    /// idx : int
    ///     Index of the element in memory order.
    /// val : scalar
    ///     The new value.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.set_val(1, 4.0)
    /// >>> a.tolist()
    /// [0.0, 4.0, 0.0]
    #[pyo3(signature = (idx: "SupportsIndex", val: "Any") -> "None")]
    fn set_val<'py>(slf: &Bound<'py, Self>, idx: &Bound<'py, PyAny>, val: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = slf.py();
        slf.get().check_writable("set_val")?;
        let (pointer, size) = (slf.get().array(slf.py())?.address(), slf.get().layout().size());
        let arguments = (pointer, size, slf.getattr(intern!(py, "dtype"))?, idx, val);
        let module = py.import(intern!(py, "PyGPU._pybindgpu.device_array"))?;
        let status = finalization::run_python(py, || module.call_method1(intern!(py, "write_element"), arguments))?;
        slf.setattr(intern!(py, STATUS), status)
    }

    /// The status of the last call in PybindGPU's style; success before the first call.
    #[getter]
    fn last_status<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.getattr_opt(intern!(py, STATUS))? {
            Some(status) => Ok(status),
            None => py.import(intern!(py, "PyGPU._pybindgpu.status"))?.call_method1(intern!(py, "cudaError_t"), (0,)),
        }
    }

    #[setter]
    fn set_last_status(slf: &Bound<'_, Self>, status: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.setattr(intern!(slf.py(), STATUS), status)
    }
}
