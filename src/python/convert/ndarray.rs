//! Queries ndarrays: address, reference count and flags. Converts other objects to ndarrays.

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyDict;

use super::{dtype, strict_mode};
use crate::ffi::ndarray as ffi;
pub(crate) use crate::ffi::ndarray::{address, is_writable, owns_memory};
use crate::ffi::objects;
use crate::py_once::{PyOnce, intern};
use pygpu_backend::Address;
use pygpu_base::dtype::DType;
use pygpu_base::error::Result;
use pygpu_copy::HostBuffer;
use pygpu_layout::{Axis, Dims, Layout};

/// Makes rust-numpy look up NumPy's functions during the import of the module, when no thread forks. A later lookup
/// would hold locks of pyo3, and a child that is forked meanwhile would wait for these locks forever: see `py_once`.
pub(crate) fn prepare(py: Python<'_>) {
    let _ = PyArrayDescrMethods::itemsize(&numpy::dtype::<u8>(py));
    let _ = PyUntypedArray::type_object(py);
}

/// Returns the `numpy` module.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static NUMPY: PyOnce<Py<PyAny>> = PyOnce::new();
    Ok(NUMPY.get_or_try_init(py, || py.import("numpy").map(|module| module.into_any().unbind()))?.bind(py))
}

/// Calls `numpy.asarray(object)`, optionally with a dtype, for an argument of a PyGPU function.
pub(crate) fn as_ndarray<'py>(
    object: &Bound<'py, PyAny>,
    dtype: Option<DType>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = object.py();
    if let Ok(array) = object.cast::<PyUntypedArray>()
        && dtype.is_none()
    {
        return Ok(array.clone());
    }
    let arguments = PyDict::new(py);
    if let Some(dtype) = dtype {
        arguments.set_item(intern!(py, "dtype"), dtype::to_python(py, dtype)?)?;
    }
    let convert = numpy(py)?.getattr(intern!(py, "asarray"))?;
    let array = strict_mode::without_host_arrays(|| convert.call((object,), Some(&arguments)))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// Returns whether only the caller refers to the ndarray, i.e. whether the ndarray's memory may be reused. `references`
/// is the number of references that the caller holds.
pub(crate) fn is_unshared(array: &Bound<'_, PyUntypedArray>, references: isize) -> bool {
    objects::references(array) <= references && owns_memory(array) && is_writable(array) && has_gil(array.py())
}

/// Returns whether the interpreter was built with a GIL. In an interpreter without a GIL, this thread may read outdated
/// reference counts of objects that other threads use.
pub(crate) fn has_gil(py: Python<'_>) -> bool {
    static HAS_GIL: PyOnce<bool> = PyOnce::new();
    let check = || -> PyResult<bool> {
        let flags = py.import("sys")?.getattr_opt("abiflags")?.map(|flags| flags.extract::<String>()).transpose()?;
        Ok(!flags.unwrap_or_default().contains('t'))
    };
    *HAS_GIL.get_or_init(py, || check().unwrap_or(false))
}

/// Returns an ndarray's memory as source or target of a copy.
///
/// # Errors
/// `ValueError` for an invalid shape.
pub(crate) fn host_buffer(array: &Bound<'_, PyUntypedArray>, itemsize: usize) -> Result<HostBuffer> {
    let axes = array.shape().iter().zip(array.strides());
    let axes = axes.map(|(&len, &stride)| Axis { len: len as i64, stride: stride as i64 });
    Ok(HostBuffer { address: address(array), layout: Layout::over_axes(axes, 0, itemsize as i64)? })
}

/// Returns an address that NumPy can read: `address`, or the address of a placeholder if `address` is 0 or the array
/// has no elements. For address 0, NumPy would allocate memory. `numpy.copyto` reads a byte at the address even if the
/// array has no elements. The memory of such an array may be missing, or its address may be the end of a memory block.
#[inline]
fn readable_address(address: Address, shape: &Dims) -> Address {
    static PLACEHOLDER: u128 = 0;
    if address == 0 || shape.contains(&0) { std::ptr::from_ref(&PLACEHOLDER).addr() as Address } else { address }
}

/// Creates an ndarray over memory that outlives the ndarray, for internal computations with NumPy. The ndarray has no
/// `base`, and the strides of its axes of length 1 need not be those of a contiguous array.
///
/// # Errors
/// Errors of NumPy.
pub(crate) fn over_borrowed<'py>(
    py: Python<'py>,
    address: Address,
    layout: &Layout,
    descr: Bound<'py, PyAny>,
    is_writable: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let (mut shape, mut strides) = (Dims::new(), Dims::new());
    for len in layout.shape() {
        shape.push(len); // `push` is inlined, unlike `extend`
    }
    if !layout.is_c_contiguous() {
        add_strides(layout, &mut strides);
    }
    let address = readable_address(address, &shape);
    // The strides of a contiguous array are omitted, because NumPy then skips its analysis of the layout.
    let strides = (!strides.is_empty()).then_some(&mut strides);
    // SAFETY: the caller guarantees that all elements are inside the memory, and keeps the memory alive.
    unsafe { ffi::over(py, address, &mut shape, strides, descr, is_writable) }
}

#[inline(never)] // keeps the strides, which most arrays do not need, out of the inlined `over_borrowed`
fn add_strides(layout: &Layout, strides: &mut Dims) {
    strides.extend(layout.strides());
}

/// Creates an ndarray over memory that `owner` keeps alive. `owner` becomes the ndarray's `base`.
///
/// # Errors
/// Errors of NumPy.
pub(crate) fn over_memory<'py>(
    py: Python<'py>,
    address: Address,
    layout: &Layout,
    descr: Bound<'py, PyAny>,
    is_writable: bool,
    owner: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let mut shape: Dims = layout.shape().collect();
    let mut strides: Dims = layout.strides().collect();
    let address = readable_address(address, &shape);
    // SAFETY: the caller guarantees that all elements are inside the memory, which `owner` keeps alive.
    let array = unsafe { ffi::over(py, address, &mut shape, Some(&mut strides), descr, is_writable)? };
    ffi::set_base(&array, owner)?;
    Ok(array)
}
