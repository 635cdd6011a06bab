//! Creates new arrays that are modelled on another array: `empty_like`, `zeros_like`, `ones_like`, `full_like`.

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use super::filled::fill_zeros;
use crate::array::allocator_inheritance;
use crate::array::class::{GpuArray, new_exact, new_like};
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::shape::{self, OrderArgument};
use crate::exported_names::names;
use crate::host_transfers::device_arrays::new_dense;
use crate::runtime::device as device_argument;
use crate::views::copyto;
use pygpu_base::dtype::DType;
use pygpu_device::Device;
use pygpu_layout::{Dims, Layout, MemoryOrder};

/// Properties of the array that a `*_like` function creates. `prototype` is the function's argument `other` if `other`
/// is a `GPUArray`, else `None`.
struct LikePrototype<'py> {
    prototype: Option<Bound<'py, GpuArray>>,
    layout: Layout,
    dtype: DType,
    device: Device,
}

/// Returns the properties of a new array that is modelled on `other`: a `GPUArray`, or any array-like of NumPy.
fn like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<LikePrototype<'py>> {
    let (prototype, source, source_dtype, source_device) = match other.cast::<GpuArray>() {
        Ok(array) => {
            let inner = array.get().without_flush()?;
            (Some(array.clone()), inner.layout().clone(), inner.dtype(), inner.device())
        }
        Err(_) => {
            let array = ndarray::as_ndarray(other, None)?;
            let dtype = dtype::from_numpy(array.dtype().as_any())?;
            (None, ndarray::host_buffer(&array, dtype.itemsize())?.layout, dtype, Device::current()?)
        }
    };
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => dtype::from_python(dtype)?,
        None => source_dtype,
    };
    let device = match device.filter(|device| !device.is_none()) {
        Some(_) => device_argument::from_argument(py, device)?,
        None => source_device,
    };
    let order = match order.filter(|order| !order.is_none()) {
        Some(order) => OrderArgument::from_python(order)?,
        None => OrderArgument::K,
    };
    let layout = like_layout(&source, dtype.itemsize() as i64, order, shape)?;
    Ok(LikePrototype { prototype, layout, dtype, device })
}

pub(super) fn like_layout(
    source: &Layout,
    itemsize: i64,
    order: OrderArgument,
    shape: Option<&Bound<'_, PyAny>>,
) -> PyResult<Layout> {
    let source_shape: Dims = source.shape().collect();
    let shape = match shape.filter(|shape| !shape.is_none()) {
        Some(shape) => shape::from_python(shape)?,
        None => source_shape.clone(),
    };
    let fortran = source.is_f_contiguous() && !source.is_c_contiguous();
    let contiguous = |order| Layout::contiguous(&shape, itemsize, order);
    Ok(match order {
        OrderArgument::C => contiguous(MemoryOrder::C)?,
        OrderArgument::F => contiguous(MemoryOrder::F)?,
        // As in NumPy: if the number of axes differs, the order of `source` cannot be kept.
        OrderArgument::K if shape.len() != source_shape.len() => contiguous(MemoryOrder::C)?,
        OrderArgument::A | OrderArgument::K if fortran => contiguous(MemoryOrder::F)?,
        OrderArgument::A => contiguous(MemoryOrder::C)?,
        OrderArgument::K if shape == source_shape => source.with_itemsize(itemsize)?,
        OrderArgument::K if source.is_c_contiguous() => contiguous(MemoryOrder::C)?,
        OrderArgument::K => {
            let strides: Dims = source.strides().collect();
            Layout::strided(&shape, &strides, 0, itemsize)?.dense_like()
        }
    })
}

fn new_from_like<'py>(py: Python<'py>, like: LikePrototype<'py>) -> PyResult<Bound<'py, GpuArray>> {
    let source = like.prototype.as_ref().map(|other| other.get().without_flush()).transpose()?;
    let _inherited = allocator_inheritance::inherit(py, source.into_iter())?;
    let array = new_dense(py, like.layout, like.dtype, like.device)?;
    match &like.prototype {
        Some(other) => new_like(other, GpuArray::from_array(array)),
        None => new_exact(py, GpuArray::from_array(array)),
    }
}

fn new_zeros_like<'py>(py: Python<'py>, like: LikePrototype<'py>) -> PyResult<Bound<'py, GpuArray>> {
    let result = new_from_like(py, like)?;
    fill_zeros(py, result.get().array(py)?)?;
    Ok(result)
}

fn new_ones_like<'py>(py: Python<'py>, like: LikePrototype<'py>) -> PyResult<Bound<'py, GpuArray>> {
    new_filled_like(py, like, &1i64.into_pyobject(py)?.into_any())
}

fn new_filled_like<'py>(
    py: Python<'py>,
    like: LikePrototype<'py>,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, GpuArray>> {
    let result = new_from_like(py, like)?;
    copyto::assign_unsafe(py, result.get().array(result.py())?, value)?;
    Ok(result)
}

/// Defines `*_like` functions. An entry has the documentation, the name, and the function that creates the array.
macro_rules! arrays_like {
    ($($(#[$documentation:meta])* $name:ident => $make:path;)*) => {
        $(
            $(#[$documentation])*
            #[pyfunction]
            #[pyo3(signature = (other: "GPUArray | ArrayLike", dtype: "DTypeLike | None" = None, order: "OrderACFK" = None, *,
                                shape: "ShapeLike | None" = None, device: "DeviceLike" = None) -> "GPUArray")]
            pub(crate) fn $name<'py>(
                py: Python<'py>,
                other: &Bound<'py, PyAny>,
                dtype: Option<&Bound<'py, PyAny>>,
                order: Option<&Bound<'py, PyAny>>,
                shape: Option<&Bound<'py, PyAny>>,
                device: Option<&Bound<'py, PyAny>>,
            ) -> PyResult<Bound<'py, GpuArray>> {
                $make(py, like(py, other, dtype, order, shape, device)?)
            }
        )*
    };
}

arrays_like! {
    /// Create an uninitialized array with the shape, dtype, device and order of another.
    ///
    /// Parameters
    /// ----------
    /// other : GPUArray or array_like
    /// dtype : data-type, optional
    ///     Type of the elements; that of `other` by default.
    /// order : {'C', 'F', 'A', 'K'}, optional
    ///     Memory order of the result; 'K', the default, keeps the order of the axes in memory.
    /// shape : int or sequence of int, optional
    ///     The lengths of the axes; those of `other` by default.
    /// device : Device, str or int, optional
    ///     Device of the result. The default is the device of `other`, or the current device if `other` is not a
    ///     GPUArray.
    ///
    /// Returns
    /// -------
    /// GPUArray
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.empty_like(PyGPU.empty((2, 3), order='F')).strides
    /// (8, 16)
    empty_like => new_from_like;
    /// Create an array of zeros with the shape, dtype, device and order of another; parameters as in `empty_like`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.zeros_like(PyGPU.arange(3)).tolist()
    /// [0, 0, 0]
    zeros_like => new_zeros_like;
    /// Create an array of ones with the shape, dtype, device and order of another; parameters as in `empty_like`.
    ///
    /// Examples
    /// --------
    /// >>> import PyGPU
    /// >>> PyGPU.ones_like(PyGPU.arange(3)).tolist()
    /// [1, 1, 1]
    ones_like => new_ones_like;
}

/// Create an array filled with one value, with the shape, dtype, device and order of another.
///
/// Parameters
/// ----------
/// other : GPUArray or array_like
/// fill_value : scalar or array_like
///     Value of the elements, converted to the dtype as in NumPy.
/// dtype, order, shape, device : optional
///     As in `empty_like`.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.full_like(PyGPU.arange(3), 9).tolist()
/// [9, 9, 9]
#[pyfunction]
#[pyo3(signature = (other: "GPUArray | ArrayLike", fill_value: "Any", dtype: "DTypeLike | None" = None, order: "OrderACFK" = None,
                    *, shape: "ShapeLike | None" = None, device: "DeviceLike" = None) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn full_like<'py>(
    py: Python<'py>,
    other: &Bound<'py, PyAny>,
    fill_value: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    new_filled_like(py, like(py, other, dtype, order, shape, device)?, fill_value)
}

names! {
    functions "Making arrays": empty_like, full_like, ones_like, zeros_like;
}
