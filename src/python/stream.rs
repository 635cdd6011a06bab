//! stub
use crate::device::Device;
use crate::stream::{self, Stream};
use pyo3::prelude::*;
pub(super) fn from_argument(_py: Python<'_>, _o: Option<&Bound<'_, PyAny>>, d: Device) -> PyResult<Stream> {
    Ok(stream::current(d))
}
