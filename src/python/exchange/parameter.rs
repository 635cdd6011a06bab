//! `_as_parameter_`: what functions of `ctypes` take for arrays, memory, streams and events.
//!
//! An array gives a pointer to its own type, which `c_void_p` takes too, and a pointer to any other type refuses.

use pyo3::prelude::*;

use crate::array::class::GpuArray;
use crate::convert::pointer::{typed_pointer, void_pointer};
use crate::deferral;
use crate::host::pinned::PinnedMemory;
use crate::runtime::device_memory::DeviceAllocation;
use crate::runtime::event::PyEvent;
use crate::runtime::stream::PyStream;
use pygpu_backend::Address;
use pygpu_base::flush::Cause;

#[pymethods]
impl GpuArray {
    /// The address of element zero, as torch's tensors give it: Triton takes whatever has this and a `dtype`.
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
        self.given_out_address(py)
    }

    /// A pointer to element zero for a function of `ctypes`, of the type of the elements where C has that.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let address = self.given_out_address(py)?;
        self.rare().parameter.get(py, address, |address| typed_pointer(py, self.dtype().kind(), address))
    }
}

#[pymethods]
impl DeviceAllocation {
    /// The address for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parameter.get(py, self.given_out_address()?, |address| void_pointer(py, address))
    }
}

#[pymethods]
impl PinnedMemory {
    /// The address for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.parameter.get(py, self.address(), |address| void_pointer(py, address))
    }
}

#[pymethods]
impl PyStream {
    /// The driver's handle for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        deferral::close(py, Cause::Order); // as for its number
        void_pointer(py, self.stream()?.handle().0)
    }
}

#[pymethods]
impl PyEvent {
    /// The driver's handle for a function of `ctypes`.
    #[getter]
    fn _as_parameter_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        deferral::close(py, Cause::Order);
        void_pointer(py, self.raw_handle()?)
    }
}
