//! Defines the guard that makes the stream of an argument `stream=` the thread's current stream during a call.

use pyo3::prelude::*;

use super::stream as stream_argument;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};

/// Guard that makes a stream the thread's current stream until the guard is dropped. A guard without a stream has no
/// effect.
pub(crate) struct CurrentStreamGuard(Option<Stream>);

impl CurrentStreamGuard {
    /// Makes the stream of an argument `stream=` current; `None` keeps the current stream.
    ///
    /// # Errors
    /// `TypeError` for an object that is not a stream; `ValueError` for a stream of another device.
    pub(crate) fn from_argument(py: Python<'_>, device: Device, argument: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(object) = argument.filter(|object| !object.is_none()) else { return Ok(Self(None)) };
        let stream = stream_argument::from_argument(py, Some(object), device)?;
        stream::push_current(stream.clone());
        Ok(Self(Some(stream)))
    }
}

impl Drop for CurrentStreamGuard {
    fn drop(&mut self) {
        if let Some(stream) = &self.0 {
            stream::pop_current(stream);
        }
    }
}
