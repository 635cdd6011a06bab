//! `GPUArray` over memory that the caller brings: an address, a callable that allocates, PybindGPU's `Allocator`.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::Arc;

use super::allocator::PyAllocator;
use super::array::GpuArray;
use super::device_memory::DeviceAllocation;
use super::gil::WithoutGil;
use super::shape::{self, OrderArgument};
use super::{creation, dtype};
use crate::array::Array;
use crate::backend::{Address, PointerKind};
use crate::device::Device;
use crate::dtype::DType;
use crate::layout::Layout;
use crate::memory::Allocation;
use crate::stream::{self, Stream};

/// The address that an object stands for: an int, `__int__`/`__index__`, or the attribute `ptr`.
pub(super) fn address_of(object: &Bound<'_, PyAny>) -> PyResult<Address> {
    let py = object.py();
    let number = match object.getattr_opt(intern!(py, "ptr"))? {
        Some(pointer) if !pointer.is_callable() => pointer,
        _ => object.clone(),
    };
    let refused = || PyTypeError::new_err(format!("{} stands for no address: give an int", object.get_type()));
    // `int()` would also read texts and cut floats off, and neither is an address.
    // SAFETY: a type check of a live object.
    let is_index = unsafe { ffi::PyIndex_Check(number.as_ptr()) } != 0;
    if !is_index && (!number.hasattr(intern!(py, "__int__"))? || number.hasattr(intern!(py, "__float__"))?) {
        return Err(refused());
    }
    let number = py.get_type::<pyo3::types::PyInt>().call1((number,)).map_err(|cause| {
        let error = refused();
        error.set_cause(py, Some(cause));
        error
    })?;
    number.extract().map_err(|_| PyValueError::new_err(format!("{number} is no address")))
}

/// The device whose memory is at an address that is to hold so many bytes.
///
/// # Errors
/// `ValueError` for address 0; the driver's.
pub(super) fn device_of(address: Address, nbytes: i64) -> PyResult<Device> {
    if address == 0 && nbytes > 0 {
        return Err(PyValueError::new_err(format!("address 0 cannot hold {nbytes} bytes")));
    }
    let device = Device::current()?;
    Ok(match device.backend().pointer_kind(address)? {
        PointerKind::Device(index) if !device.is_cpu() => Device::new(device.backend(), index)?,
        _ => device,
    })
}

/// An array over an address; `owner` is kept alive as long as the array.
fn over_address(py: Python<'_>, address: Address, layout: Layout, dtype: DType, owner: Py<PyAny>) -> PyResult<Array> {
    let device = device_of(address, layout.nbytes())?;
    let bytes = layout.nbytes() as usize;
    let stream = Stream::default_of(device);
    let allocation = py.without_gil(|| Allocation::lent(address, bytes, stream, Box::new(owner)));
    Ok(Array::over(Arc::new(allocation), layout, dtype, false)?)
}

/// PyCUDA's form: a shape, a dtype, existing memory, perhaps strides.
pub(super) fn from_address<'py>(
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
    let array = match gpudata.cast::<DeviceAllocation>() {
        // The block itself, with all that is known of its use.
        Ok(memory) => Array::over(memory.get().block()?, layout, dtype, false)?,
        Err(_) => {
            let owner = (gpudata, &base).into_pyobject(py)?.into_any().unbind();
            over_address(py, address_of(gpudata)?, layout, dtype, owner)?
        }
    };
    Ok(match base {
        Some(base) => GpuArray::with_base(array, base.unbind()),
        None => GpuArray::from_array(array),
    })
}

/// A new array with a dense layout in memory of an allocator.
pub(super) fn from_callable(
    allocator: &Bound<'_, PyAny>,
    layout: Layout,
    dtype: DType,
    device: Device,
) -> PyResult<Array> {
    let py = allocator.py();
    let allocator = PyAllocator::new(allocator)?;
    if layout.nbytes() == 0 {
        return creation::new_dense(py, layout, dtype, device);
    }
    let allocation =
        py.without_gil(|| Allocation::from_allocator(&allocator, layout.nbytes() as usize, &stream::current(device)))?;
    Ok(Array::over(Arc::new(allocation), layout, dtype, false)?)
}

/// PybindGPU's form: an object that describes memory. Read of it: `shape`, `dtype`, `strides` (None for C order),
/// `device_ptr` (None for memory of the array's own), `host_data` (an ndarray, or None), and `data`, whose memory is shared
/// with all that is known of its use if it is a `GPUArray`.
pub(super) fn from_allocator<'py>(
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
    let array = match (shared, optional("device_ptr")?) {
        (Some(shared), _) => shared.get().array().clone(),
        (None, Some(address)) => over_address(py, address_of(&address)?, layout, dtype, allocator.clone().unbind())?,
        (None, None) => creation::new_array(py, &shape, dtype, OrderArgument::c_or_f(order)?, Device::current()?)?,
    };
    Ok(match optional("host_data")? {
        Some(host) => GpuArray::with_host(array, host.unbind()),
        None => GpuArray::from_array(array),
    })
}
