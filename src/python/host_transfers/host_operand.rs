//! Represents the host memory of a copy between host and device, with the ndarray that owns this memory.

use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::callback::SendPyObject;
use crate::convert::ndarray;
use pygpu_array::Array;
use pygpu_base::error::Result;
use pygpu_copy::{self as copy, HostBuffer};
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::retired_objects;

/// The memory of an ndarray as source or target of a copy. The operand keeps the ndarray alive.
pub(crate) struct HostOperand {
    buffer: HostBuffer,
    owner: Option<Py<PyAny>>,
}

impl HostOperand {
    /// Creates an operand over the memory of an ndarray.
    ///
    /// # Errors
    /// `ValueError` for a shape that no array has.
    pub(crate) fn new(array: Bound<'_, PyUntypedArray>, itemsize: usize) -> Result<Self> {
        Ok(Self::from_buffer(ndarray::host_buffer(&array, itemsize)?, array.into_any()))
    }

    /// Creates an operand from a buffer, i.e. an address with a layout, and the ndarray that owns the buffer's memory.
    pub(super) fn from_buffer(buffer: HostBuffer, owner: Bound<'_, PyAny>) -> Self {
        Self { buffer, owner: Some(owner.unbind()) }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.buffer.layout
    }

    /// Enqueues an upload. If `wait` is true, the call waits for the copy; otherwise the stream keeps a pinned ndarray
    /// alive until the copy is complete.
    ///
    /// # Errors
    /// Driver errors.
    pub(crate) fn upload(&mut self, target: &Array, stream: &Stream, wait: bool) -> Result<()> {
        self.copy(target, stream, wait, true)
    }

    /// Enqueues a download into an ndarray whose elements do not overlap. `wait` has the same effect as in
    /// [`Self::upload`].
    ///
    /// # Errors
    /// Driver errors.
    pub(super) fn download(&mut self, source: &Array, stream: &Stream, wait: bool) -> Result<()> {
        self.copy(source, stream, wait, false)
    }

    fn copy(&mut self, array: &Array, stream: &Stream, wait: bool, to_device: bool) -> Result<()> {
        // SAFETY: `owner` keeps the ndarray alive. If the stream uses the ndarray longer, `retain_pinned` transfers the
        // owner to the stream.
        unsafe {
            match (to_device, wait) {
                (true, true) => return copy::to_device_and_wait(array, &self.buffer, stream),
                (false, true) => return copy::to_host_and_wait(&self.buffer, array, stream),
                (true, false) => copy::to_device(array, &self.buffer, stream)?,
                (false, false) => copy::to_host(&self.buffer, array, stream)?,
            }
        }
        self.retain_pinned(stream)
    }

    /// Keeps a pinned ndarray alive until the stream has completed the copy. An ndarray in pageable memory need not be
    /// kept alive, because the copy no longer uses that memory after the call returns.
    fn retain_pinned(&mut self, stream: &Stream) -> Result<()> {
        if copy::is_pinned(stream.device(), &self.buffer)?
            && let Some(owner) = self.owner.take()
        {
            retired_objects::keep_until_passed(stream, Box::new(SendPyObject::new(owner)))?;
        }
        Ok(())
    }
}
