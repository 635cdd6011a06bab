//! Defines the attributes of a device under CuPy's names. The functions of `PyGPU._cupy.cuda.device` compute their
//! values.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};

use crate::fusion;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::device::{PyDevice, make_current};
use pygpu_base::flush_points::FlushReason;

/// Calls a function of `PyGPU._cupy.cuda.device` with the device as its argument.
fn call<'py>(device: &Bound<'py, PyDevice>, function: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
    let py = device.py();
    py.import(intern!(py, "PyGPU._cupy.cuda.device"))?.call_method1(function, (device,))
}

#[pymethods]
impl PyDevice {
    /// Makes the device the calling thread's current one, as `make_current`, and returns it.
    ///
    /// Returns
    /// -------
    /// Device
    ///     The device itself.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For a device of another backend than the default backend.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.Device(0).use() == PyGPU.Device(0)
    /// True
    #[pyo3(name = "use", signature = () -> "Self")]
    fn use_device<'py>(slf: Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        fusion::flush_pending(slf.py(), FlushReason::StreamSync);
        let device = slf.get().device;
        slf.py().without_gil(|| make_current(device))?;
        Ok(slf)
    }

    /// Free and total memory in bytes: `memory_info()` under CuPy's name.
    #[getter]
    // stub: -> tuple[int, int]
    fn mem_info(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        self.memory_info(py)
    }

    /// Digits of the compute capability, for example ``'90'``; on HIP those of the architecture, on the CPU ``'70'``.
    #[getter]
    // stub: -> str
    fn compute_capability<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        Ok(call(slf, intern!(slf.py(), "compute_capability"))?.cast_into()?)
    }

    /// Attributes of the device that the driver supports, by CUDA's names without ``cudaDevAttr``.
    #[getter]
    // stub: -> dict[str, int]
    fn attributes<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        Ok(call(slf, intern!(slf.py(), "attributes"))?.cast_into()?)
    }

    /// Address on the PCI bus as ``'domain:bus:device.function'``.
    #[getter]
    // stub: -> str
    fn pci_bus_id<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        Ok(call(slf, intern!(slf.py(), "pci_bus_id"))?.cast_into()?)
    }

    /// Returns the device with an address on the PCI bus.
    ///
    /// Parameters
    /// ----------
    /// pci_bus_id : str
    ///     Address as ``'domain:bus:device.function'``.
    ///
    /// Returns
    /// -------
    /// Device
    ///
    /// Raises
    /// ------
    /// CudaError
    ///     With code 1 for another text, and with code 101 if no device has the address.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> device = PyGPU.Device(0)
    /// >>> PyGPU.Device.from_pci_bus_id(device.pci_bus_id) == device
    /// True
    #[classmethod]
    #[pyo3(signature = (pci_bus_id: "str") -> "Self")]
    fn from_pci_bus_id<'py>(
        _class: &Bound<'py, PyType>,
        pci_bus_id: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = pci_bus_id.py();
        let module = py.import(intern!(py, "PyGPU._cupy.cuda.device"))?;
        module.call_method1(intern!(py, "from_pci_bus_id"), (pci_bus_id,))
    }
}
