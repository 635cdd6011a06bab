//! Defines the attribute `gpudata`, which PyCUDA programs use. Its value is the memory of an array as an object.

use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::memory_argument::MemoryArgument;
use crate::array::class::GpuArray;
use crate::array::memory_owner::MemoryOwner;
use crate::py_once::intern;
use crate::runtime::device_memory::DeviceAllocation;

#[pymethods]
impl GpuArray {
    /// Memory from element zero on as an object whose `int` is the address; None for an empty array.
    ///
    /// The object keeps the memory alive. Assigning another memory object makes the array refer to that memory. The
    /// array keeps its shape, strides and dtype, and existing views are not affected.
    #[getter]
    // stub: -> Any
    fn gpudata<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, gpu_array) = (slf.py(), slf.get());
        if gpu_array.layout().size() == 0 {
            return Ok(None);
        }
        if gpu_array.is_unallocated() {
            return Ok(Some(PyInt::new(py, 0).into_any()));
        }
        let cold_fields = gpu_array.cold_fields();
        let memory = match cold_fields.gpudata() {
            Some(memory) => memory,
            None => cold_fields.set_gpudata(memory_of(py, gpu_array)?),
        };
        Ok(Some(memory.bind(py).clone()))
    }
}

/// Returns the object that the array's allocator created; for other arrays creates an object for the array's memory.
#[cold]
fn memory_of(py: Python<'_>, gpu_array: &GpuArray) -> PyResult<Py<PyAny>> {
    let array = gpu_array.array(py)?;
    if gpu_array.base().is_none()
        && let Some((owner_box, _)) = array.owner()
        && let Some(owner) = owner_box.downcast_ref::<MemoryOwner>().filter(|owner| owner.is_arrays)
    {
        let memory = owner.object.object().bind(py);
        if is_memory_argument(memory)? && MemoryArgument::from_python(memory)?.address() == array.address() {
            return Ok(memory.clone().unbind());
        }
    }
    Ok(Py::new(py, DeviceAllocation::over(array.clone()))?.into_any())
}

/// Returns whether an object can be an array's `gpudata`. Such an object has an integer address, and is neither a
/// number nor an array.
pub(crate) fn is_memory_argument(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let is_plain = object.is_instance_of::<PyInt>() || object.hasattr(intern!(py, "dtype"))?;
    Ok(!is_plain && object.hasattr(intern!(py, "__index__"))?)
}
