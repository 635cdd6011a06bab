//! `from_pointer`: memory that C code has made, as an array, and how it goes back.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

use crate::array::class::{GpuArray, new_at};
use crate::array::owner::Owner;
use crate::callback::Kept;
use crate::convert::dtype;
use crate::convert::shape;
use crate::exchange::place::{Keeper, Place};
use crate::ffi::c_function::CFunction;
use crate::ffi::interpreter::if_held;
use crate::gil::WithoutGil;
use crate::names::names;
use crate::runtime::device;
use crate::runtime::stream::stream_or_default;
use pygpu_backend::Address;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::OwnerBox;

/// Calls a function of C with an address, once, when the last array over the memory has gone.
struct Deleter {
    function: CFunction,
    address: Address,
    /// From when there is an array: until then the memory is the caller's.
    is_armed: AtomicBool,
    /// The function's object, and with it the library or the callback behind it; until it was called.
    object: Option<Kept>,
}

impl Drop for Deleter {
    fn drop(&mut self) {
        if !self.is_armed.load(Ordering::Acquire) || shutdown::exiting() {
            return;
        }
        let (function, address) = (self.function, self.address);
        let call = || function.call(address);
        let object = &mut self.object;
        let called = if_held(|py| {
            // It may wait for a device, whose callbacks may wait for the GIL.
            py.without_gil(call);
            // Taken again just now.
            object.take().into_iter().for_each(|object| object.end(py));
        });
        if called.is_none() {
            call();
        }
    }
}

/// What an owner is.
enum Kind {
    Deleter(Box<Deleter>),
    Object(Owner),
}

impl Keeper for Kind {
    fn beside(self) -> OwnerBox {
        match self {
            Self::Deleter(deleter) => deleter,
            Self::Object(owner) => owner.beside(),
        }
    }

    fn alone(self) -> OwnerBox {
        match self {
            Self::Deleter(deleter) => deleter,
            Self::Object(owner) => owner.alone(),
        }
    }
}

/// The deleter that an owner is, if it is a function of ctypes.
fn deleter_of(owner: &Bound<'_, PyAny>, address: Address) -> PyResult<Option<Box<Deleter>>> {
    if !CFunction::is_one(owner)? {
        return Ok(None);
    }
    // SAFETY: the caller of `from_pointer` says that it is a deleter of this address.
    let function = unsafe { CFunction::of(owner)? }
        .ok_or_else(|| PyValueError::new_err("from_pointer: owner is a null function pointer"))?;
    let object = Some(Kept::new(owner.clone().unbind()));
    Ok(Some(Box::new(Deleter { function, address, is_armed: AtomicBool::new(false), object })))
}

/// An array over memory that others have made, such as C code, and that goes back to them.
///
/// Parameters
/// ----------
/// address : int, ctypes pointer or object with an address
///     Where element zero is: device memory on a GPU, any memory on the CPU.
/// shape : int or sequence of int
///     The lengths of the axes.
/// dtype : data-type, optional
///     Of the elements; float64 by default.
/// strides : sequence of int, optional
///     Bytes from one element to the next along each axis, of any sign; C order by default.
/// owner : object, optional
///     Kept as long as anything uses the memory. A function of `ctypes` is a deleter instead, ``void (*)(void *)``: it is called
///     with the address, once, on whatever thread the last use ends, without the GIL. A capsule is kept like any object, and
///     has a deleter of its own.
/// stream : Stream, object with ``__cuda_stream__`` or int, optional
///     The memory is usable in the order of this stream, and in its order given back; the legacy default stream by default.
/// device : Device, str or int, optional
///     Where the memory must be: for a check, since the driver knows.
/// readonly : bool, optional
///     Refuse to write it.
///
/// Returns
/// -------
/// GPUArray
///
/// Raises
/// ------
/// ValueError
///     For address 0, for memory on another device, and for memory of PyGPU's that is too short. The memory is the caller's then,
///     and no deleter is called.
/// CudaError
///     For memory of PyGPU's that was freed.
///
/// Notes
/// -----
/// If the array was used on other streams than `stream`, they are waited for before the owner is let go. A process that ends does
/// not call deleters.
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
    let wanted = device.map(|device| device::from_argument(py, Some(device))).transpose()?;
    let place = Place::of(address)?;
    let deleter = owner.map(|owner| deleter_of(owner, place.address())).transpose()?.flatten();
    // A stream that is none is refused below, when there is a device to ask.
    let ready = |device| stream_or_default(py, stream, device).unwrap_or_else(|_| Stream::default_of(device));
    let armed = deleter.as_ref().map(|deleter| &raw const deleter.is_armed);
    let kept = match deleter {
        Some(deleter) => Some(Kind::Deleter(deleter)),
        None => {
            // A number keeps nothing; any other object with an address may.
            let keeper = owner.or_else(|| Some(address).filter(|address| !address.is_instance_of::<PyInt>()));
            let kept = |keeper: &Bound<'py, PyAny>| Kept::new(keeper.clone().unbind());
            keeper.map(|keeper| Kind::Object(Owner { object: kept(keeper), is_arrays: false, allocator: None }))
        }
    };
    let pointer = place.address();
    let mut ground = place.ground(py, &layout, ready, kept)?;
    let on = ground.allocation.device();
    if let Some(stream) = stream.filter(|stream| !stream.is_none()) {
        let ready = stream_or_default(py, Some(stream), on)?;
        if !ground.allocation.is_in_order_of(&ready) {
            // Memory of PyGPU's, which has a stream of its own.
            py.without_gil(|| ground.allocation.record_stream(&ready))?;
        }
    }
    if let Some(wanted) = wanted.filter(|wanted| *wanted != on) {
        return Err(PyValueError::new_err(format!(
            "from_pointer: the memory at {pointer:#x} is on {on}, not on device={wanted}"
        )));
    }
    ground.readonly |= readonly;
    let made =
        new_at(py, ground, &layout, dtype, owner.filter(|_| armed.is_none()).map(|owner| owner.clone().unbind()))?;
    if let Some(armed) = armed {
        // SAFETY: the array has the deleter, which stays where it is.
        unsafe { &*armed }.store(true, Ordering::Release);
    }
    Ok(made)
}

names! {
    functions "Making arrays": from_pointer;
}
