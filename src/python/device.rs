//! stub
use crate::device::Device;
use pyo3::prelude::*;
#[pyclass(frozen, name = "Device")]
pub(super) struct PyDevice(Device);
impl From<Device> for PyDevice {
    fn from(d: Device) -> Self {
        Self(d)
    }
}
pub(super) fn from_argument(_py: Python<'_>, _o: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    Ok(Device::current()?)
}
