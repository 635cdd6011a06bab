//! Implements `from_pointer`, which creates arrays over memory of C code and releases the memory after its last use.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::array::class::{GpuArray, new_at};
use crate::array::memory_owner::MemoryOwner;
use crate::callback::SendPyObject;
use crate::convert::dtype;
use crate::convert::shape;
use crate::exported_names::names;
use crate::ffi::c_function::{self, CFunction};
use crate::ffi::interpreter::with_held_gil;
use crate::gil::WithoutGil;
use crate::interop::memory_argument::{IntoOwner, MemoryArgument};
use crate::runtime::device;
use crate::runtime::stream::stream_or_default;
use pygpu_backend::Address;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::OwnerBox;

/// Calls a C function with an address, once, when the last array over the memory is dropped.
struct Deleter {
    function: CFunction,
    address: Address,
    /// Whether the array exists. Before the array exists, the memory belongs to the caller, and the function is not
    /// called.
    is_armed: AtomicBool,
    /// The Python object of the C function. The object keeps the function's library or callback loaded until the call.
    object: Option<SendPyObject>,
}

impl Drop for Deleter {
    fn drop(&mut self) {
        if !self.is_armed.load(Ordering::Acquire) || shutdown::exiting() {
            return;
        }
        let (function, address) = (self.function, self.address);
        let call = || function.call(address);
        let object = &mut self.object;
        let was_called = with_held_gil(|py| {
            // The C function is called without the GIL: it may wait for a device, and callbacks of this device may wait
            // for the GIL.
            py.without_gil(call);
            // The GIL is held again here, so the Python object of the function can be released.
            object.take().into_iter().for_each(|object| object.release(py));
        });
        if was_called.is_none() {
            call();
        }
    }
}

/// The owner of the memory: a deleter or a Python object.
enum OwnerKind {
    Deleter(Box<Deleter>),
    Object(MemoryOwner),
}

impl IntoOwner for OwnerKind {
    fn for_existing_block(self) -> OwnerBox {
        match self {
            Self::Deleter(deleter) => deleter,
            Self::Object(owner) => owner.for_existing_block(),
        }
    }

    fn for_owned_memory(self) -> OwnerBox {
        match self {
            Self::Deleter(deleter) => deleter,
            Self::Object(owner) => owner.for_owned_memory(),
        }
    }
}

/// Returns the deleter if the owner is a ctypes function.
///
/// # Errors
/// `TypeError` for a Python function, whose caller expects a call; `ValueError` for a null function pointer.
fn ctypes_deleter(owner: &Bound<'_, PyAny>, address: Address) -> PyResult<Option<Box<Deleter>>> {
    if !CFunction::is_ctypes_function(owner)? {
        if c_function::is_python_function(owner)? {
            return Err(PyTypeError::new_err(format!(
                "from_pointer: owner is {}, a Python function, which would be kept alive but never called: give \
                 ctypes.CFUNCTYPE(None, ctypes.c_void_p)(function) or a function of a ctypes library to free the \
                 memory, or the object that owns it",
                owner.repr()?
            )));
        }
        return Ok(None);
    }
    // SAFETY: the caller of `from_pointer` guarantees that the function accepts this address and may be called once.
    let function = unsafe { CFunction::from_ctypes(owner)? }
        .ok_or_else(|| PyValueError::new_err("from_pointer: owner is a null function pointer"))?;
    let object = Some(SendPyObject::new(owner.clone().unbind()));
    Ok(Some(Box::new(Deleter { function, address, is_armed: AtomicBool::new(false), object })))
}

/// Create an array over external memory, such as that of C code, and release it after the last use.
///
/// Parameters
/// ----------
/// address : int, ctypes pointer or object with an address
///     Address of element zero: device memory on a GPU, any memory on the CPU.
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Type of the elements; float64 by default, also over memory of other elements.
/// strides : sequence of int, optional
///     Bytes from one element to the next along each axis, of any sign; C order by default.
/// owner : object, optional
///     Object to keep alive while the memory is in use. A `ctypes` function is a deleter instead, with the C type
///     ``void (*)(void *)``. The deleter is called once with the address, without the GIL, on the thread that ends the
///     last use. A capsule is kept alive like any other object, and has its own deleter.
/// stream : Stream, object with ``__cuda_stream__`` or int, optional
///     Stream of the pending work that writes the memory: PyGPU's work follows it. The legacy default stream by default.
/// device : Device, str or int, optional
///     Expected device of the memory. The argument is only checked, because the driver reports the device.
/// readonly : bool, optional
///     Reject writes.
///
/// Returns
/// -------
/// GPUArray
///
/// Raises
/// ------
/// TypeError
///     For a Python function as `owner`; wrap it by ``ctypes.CFUNCTYPE(None, ctypes.c_void_p)``.
/// ValueError
///     For address 0, for memory on another device, and for PyGPU memory that is too short. The memory then still
///     belongs to the caller, and no deleter is called.
/// CudaError
///     For PyGPU memory that was freed.
///
/// Notes
/// -----
/// Before PyGPU releases the owner, the host waits for all streams other than `stream` that used the array. Work on
/// `stream` may then still be pending: the deleter frees in its order, as ``cudaFreeAsync`` does, or waits, as
/// ``cudaFree`` does. Deleters are not called at process exit.
///
/// Examples
/// --------
/// >>> import ctypes
/// >>> import PyGPU
/// >>> memory = PyGPU.arange(6.0)
/// >>> a = PyGPU.from_pointer(memory.ptr, (2, 3), 'float64', owner=memory)
/// >>> a[1].tolist()
/// [3.0, 4.0, 5.0]
#[pyfunction]
#[pyo3(signature = (
    address: "AddressLike", shape: "ShapeLike", dtype: "DTypeLike | None" = None,
    strides: "ShapeLike | None" = None, *, owner: "Any" = None, stream: "StreamLike" = None,
    device: "DeviceLike" = None, readonly: "bool" = false
) -> "GPUArray")]
#[allow(clippy::too_many_arguments)]
fn from_pointer<'py>(
    address: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    strides: Option<&Bound<'py, PyAny>>,
    owner: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    readonly: bool,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = address.py();
    let dtype = dtype::or_float64(dtype)?;
    let itemsize = dtype.itemsize() as i64;
    let lengths = shape::from_python(shape)?;
    let mut layout = Layout::scalar(itemsize);
    match strides {
        Some(strides) => layout = Layout::strided(&lengths, &shape::from_python(strides)?, 0, itemsize)?,
        None => layout.set_contiguous(&lengths, itemsize, MemoryOrder::C)?,
    }
    let expected = device.map(|device| device::from_argument(py, Some(device))).transpose()?;
    let memory = MemoryArgument::from_python(address)?;
    let deleter = owner.map(|owner| ctypes_deleter(owner, memory.address())).transpose()?.flatten();
    // This closure ignores the error of an invalid `stream`, because the call of `stream_or_default` below raises it
    // once the device is known.
    let ready = |device| stream_or_default(py, stream, device).unwrap_or_else(|_| Stream::default_of(device));
    let armed_flag = deleter.as_ref().map(|deleter| &raw const deleter.is_armed);
    let owner_kind = match deleter {
        Some(deleter) => Some(OwnerKind::Deleter(deleter)),
        None => {
            // An int cannot own the memory. Any other object with an address may own it, and is kept alive.
            let retained = owner.or_else(|| Some(address).filter(|address| !address.is_instance_of::<PyInt>()));
            let wrap = |retained: &Bound<'py, PyAny>| SendPyObject::new(retained.clone().unbind());
            retained.map(|retained| {
                OwnerKind::Object(MemoryOwner { object: wrap(retained), is_arrays: false, allocator: None })
            })
        }
    };
    let pointer = memory.address();
    let mut placement = memory.placement(py, &layout, ready, owner_kind)?;
    let memory_device = placement.allocation.device();
    if let Some(stream) = stream.filter(|stream| !stream.is_none()) {
        let ready = stream_or_default(py, Some(stream), memory_device)?;
        if !placement.allocation.is_in_order_of(&ready) {
            // The memory block was allocated by PyGPU on another stream. Its free waits for `stream` only if a use on
            // `stream` is recorded.
            py.without_gil(|| placement.allocation.record_stream(&ready))?;
        }
    }
    if let Some(expected) = expected.filter(|expected| *expected != memory_device) {
        return Err(PyValueError::new_err(format!(
            "from_pointer: the memory at {pointer:#x} is on {memory_device}, not on device={expected}"
        )));
    }
    placement.readonly |= readonly;
    let new_array = new_at(
        py,
        placement,
        &layout,
        dtype,
        owner.filter(|_| armed_flag.is_none()).map(|owner| owner.clone().unbind()),
    )?;
    if let Some(armed_flag) = armed_flag {
        // SAFETY: the array owns the deleter, which therefore stays alive and at its address.
        unsafe { &*armed_flag }.store(true, Ordering::Release);
    }
    Ok(new_array)
}

names! {
    functions "Making arrays": from_pointer;
}
