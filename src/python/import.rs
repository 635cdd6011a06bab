//! stub
use super::array::GpuArray;
use crate::array::Array;
use pyo3::prelude::*;
pub(super) fn device_array(value: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    Ok(value.cast::<GpuArray>().ok().map(|a| a.get().array().clone()))
}
