//! Defines the attribute `_as_parameter_`, which converts arrays, memory, streams and events to arguments of `ctypes`
//! functions.
//!
//! An array becomes a pointer to its element type. `ctypes` accepts this pointer for `c_void_p` parameters, and rejects
//! this pointer for parameters that are pointers to other types.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::convert::pointer::{typed_pointer, void_pointer};
use crate::fusion;
use crate::host_transfers::pinned::PinnedMemory;
use crate::runtime::device_memory::DeviceAllocation;
use crate::runtime::event::PyEvent;
use crate::runtime::stream::PyStream;
use pygpu_backend::Address;
use pygpu_base::flush_points::FlushReason;

#[pymethods]
impl GpuArray {
    /// Returns the address of element zero, like torch's tensors: Triton accepts objects with this method and a
    /// `dtype`.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> a = PyGPU.zeros(3)
    /// >>> a.data_ptr() == a.ptr
    /// True
    #[pyo3(signature = () -> "int")]
    fn data_ptr(&self, py: Python<'_>) -> PyResult<Address> {
        self.escaping_address(py)
    }

    /// Pointer to element zero for a function of `ctypes`, with the element type if C has it.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let address = self.escaping_address(py)?;
        self.cold_fields().parameter.get(py, address, |address| typed_pointer(py, self.dtype().kind(), address))
    }
}

#[pymethods]
impl DeviceAllocation {
    /// Address for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parameter.get(py, self.escaping_address()?, |address| void_pointer(py, address))
    }
}

#[pymethods]
impl PinnedMemory {
    /// Address for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parameter.get(py, self.address(), |address| void_pointer(py, address))
    }
}

#[pymethods]
impl PyStream {
    /// Driver handle for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // The stream's pending operations are launched before the handle is returned, because the C function may wait
        // for the stream.
        fusion::flush_pending(py, FlushReason::StreamSync);
        void_pointer(py, self.stream()?.handle().0)
    }
}

#[pymethods]
impl PyEvent {
    /// Driver handle for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        fusion::flush_pending(py, FlushReason::StreamSync);
        void_pointer(py, self.raw_handle()?)
    }
}
