//! Creates new arrays of a given shape: `empty`, `zeros`, `ones`, `full`.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::from_supplied_memory;
use crate::array::class::{ArrayResult, GpuArray, new_exact, new_on};
use crate::convert::OptionalArg;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::shape::{self, OrderArgument};
use crate::exported_names::names;
use crate::finalization;
use crate::gil::WithoutGil;
use crate::host_transfers::device_arrays::{new_array, new_block, new_dense};
use crate::host_transfers::transfer;
use crate::interop::import;
use crate::py_once::intern;
use crate::runtime::device as device_argument;
use crate::views::{copyto, element_encoding};
use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream;
use pygpu_layout::{Dense, Dims, Layout, MemoryOrder};

/// Distinguishes the arguments `order` and `allocator` by their types, because the third argument is the order in NumPy
/// and the allocator in PyCUDA.
#[inline]
pub(super) fn order_and_allocator<'a, 'py>(
    order: Option<&'a Bound<'py, PyAny>>,
    allocator: Option<&'a Bound<'py, PyAny>>,
) -> (Option<&'a Bound<'py, PyAny>>, Option<&'a Bound<'py, PyAny>>) {
    let is_str = |argument: Option<&Bound<'py, PyAny>>| argument.is_some_and(|a| a.is_instance_of::<PyString>());
    match (order, allocator) {
        (None, None) => (None, None),
        _ if is_str(allocator) => (allocator, order),
        (Some(first), _) if !is_str(order) && first.is_callable() => (allocator, order),
        _ => (order, allocator),
    }
}

/// Allocates an array of a shape, from `allocator` if present, otherwise from the pool.
pub(super) fn new_of_shape<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    allocator: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<GpuArray> {
    let order = OrderArgument::c_or_f(order)?;
    let dtype = dtype::or_float64(dtype)?;
    let shape = shape::from_python(shape)?;
    let device = Device::current()?;
    match allocator {
        Some(allocator) => {
            let layout = Layout::contiguous(&shape, dtype.itemsize() as i64, order)?;
            from_supplied_memory::from_callable_or_null(allocator, layout, dtype, device)
        }
        None => Ok(GpuArray::from_array(new_array(py, &shape, dtype, order, device)?)),
    }
}

/// Allocates a new array from `allocator` if present, otherwise with [`new_array`].
fn allocate_array(
    py: Python<'_>,
    allocator: Option<&Bound<'_, PyAny>>,
    shape: &[i64],
    dtype: DType,
    order: MemoryOrder,
    device: Device,
) -> PyResult<Array> {
    match allocator.filter(|allocator| !allocator.is_none()) {
        Some(allocator) => {
            let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
            from_supplied_memory::from_callable(allocator, layout, dtype, device)
        }
        None => new_array(py, shape, dtype, order, device),
    }
}

/// Creates an array from an ndarray, which becomes the host mirror (PybindGPU's form of the constructor). The values
/// are uploaded immediately, because the array would otherwise contain uninitialized memory until `to_device`.
pub(super) fn over_ndarray(py: Python<'_>, data: &Bound<'_, PyUntypedArray>, copy: bool) -> PyResult<GpuArray> {
    let dtype = dtype::from_numpy(data.dtype().as_any())?;
    let layout = ndarray::host_buffer(data, dtype.itemsize())?.layout.dense_like();
    let array = new_dense(py, layout, dtype, Device::current()?)?;
    let mirror = if copy { data.call_method0(intern!(py, "copy"))? } else { data.clone().into_any() };
    transfer::set_on(py, &array, &mirror, &stream::current(array.device()), true)?;
    Ok(GpuArray::from_array(array).with_host_mirror(mirror.unbind()))
}

#[inline(always)] // inlined, because it only tests for `None`
pub(crate) fn target_device(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    match device {
        None => Ok(Device::current()?),
        Some(_) => device_argument::from_argument(py, device),
    }
}

/// The arguments of the functions that create an array of a shape.
struct CreationOptions<'a, 'py> {
    shape: &'a Bound<'py, PyAny>,
    dtype: OptionalArg<'a, 'py>,
    order: OptionalArg<'a, 'py>,
    allocator: OptionalArg<'a, 'py>,
    device: OptionalArg<'a, 'py>,
    shared: bool,
}

impl<'py> CreationOptions<'_, 'py> {
    /// Creates an array in separate memory that other processes can open.
    #[cold]
    fn new_shared(&self, py: Python<'py>) -> ArrayResult<'py> {
        let (order, allocator) = order_and_allocator(self.order, self.allocator);
        if allocator.is_some_and(|allocator| !allocator.is_none()) {
            return Err(PyTypeError::new_err(
                "shared=True is memory that PyGPU asks the driver for: give no allocator",
            ));
        }
        let result = finalization::run_python(py, || {
            py.import(intern!(py, "PyGPU._shared_arrays.arrays"))?
                .call_method1(intern!(py, "new_array"), (self.shape, self.dtype, order, self.device))
        })?;
        Ok(result.cast_into()?)
    }

    /// Allocates an array without initialization.
    #[inline]
    fn empty(&self, py: Python<'py>) -> ArrayResult<'py> {
        if self.shared {
            return self.new_shared(py);
        }
        let mut lengths = Dims::new();
        shape::read(&mut lengths, self.shape)?;
        let dtype = dtype::or_float64(self.dtype)?;
        let (order, allocator) = order_and_allocator(self.order, self.allocator);
        let order = OrderArgument::c_or_f(order)?;
        let device = target_device(py, self.device)?;
        if allocator.is_some() {
            let array = allocate_array(py, allocator, &lengths, dtype, order, device)?;
            return new_exact(py, GpuArray::from_array(array));
        }
        let itemsize = dtype.itemsize() as i64;
        let dense = Dense::of(&lengths, itemsize)?;
        new_on(py, new_block(py, dense.bytes(), device)?, dtype, |layout| {
            layout.set_dense(dense, order);
            Ok(())
        })
    }

    fn zeros(&self, py: Python<'py>) -> ArrayResult<'py> {
        let result = self.empty(py)?;
        fill_zeros(py, result.get().array(py)?)?;
        Ok(result)
    }

    fn ones(&self, py: Python<'py>) -> ArrayResult<'py> {
        let result = self.empty(py)?;
        let array = result.get().array(py)?;
        let item = element_encoding::item_bytes(py, array, &1i64.into_pyobject(py)?.into_any())?;
        py.without_gil(|| copy::fill(array, &item, &stream::current(array.device())))?;
        Ok(result)
    }
}

/// Fills a new array with zeros.
pub(crate) fn fill_zeros(py: Python<'_>, array: &Array) -> PyResult<()> {
    let item = vec![0; array.dtype().itemsize()];
    Ok(py.without_gil(|| copy::fill(array, &item, &stream::current(array.device())))?)
}

/// Expands to the documentation of one parameter of the creation functions, such as `shape`.
macro_rules! parameter {
    (shape) => { "shape : int or sequence of int\n    The lengths of the axes." };
    (dtype) => { "dtype : data-type, optional\n    Anything `numpy.dtype` takes; float64 by default." };
    (order) => { "order : {'C', 'F'}, optional\n    Memory order of the elements." };
    (allocator) => {
        "allocator : callable or object, optional\n    Allocator of the memory, as for :func:`set_allocator`; as in PyCUDA \
         it may also be given instead of `order`."
    };
    (device) => { "device : Device, str or int, optional\n    Device of the array; the thread's current device by default." };
    (shared) => {
        "shared : bool, optional\n    Use separate memory that other processes can open: see :meth:`GPUArray.share`."
    };
}

/// Defines creation functions. An entry has the summary, the name, `shared` if the function has this parameter, the
/// method that creates the array, and the docstring's sections after `Returns`.
macro_rules! new_arrays {
    ($($(#[$summary:meta])* $name:ident ($($shared:ident)?) => $make:ident { $(#[$rest:meta])* })*) => {
        $(
            $(#[$summary])*
            ///
            /// Parameters
            /// ----------
            #[doc = parameter!(shape)]
            #[doc = parameter!(dtype)]
            #[doc = parameter!(order)]
            #[doc = parameter!(allocator)]
            #[doc = parameter!(device)]
            $(#[doc = parameter!($shared)])?
            ///
            /// Returns
            /// -------
            /// GPUArray
            ///
            $(#[$rest])*
            #[pyfunction]
            #[pyo3(signature = (shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order | Any" = None,
                                allocator: "Any" = None, *, device: "DeviceLike" = None
                                $(, $shared: "bool" = false)?) -> "GPUArray")]
            #[allow(clippy::too_many_arguments, reason = "the parameters of Python")]
            pub(crate) fn $name<'py>(
                py: Python<'py>,
                shape: &Bound<'py, PyAny>,
                dtype: OptionalArg<'_, 'py>,
                order: OptionalArg<'_, 'py>,
                allocator: OptionalArg<'_, 'py>,
                device: OptionalArg<'_, 'py>,
                $($shared: bool,)?
            ) -> ArrayResult<'py> {
                let shared = false $(|| $shared)?;
                CreationOptions { shape, dtype, order, allocator, device, shared }.$make(py)
            }
        )*
    };
}

new_arrays! {
    /// Create an array with uninitialized elements.
    empty (shared) => empty {
        /// Raises
        /// ------
        /// ValueError
        ///     For negative or too large shapes and for an unknown order.
        /// TypeError
        ///     For a dtype that a device cannot store.
        /// OutOfMemoryError
        ///     If the device has too little memory, even after its pool was trimmed.
        ///
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.empty((2, 3), 'float32').nbytes
        /// 24
    }
    /// Create an array of zeros.
    zeros (shared) => zeros {
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.zeros(3, 'int32').tolist()
        /// [0, 0, 0]
    }
    /// Create an array of ones.
    ones () => ones {
        /// Examples
        /// --------
        /// >>> import PyGPU
        /// >>> PyGPU.ones((1, 2)).tolist()
        /// [[1.0, 1.0]]
    }
}

/// Create an array filled with one value.
///
/// Parameters
/// ----------
#[doc = parameter!(shape)]
/// fill_value : scalar or array_like
///     Value of the elements, converted to the dtype as in NumPy. An array is broadcast.
/// dtype : data-type, optional
///     Defaults to NumPy's dtype of `fill_value`.
#[doc = parameter!(order)]
#[doc = parameter!(device)]
#[doc = parameter!(shared)]
///
/// Returns
/// -------
/// GPUArray
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.full(2, 7).tolist()
/// [7, 7]
#[pyfunction]
#[pyo3(signature = (shape: "ShapeLike", fill_value: "Any", dtype: "DTypeLike | None" = None, order: "Order" = None, *,
                    device: "DeviceLike" = None, shared: "bool" = false) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn full<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    fill_value: &Bound<'py, PyAny>,
    dtype: OptionalArg<'_, 'py>,
    order: OptionalArg<'_, 'py>,
    device: OptionalArg<'_, 'py>,
    shared: bool,
) -> ArrayResult<'py> {
    let dtype = match dtype.filter(|dtype| !dtype.is_none()) {
        Some(dtype) => dtype::from_python(dtype)?,
        None => match import::device_array(fill_value)? {
            Some(array) => array.dtype(),
            None => dtype::from_numpy(ndarray::as_ndarray(fill_value, None)?.dtype().as_any())?,
        },
    };
    if shared {
        let dtype = dtype::to_python(py, dtype)?;
        let result =
            CreationOptions { shape, dtype: Some(&dtype), order, allocator: None, device, shared }.new_shared(py)?;
        copyto::assign_unsafe(py, result.get().array(py)?, fill_value)?;
        return Ok(result);
    }
    let order = OrderArgument::c_or_f(order)?;
    let shape = shape::from_python(shape)?;
    let array = new_array(py, &shape, dtype, order, target_device(py, device)?)?;
    copyto::assign_unsafe(py, &array, fill_value)?;
    new_exact(py, GpuArray::from_array(array))
}

names! {
    functions "Making arrays": empty, full, ones, zeros;
}
