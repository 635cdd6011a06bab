//! Reads the addresses of objects of other libraries, and calls PyCUDA's argument handlers.

use numpy::PyUntypedArray;
use pyo3::prelude::*;

use crate::ffi::numbers;
use crate::interop::memory_argument::MemoryArgument;
use crate::py_once::intern;
use crate::runtime::stream::PyStream;
use pygpu_backend::StreamHandle;
use pygpu_device::stream::Stream;

/// An object with PyCUDA's interface `ArgumentHandler`. The handler allocates memory for a launch, and has hooks before
/// and after the launch.
pub(super) struct HolderHandler<'py>(Bound<'py, PyAny>);

impl<'py> HolderHandler<'py> {
    /// Wraps an object that has PyCUDA's handler interface. Returns the wrapper and the memory that the object
    /// allocated. Returns `None` for objects without this interface.
    pub(super) fn from_python(value: &Bound<'py, PyAny>) -> PyResult<Option<(Self, MemoryArgument)>> {
        let Some(get_device_alloc) = value.getattr_opt(intern!(value.py(), "get_device_alloc"))? else {
            return Ok(None);
        };
        Ok(Some((Self(value.clone()), MemoryArgument::from_python(&get_device_alloc.call0()?)?)))
    }

    /// Calls the handler's method `pre_call` before the launch, with the stream of the launch as its argument.
    pub(super) fn enter(&self, stream: &Bound<'py, PyAny>) -> PyResult<()> {
        self.0.call_method1(intern!(self.0.py(), "pre_call"), (stream,)).map(drop)
    }

    /// Calls the handler's method `post_call` after the launch, with the stream of the launch as its argument.
    pub(super) fn leave(&self, stream: &Bound<'py, PyAny>) -> PyResult<()> {
        self.0.call_method1(intern!(self.0.py(), "post_call"), (stream,)).map(drop)
    }
}

/// Returns the Python object for a stream that the hooks of handlers receive. As in PyCUDA, the hooks receive Python's
/// None for the default stream.
pub(super) fn stream_or_none<'py>(py: Python<'py>, stream: &Stream) -> PyResult<Bound<'py, PyAny>> {
    match stream.handle() == StreamHandle::DEFAULT {
        true => Ok(py.None().into_bound(py)),
        false => Ok(Bound::new(py, PyStream::from(stream.clone()))?.into_any()),
    }
}

/// Returns the memory of an object of another library from the object's attribute `gpudata` or `ptr`, or from the
/// object itself if it can be converted to an int; `None` for other objects.
pub(super) fn foreign_pointer(value: &Bound<'_, PyAny>) -> PyResult<Option<MemoryArgument>> {
    let py = value.py();
    if let Some(memory) = value.getattr_opt(intern!(py, "gpudata"))? {
        return if memory.is_none() {
            MemoryArgument::from_address(0).map(Some)
        } else {
            MemoryArgument::from_python(&memory).map(Some)
        };
    }
    let has_pointer = value.getattr_opt(intern!(py, "ptr"))?.is_some_and(|pointer| !pointer.is_callable());
    let is_number = numbers::is_index(value) || value.hasattr(intern!(py, "__int__"))?;
    if has_pointer || is_number { MemoryArgument::from_python(value).map(Some) } else { Ok(None) }
}

/// Returns the device address of an ndarray in managed memory; `None` for other ndarrays.
pub(super) fn managed_pointer(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<usize>> {
    let py = array.py();
    let function =
        py.import(intern!(py, "PyGPU._pycuda.driver.host_allocations"))?.getattr(intern!(py, "managed_pointer"))?;
    function.call1((array,))?.extract()
}
