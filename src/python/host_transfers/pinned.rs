//! Creates ndarrays over pinned host memory, which the device's copy engines access without the processor.

use std::sync::Arc;

use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::atexit::Detached;
use crate::convert::argument_errors;
use crate::convert::dtype;
use crate::convert::ndarray;
use crate::convert::pointer::CtypesPointerCache;
use crate::convert::shape::{self, OrderArgument};
use crate::exported_names::names;
use crate::gil::WithoutGil;
use crate::py_once::intern;
use crate::runtime::device;
use pygpu_array::Array;
use pygpu_backend::HostFlags;
use pygpu_base::dtype::DType;
use pygpu_device::Device;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;
use pygpu_memory::address_registry::{self, AddressedMemory};

/// Block of pinned host memory. It is the `base` of the ndarrays over the block, and is freed with the last of these
/// ndarrays.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> a = PyGPU.empty_pinned(4)
/// >>> a.base.ptr == a.ctypes.data, a.base.nbytes
/// (True, 32)
#[pyclass(frozen, weakref, name = "PinnedMemory", module = "PyGPU")]
pub(crate) struct PinnedMemory {
    allocation: Detached<Arc<Allocation>>,
    /// Pointer object with the block's address, for ctypes; created at the first use.
    pub(crate) parameter: CtypesPointerCache,
}

impl PinnedMemory {
    pub(crate) fn address(&self) -> usize {
        self.allocation.address()
    }
}

#[pymethods]
impl PinnedMemory {
    /// Address of the first byte; 0 for an empty block.
    #[getter]
    fn ptr(&self) -> usize {
        self.address()
    }

    /// Size of the block in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.allocation.bytes()
    }

    /// Device for which the memory was pinned.
    #[getter]
    fn device(&self) -> device::PyDevice {
        self.allocation.device().into()
    }

    fn __repr__(&self) -> String {
        let block = &self.allocation;
        format!("<PyGPU.PinnedMemory of {} bytes for {}>", block.bytes(), block.device())
    }
}

/// Creates an ndarray over a new block of pinned memory.
fn new_ndarray<'py>(
    py: Python<'py>,
    layout: &Layout,
    dtype: DType,
    device: Device,
    flags: HostFlags,
    zeroed: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let descr = dtype::to_python(py, dtype)?;
    let bytes = layout.nbytes() as usize;
    let allocation = py.without_gil(|| {
        let allocation = Allocation::pinned(device, bytes, flags)?;
        if zeroed && bytes > 0 {
            let first: *mut u8 = std::ptr::with_exposed_provenance_mut(allocation.address());
            // SAFETY: the memory block was allocated above with `bytes` bytes, and no other code uses it yet.
            unsafe { first.write_bytes(0, bytes) };
        }
        Ok::<_, pygpu_base::error::Error>(Arc::new(allocation))
    })?;
    let address = allocation.address();
    address_registry::register(&allocation, AddressedMemory::Pinned);
    let owner = Bound::new(
        py,
        PinnedMemory { allocation: Detached::new(allocation), parameter: CtypesPointerCache::default() },
    )?;
    ndarray::over_memory(py, address, layout, descr, true, owner.into_any())
}

/// Creates an uninitialized ndarray over pinned memory with the shape, dtype and memory order of axes of an array.
///
/// # Errors
/// `OutOfMemoryError`; driver errors.
pub(crate) fn empty_like_array<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    new_ndarray(py, &array.layout().dense_like(), array.dtype(), array.device(), HostFlags::default(), false)
}

fn new_of_shape<'py>(
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    flags: HostFlags,
    device: Option<&Bound<'py, PyAny>>,
    zeroed: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let dtype = dtype::or_float64(dtype)?;
    let lengths = shape::from_python(shape)?;
    let layout = Layout::contiguous(&lengths, dtype.itemsize() as i64, OrderArgument::c_or_f(order)?)?;
    let device = device::from_argument(shape.py(), device)?;
    new_ndarray(shape.py(), &layout, dtype, device, flags, zeroed)
}

/// Create an uninitialized ndarray over pinned memory.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Any dtype that a device can hold; float64 by default.
/// order : {'C', 'F'}, optional
///     Memory order.
/// portable : bool, optional
///     Pin the memory for every device, not only for `device`.
/// mapped : bool, optional
///     Map the memory into the device's address space.
/// write_combined : bool, optional
///     Make device reads fast, and host reads very slow.
/// device : int, str or Device, optional
///     The device that accesses the memory; the current device by default.
///
/// Returns
/// -------
/// numpy.ndarray
///     Its `base` owns the memory, which is freed with the last view. Copies between the ndarray and its device can be
///     asynchronous.
///
/// Raises
/// ------
/// OutOfMemoryError
///     If the host has no memory to pin.
/// TypeError, ValueError
///     For arguments that :func:`numpy.empty` rejects.
///
/// Notes
/// -----
/// On the CPU backend the result is ordinary memory.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> a = PyGPU.empty_pinned((2, 3), np.float32)
/// >>> a.shape, a.dtype
/// ((2, 3), dtype('float32'))
#[pyfunction]
#[pyo3(
    signature = (
        shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order" = None, *, portable: "bool" = false,
        mapped: "bool" = false, write_combined: "bool" = false, device: "DeviceLike" = None
    ) -> "NDArray[Any]",
    text_signature = "(shape, dtype=None, order='C', *, portable=False, mapped=False, write_combined=False, device=None)"
)]
fn empty_pinned<'py>(
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    portable: bool,
    mapped: bool,
    write_combined: bool,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    new_of_shape(shape, dtype, order, HostFlags { portable, mapped, write_combined }, device, false)
}

/// Create an ndarray of zeros over pinned memory.
///
/// Parameters
/// ----------
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Any dtype that a device can hold; float64 by default.
/// order : {'C', 'F'}, optional
///     Memory order.
/// portable, mapped, write_combined : bool, optional
///     The same as in `empty_pinned`.
/// device : int, str or Device, optional
///     The device that accesses the memory; the current device by default.
///
/// Returns
/// -------
/// numpy.ndarray
///     An ndarray over pinned memory, as `empty_pinned` returns.
///
/// Examples
/// --------
/// >>> import PyGPU
/// >>> PyGPU.zeros_pinned(3)
/// array([0., 0., 0.])
#[pyfunction]
#[pyo3(
    signature = (
        shape: "ShapeLike", dtype: "DTypeLike | None" = None, order: "Order" = None, *, portable: "bool" = false,
        mapped: "bool" = false, write_combined: "bool" = false, device: "DeviceLike" = None
    ) -> "NDArray[Any]",
    text_signature = "(shape, dtype=None, order='C', *, portable=False, mapped=False, write_combined=False, device=None)"
)]
fn zeros_pinned<'py>(
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
    portable: bool,
    mapped: bool,
    write_combined: bool,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    new_of_shape(shape, dtype, order, HostFlags { portable, mapped, write_combined }, device, true)
}

/// Create an uninitialized ndarray over pinned memory with the shape, dtype and axis order of an array.
///
/// Parameters
/// ----------
/// ary : numpy.ndarray or GPUArray
///     The array whose shape, dtype and axis order are used; its values are not copied.
/// portable, mapped, write_combined : bool, optional
///     The same as in `empty_pinned`.
/// device : int, str or Device, optional
///     The device that accesses the memory. It defaults to the device of a `GPUArray`, and to the current device for an
///     ndarray.
///
/// Returns
/// -------
/// numpy.ndarray
///     A contiguous ndarray over pinned memory, as `empty_pinned` returns.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU
/// >>> a = PyGPU.empty_like_pinned(np.zeros((2, 3), order='F'))
/// >>> a.shape, a.flags.f_contiguous
/// ((2, 3), True)
#[pyfunction]
#[pyo3(signature = (
    ary: "ArrayLike | GPUArray", *, portable: "bool" = false, mapped: "bool" = false,
    write_combined: "bool" = false, device: "DeviceLike" = None
) -> "NDArray[Any]")]
fn empty_like_pinned<'py>(
    ary: &Bound<'py, PyAny>,
    portable: bool,
    mapped: bool,
    write_combined: bool,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let py = ary.py();
    let attribute = |name| {
        ary.getattr(name).map_err(|_| {
            PyTypeError::new_err(format!(
                "empty_like_pinned(): the argument is {}; expected an ndarray or a GPUArray",
                argument_errors::describe(ary)
            ))
        })
    };
    let dtype = dtype::from_python(&attribute(intern!(py, "dtype"))?)?;
    let lengths = shape::from_python(&attribute(intern!(py, "shape"))?)?;
    let steps = shape::from_python(&attribute(intern!(py, "strides"))?)?;
    let layout = Layout::strided(&lengths, &steps, 0, dtype.itemsize() as i64)?.dense_like();
    let device = match (device, ary.cast::<crate::array::class::GpuArray>()) {
        (None, Ok(array)) => array.get().device(),
        _ => device::from_argument(py, device)?,
    };
    new_ndarray(py, &layout, dtype, device, HostFlags { portable, mapped, write_combined }, false)
}

names! {
    functions "Pinned host memory": empty_pinned, zeros_pinned, empty_like_pinned;
    internal_classes: PinnedMemory;
}
