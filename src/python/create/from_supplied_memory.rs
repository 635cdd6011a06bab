//! Creates a `GPUArray` over memory that the caller supplies: an address, a callable that allocates, or PybindGPU's
//! `Allocator`.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

use super::allocator::{self, PyAllocator};
use crate::array::class::{GpuArray, owner_of};
use crate::array::memory_owner::{InheritedAllocator, MemoryOwner};
use crate::callback::SendPyObject;
use crate::convert::dtype;
use crate::convert::shape::{self, OrderArgument};
use crate::gil::WithoutGil;
use crate::host_transfers::device_arrays;
use crate::host_transfers::transfer;
use crate::interop::gpudata::is_memory_argument;
use crate::interop::memory_argument::MemoryArgument;
use crate::runtime::device_memory::DeviceAllocation;
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_device::Device;
use pygpu_device::stream::{self, Stream};
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

/// Creates an array from a shape, a dtype, existing memory and optional strides (PyCUDA's form of the constructor).
pub(crate) fn from_address<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    gpudata: &Bound<'py, PyAny>,
    strides: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    base: Option<Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    let dtype = dtype::or_float64(dtype)?;
    let itemsize = dtype.itemsize() as i64;
    let shape = shape::from_python(shape)?;
    let layout = match strides {
        Some(strides) => Layout::strided(&shape, &shape::from_python(strides)?, 0, itemsize)?,
        None => Layout::contiguous(&shape, itemsize, OrderArgument::c_or_f(order)?)?,
    };
    match has_no_address(gpudata, &layout)? {
        true => new_unallocated(layout, dtype),
        false => over_address(py, gpudata, &layout, dtype, base, None),
    }
}

/// Creates the array over memory that was assigned to `gpudata`. The array keeps the allocator that was assigned to its
/// attribute `allocator` before.
pub(super) fn assigned<'py>(
    memory: &Bound<'py, PyAny>,
    layout: Layout,
    dtype: DType,
    allocator: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    match has_no_address(memory, &layout)? {
        true => new_unallocated(layout, dtype),
        false => over_address(memory.py(), memory, &layout, dtype, None, allocator),
    }
}

/// Converts an allocator to the form in which an array stores it. This form makes results of operations on the array
/// use the allocator.
///
/// # Errors
/// `TypeError` for an object that is not an allocator.
pub(super) fn to_inherited_allocator(allocator: &Bound<'_, PyAny>) -> PyResult<InheritedAllocator> {
    drop(PyAllocator::for_one_array(allocator)?);
    Ok(allocator::result_allocator(allocator))
}

/// Returns an array over the memory of `gpu_array`. Results of operations on the new array use the allocator
/// `inherited`.
pub(super) fn with_inherited_allocator(
    py: Python<'_>,
    gpu_array: &GpuArray,
    inherited: Option<InheritedAllocator>,
) -> PyResult<GpuArray> {
    let array = gpu_array.array(py)?;
    // The new array's owner `memory` contains a clone of `gpu_array`, which keeps the previous owner of the memory
    // alive.
    let memory = Py::new(py, DeviceAllocation::over(array.clone()))?.into_any();
    let memory_owner =
        MemoryOwner { object: SendPyObject::new(memory), is_arrays: gpu_array.owns_data(), allocator: inherited };
    let array = array.clone().with_owner(Box::new(memory_owner));
    let value = match gpu_array.base() {
        Some(base) => GpuArray::with_base(array, base.clone_ref(py)),
        None => GpuArray::from_array(array),
    };
    if let Some(memory) = gpu_array.cold_fields().gpudata() {
        value.cold_fields().set_gpudata(memory.clone_ref(py));
    }
    Ok(value)
}

/// Whether an array with elements would begin at address 0. PyCUDA's arrays have this address until their `gpudata` is
/// assigned.
fn has_no_address(memory: &Bound<'_, PyAny>, layout: &Layout) -> PyResult<bool> {
    Ok(layout.nbytes() > 0
        && !memory.is_instance_of::<GpuArray>()
        && MemoryArgument::from_python(memory)?.address() == 0)
}

/// Creates an array that has no memory until its `gpudata` is assigned.
fn new_unallocated(layout: Layout, dtype: DType) -> PyResult<GpuArray> {
    let stream = Stream::default_of(Device::current()?);
    // SAFETY: the memory is never accessed, because `GpuArray::array` refuses to return this array.
    let array = unsafe { Array::imported(0, layout, dtype, false, stream, None)? };
    let value = GpuArray::from_array(array);
    value.cold_fields().mark_unallocated();
    Ok(value)
}

/// Creates an array whose element zero is at an object's address. The object is kept alive while the memory is in use.
pub(super) fn over_address<'py>(
    py: Python<'py>,
    memory: &Bound<'py, PyAny>,
    layout: &Layout,
    dtype: DType,
    base: Option<Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    let owner = (owner_object(memory), &base).into_pyobject(py)?.into_any().unbind();
    let allocator = allocator.map(to_inherited_allocator).transpose()?;
    let memory_owner = MemoryOwner { object: SendPyObject::new(owner), is_arrays: false, allocator };
    let array = MemoryArgument::from_python(memory)?.array(
        py,
        layout.clone(),
        dtype,
        Stream::default_of,
        Some(memory_owner),
    )?;
    let value = match base {
        Some(base) => GpuArray::with_base(array, base.unbind()),
        None => GpuArray::from_array(array),
    };
    if is_memory_argument(memory)? {
        value.cold_fields().set_gpudata(memory.clone().unbind());
    }
    Ok(value)
}

/// Returns the object that keeps the memory alive. For a view, this is the array that owns the memory, so that no chain
/// of views is kept alive.
fn owner_object(memory: &Bound<'_, PyAny>) -> Py<PyAny> {
    memory.cast::<GpuArray>().map_or_else(|_| memory.clone().unbind(), owner_of)
}

/// Creates an array with a dense layout, in memory that `allocator` returns.
pub(crate) fn from_callable(
    allocator: &Bound<'_, PyAny>,
    layout: Layout,
    dtype: DType,
    device: Device,
) -> PyResult<Array> {
    allocate_with(&PyAllocator::for_one_array(allocator)?, allocator, layout, dtype, device)
}

/// Creates an array with a dense layout, in memory that the allocator `object` returns. If the allocator returns
/// address 0, which PyCUDA accepts too, the array has no memory until its `gpudata` is assigned.
pub(super) fn from_callable_or_null(
    object: &Bound<'_, PyAny>,
    layout: Layout,
    dtype: DType,
    device: Device,
) -> PyResult<GpuArray> {
    let allocator = PyAllocator::for_one_array(object)?;
    match allocate_with(&allocator, object, layout.clone(), dtype, device) {
        Err(_) if allocator.returned_null() => new_unallocated(layout, dtype),
        result => Ok(GpuArray::from_array(result?)),
    }
}

fn allocate_with(
    allocator: &PyAllocator,
    object: &Bound<'_, PyAny>,
    layout: Layout,
    dtype: DType,
    device: Device,
) -> PyResult<Array> {
    let py = object.py();
    if layout.nbytes() == 0 {
        return device_arrays::new_dense(py, layout, dtype, device);
    }
    let bytes = layout.nbytes() as usize;
    let allocation = py.without_gil(|| Allocation::from_allocator(allocator, bytes, &stream::current(device)))?;
    if let Some(memory) = allocator.take_tracked_memory() {
        // The array uses the tracked memory block itself, with its recorded uses, instead of a wrapper of the block.
        let argument = MemoryArgument::from_python(memory.bind(py))?;
        let allocator = Some(allocator::result_allocator(object));
        let memory_owner = MemoryOwner { object: SendPyObject::new(memory), is_arrays: true, allocator };
        let array = argument.array(py, layout, dtype, Stream::default_of, Some(memory_owner));
        py.without_gil(|| drop(allocation));
        return array;
    }
    Ok(Array::over(Arc::new(allocation), layout, dtype, false)?)
}

/// Creates an array from an object that describes memory (PybindGPU's form of the constructor).
///
/// The fields of the object are `shape`, `dtype`, `strides` (None for C order), `device_ptr` (None allocates memory),
/// `host_data` (an ndarray, or None), and `data`. If `data` is a `GPUArray`, its memory and tracked uses are shared.
pub(crate) fn from_allocator<'py>(
    py: Python<'py>,
    allocator: &Bound<'py, PyAny>,
    has_dtype: bool,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    if has_dtype {
        return Err(PyRuntimeError::new_err("allocator= brings its own shape and dtype: give neither"));
    }
    let required = |name: &str| {
        allocator.getattr(name).map_err(|_| {
            PyTypeError::new_err(format!(
                "allocator= alone takes an object that describes memory (`shape`, `dtype`, `device_ptr`), not {}",
                allocator.get_type()
            ))
        })
    };
    let optional = |name: &str| Ok::<_, PyErr>(allocator.getattr_opt(name)?.filter(|value| !value.is_none()));
    let (shape, dtype) = (shape::from_python(&required("shape")?)?, dtype::from_python(&required("dtype")?)?);
    let itemsize = dtype.itemsize() as i64;
    let layout = match optional("strides")? {
        Some(strides) => Layout::strided(&shape, &shape::from_python(&strides)?, 0, itemsize)?,
        None => Layout::contiguous(&shape, itemsize, OrderArgument::c_or_f(order)?)?,
    };
    let shared = optional("data")?.and_then(|data| data.cast_into::<GpuArray>().ok());
    let value = match (shared, optional("device_ptr")?) {
        (Some(shared), _) => over_address(py, shared.as_any(), &layout, dtype, None, None)?,
        (None, Some(address)) => over_address(py, &address, &layout, dtype, Some(allocator.clone()), None)?,
        (None, None) => {
            let order = OrderArgument::c_or_f(order)?;
            let array = device_arrays::new_array(py, &shape, dtype, order, Device::current()?)?;
            if let Some(host) = optional("host_data")? {
                // The values of the host mirror are uploaded immediately, because the new memory is uninitialized until
                // `to_device`.
                transfer::set_on(py, &array, &host, &stream::current(array.device()), true)?;
            }
            GpuArray::from_array(array)
        }
    };
    Ok(match optional("host_data")? {
        Some(host) => value.with_host_mirror(host.unbind()),
        None => value,
    })
}
