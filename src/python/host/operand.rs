//! The host side of a copy, and the ndarray that owns its memory.

use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::callback::SendPyObject;
use crate::convert::ndarray;
use pygpu_array::Array;
use pygpu_base::error::Result;
use pygpu_copy::{self as copy, HostBuffer};
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::retired;

/// The memory of an ndarray as one side of a copy, and the ndarray, which keeps it.
pub(crate) struct HostOperand {
    side: HostBuffer,
    keeper: Option<Py<PyAny>>,
}

impl HostOperand {
    /// # Errors
    /// `ValueError` for a shape that no array has.
    pub(crate) fn new(array: Bound<'_, PyUntypedArray>, itemsize: usize) -> Result<Self> {
        Ok(Self::of(ndarray::side(&array, itemsize)?, array.into_any()))
    }

    /// Combines a side with the ndarray that has its memory.
    pub(super) fn of(side: HostBuffer, keeper: Bound<'_, PyAny>) -> Self {
        Self { side, keeper: Some(keeper.unbind()) }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.side.layout
    }

    /// Enqueues an upload, and waits for it or lets the stream keep the ndarray as long as it needs it.
    ///
    /// # Errors
    /// The driver's.
    pub(crate) fn upload(&mut self, target: &Array, stream: &Stream, wait: bool) -> Result<()> {
        self.copy(target, stream, wait, true)
    }

    /// Enqueues a download into an ndarray whose elements do not overlap; see [`Self::upload`].
    ///
    /// # Errors
    /// The driver's.
    pub(super) fn download(&mut self, source: &Array, stream: &Stream, wait: bool) -> Result<()> {
        self.copy(source, stream, wait, false)
    }

    fn copy(&mut self, array: &Array, stream: &Stream, wait: bool, to_device: bool) -> Result<()> {
        // SAFETY: the ndarray is held by `keeper`, by the stream if that uses it longer.
        unsafe {
            match (to_device, wait) {
                (true, true) => return copy::to_device_and_wait(array, &self.side, stream),
                (false, true) => return copy::to_host_and_wait(&self.side, array, stream),
                (true, false) => copy::to_device(array, &self.side, stream)?,
                (false, false) => copy::to_host(&self.side, array, stream)?,
            }
        }
        self.keep_pinned(stream)
    }

    /// Keeps a pinned ndarray alive until the stream has passed. Not needed for pageable memory, which a copy no longer
    /// uses after it returns.
    fn keep_pinned(&mut self, stream: &Stream) -> Result<()> {
        if copy::is_pinned(stream.device(), &self.side)?
            && let Some(keeper) = self.keeper.take()
        {
            retired::keep_until_passed(stream, Box::new(SendPyObject::new(keeper)))?;
        }
        Ok(())
    }
}
