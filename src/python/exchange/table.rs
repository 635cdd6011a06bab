//! DLPack's C exchange table: ours, as the attribute `__dlpack_c_exchange_api__` of the class, and that of other types.
//!
//! Whoever has the table of a type exchanges tensors with it without a call into Python. No function of it waits for
//! anything: a consumer puts itself behind `current_work_stream`, as `import` does below.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};

use crate::array::class::{GpuArray, new_exact};
use crate::callback::answer;
use crate::deferral;
use crate::gil::WithoutGil;
use crate::once::intern;
use pygpu_array::Array;
use pygpu_backend::{BackendKind, StreamHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::caught;
use pygpu_base::flush::Cause;
use pygpu_device::stream;
use pygpu_interop::dlpack::ffi::{
    DLDeviceType, DLManagedTensorVersioned, DLPackExchangeAPI, DLPackExchangeAPIHeader, DLTensor,
};
use pygpu_interop::dlpack::import::{Tensor, allocate_like};
use pygpu_interop::dlpack::{self, DlpackFlags, VERSION, export};
use pygpu_interop::streams;

const NAME: &CStr = c"dlpack_exchange_api";

/// The table is read by everybody and written by nobody.
struct Table(DLPackExchangeAPI);

// SAFETY: it holds functions and a null pointer.
unsafe impl Sync for Table {}

static TABLE: Table = Table(DLPackExchangeAPI {
    header: DLPackExchangeAPIHeader { version: VERSION, prev_api: std::ptr::null_mut() },
    managed_tensor_allocator: Some(allocate),
    managed_tensor_from_py_object_no_sync: Some(from_object),
    managed_tensor_to_py_object_no_sync: Some(to_object),
    dltensor_from_py_object_no_sync: Some(lend),
    current_work_stream: Some(current_work_stream),
});

#[pymethods]
impl GpuArray {
    /// DLPack's C exchange table, for libraries that exchange tensors without calling Python.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        let table = (&raw const TABLE.0).cast_mut().cast();
        // SAFETY: the table and the name are static; null means an exception.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(table, NAME.as_ptr(), None)).map(Bound::unbind) }
    }
}

/// # Safety
/// The pointer is a live object, and the thread holds the GIL.
unsafe fn array_of<'py>(py: Python<'py>, object: *mut c_void) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: promised by the caller.
    let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, object.cast()) };
    match object.map(Bound::cast_into::<GpuArray>) {
        Some(Ok(array)) => Ok(array),
        _ => Err(PyTypeError::new_err("the DLPack exchange table of GPUArray takes GPUArray objects")),
    }
}

/// Lets the stream that `current_work_stream` names wait for the array's last use elsewhere, and notes that it uses the
/// array from here on: the consumer works there, or behind it. With one stream in use this is a comparison.
fn let_current_stream_use(py: Python<'_>, array: &Array) -> PyResult<()> {
    let (device, allocation) = (array.device(), array.allocation());
    if device.is_cpu() {
        return Ok(());
    }
    let current = stream::current(device);
    if allocation.is_in_order_of(&current) {
        return Ok(());
    }
    Ok(py.without_gil(|| allocation.hand_over(array.access_of_others(), &current))?)
}

unsafe extern "C" fn from_object(object: *mut c_void, out: *mut *mut DLManagedTensorVersioned) -> c_int {
    // SAFETY: the table's contract: a live object, a place for the answer.
    unsafe {
        answer(|py| {
            let array = array_of(py, object)?;
            let array = array.get().array(py)?;
            let_current_stream_use(py, array)?;
            out.write(export::versioned(array, DlpackFlags::empty(), Some(stream::current(array.device())))?.as_ptr());
            // What another thread wrote down while this one waited; the tensor is there whatever became of that.
            pygpu_base::flush::flush(Cause::Values);
            Ok(())
        })
    }
}

unsafe extern "C" fn to_object(tensor: *mut DLManagedTensorVersioned, out: *mut *mut c_void) -> c_int {
    // SAFETY: as above; the tensor is ours, also if this fails.
    unsafe {
        answer(|py| {
            let tensor = NonNull::new(tensor).ok_or_else(|| PyBufferError::new_err("the DLPack tensor is null"))?;
            let tensor = Tensor::versioned(tensor)?;
            let ready = stream::own_current(tensor.device()?);
            let array = tensor.into_array(ready)?;
            out.write(new_exact(py, GpuArray::from_array(array))?.into_ptr().cast());
            Ok(())
        })
    }
}

unsafe extern "C" fn lend(object: *mut c_void, out: *mut DLTensor) -> c_int {
    // SAFETY: as above. The dimensions live as long as the array object, which is longer than the table asks for.
    unsafe {
        answer(|py| {
            let array = array_of(py, object)?;
            let held = array.get().array(py)?;
            let_current_stream_use(py, held)?;
            out.write(array.get().lent().lend(held)?);
            deferral::close(py, Cause::Values); // what another thread wrote down while this one waited
            Ok(())
        })
    }
}

unsafe extern "C" fn current_work_stream(device_type: DLDeviceType, id: i32, out: *mut *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe {
        answer(|py| {
            deferral::close(py, Cause::Order); // who has it may wait for the stream, or time it
            let device = dlpack::device_of(device_type.0.into(), id.into())?;
            out.write(stream::current(device).handle().0 as *mut c_void);
            Ok(())
        })
    }
}

type SetError = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char)>;

unsafe extern "C" fn allocate(
    prototype: *mut DLTensor,
    out: *mut *mut DLManagedTensorVersioned,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    let make = || {
        // SAFETY: the table's contract: a readable prototype, or null. No Python is touched, except by a user's allocator through
        // the door for that: the caller need not hold the GIL.
        unsafe { NonNull::new(prototype).map_or_else(null_prototype, |prototype| allocate_like(prototype.as_ref())) }
    };
    let made = caught(None, || Some(make()));
    let error = match made {
        Some(Ok(tensor)) => {
            // SAFETY: the table's contract: a place for the answer.
            unsafe { out.write(tensor.as_ptr()) };
            return 0;
        }
        Some(Err(error)) => error,
        None => Error::buffer("managed_tensor_allocator: a defect of PyGPU; see the text on stderr"),
    };
    let kind = if matches!(error, Error::OutOfMemory(_)) { c"MemoryError" } else { c"BufferError" };
    let text = CString::new(error.to_string()).unwrap_or_default();
    if let Some(set_error) = set_error {
        // SAFETY: the caller's own function and context; both texts live through the call.
        unsafe { set_error(context, kind.as_ptr(), text.as_ptr()) };
    }
    // SAFETY: as above.
    unsafe { out.write(std::ptr::null_mut()) };
    -1
}

fn null_prototype() -> Result<NonNull<DLManagedTensorVersioned>> {
    Err(Error::buffer("managed_tensor_allocator: the prototype is null"))
}

/// What is known of a type, by its address. The types stay alive for ever (there are at most `SLOTS`), so that an address
/// can never come to mean another one.
struct Slot {
    class: AtomicPtr<ffi::PyTypeObject>,
    /// 0 while it is being filled, `NO_TABLE`, `PLAIN`, or the address of the type's table, plus `LAZY` if its objects may
    /// show other values than their memory holds.
    known: AtomicUsize,
}

const SLOTS: usize = 128;
const NO_TABLE: usize = 1;
const PLAIN: usize = 2;
const LAZY: usize = 1;

static KNOWN: [Slot; SLOTS] =
    [const { Slot { class: AtomicPtr::new(std::ptr::null_mut()), known: AtomicUsize::new(0) } }; SLOTS];

/// What a type offers.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    /// Its values are on the host, and it has no protocol for devices.
    Plain,
    /// An exchange table.
    Table(&'static DLPackExchangeAPI),
    /// Perhaps some other protocol.
    Unknown,
}

/// What the type of an object offers.
///
/// # Errors
/// Those of reading the attribute, other than that there is none; `BufferError` for a tensor whose memory holds other
/// values than it shows.
#[inline]
pub(crate) fn offer_of(object: &Bound<'_, PyAny>) -> PyResult<Offer> {
    // SAFETY: the type of a live object.
    let class = unsafe { ffi::Py_TYPE(object.as_ptr()) };
    let slot = &KNOWN[(class as usize >> 4) % SLOTS];
    if slot.class.load(Ordering::Acquire) == class {
        match slot.known.load(Ordering::Acquire) {
            0 => {}
            known => return decode(object, known),
        }
    }
    decode(object, look_up(&object.get_type(), slot)?)
}

#[inline]
fn decode(object: &Bound<'_, PyAny>, known: usize) -> PyResult<Offer> {
    match known {
        NO_TABLE => Ok(Offer::Unknown),
        PLAIN => Ok(Offer::Plain),
        address if address & LAZY != 0 && refuses_its_table(object)? => Ok(Offer::Unknown),
        // SAFETY: `find_table` gave the address, and tables live as long as the process.
        address => Ok(Offer::Table(unsafe { &*((address & !LAZY) as *const DLPackExchangeAPI) })),
    }
}

/// PyTorch's table exports what its `__dlpack__` refuses: tensors that are part of a gradient, and the memory of tensors
/// that are conjugated or negated only when they are read. The first are left to `__dlpack__`.
///
/// # Errors
/// `BufferError` for the second: neither `__dlpack__` nor the CUDA array interface looks at both marks, and what came from
/// them would have wrong values.
fn refuses_its_table(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = tensor.py();
    if tensor.call_method0(intern!(py, "is_conj"))?.is_truthy()? {
        return Err(PyBufferError::new_err(
            "the tensor is conjugated only when it is read, and its memory is not: give tensor.resolve_conj()",
        ));
    }
    if tensor.call_method0(intern!(py, "is_neg"))?.is_truthy()? {
        return Err(PyBufferError::new_err(
            "the tensor is negated only when it is read, and its memory is not: give tensor.resolve_neg()",
        ));
    }
    tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()
}

fn is_lazy(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let marks = [intern!(py, "is_conj"), intern!(py, "is_neg"), intern!(py, "requires_grad")];
    marks.into_iter().try_fold(true, |all, mark| Ok(all && class.hasattr(mark)?))
}

#[cold]
fn look_up(class: &Bound<'_, PyType>, slot: &Slot) -> PyResult<usize> {
    let known = if is_plain(class)? {
        PLAIN
    } else {
        match find_table(class)? {
            Some(table) => table.as_ptr() as usize | if is_lazy(class)? { LAZY } else { 0 },
            None => NO_TABLE,
        }
    };
    let key = class.as_type_ptr();
    if slot.class.compare_exchange(std::ptr::null_mut(), key, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        std::mem::forget(class.clone());
        slot.known.store(known, Ordering::Release);
    }
    Ok(known)
}

/// Python's own numbers, texts and containers, and what NumPy makes.
fn is_plain(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let module = class.getattr(intern!(py, "__module__"))?;
    if module.eq(intern!(py, "builtins"))? {
        return Ok(true);
    }
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    // If NumPy was never imported nothing is of it, and importing it here would cost more than all else.
    let Ok(numpy) = modules.get_item(intern!(py, "numpy")) else { return Ok(false) };
    for name in [intern!(py, "ndarray"), intern!(py, "generic")] {
        if class.is_subclass(&numpy.getattr(name)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The table of a type, in the newest version that can be read. What is no table is passed over: `__dlpack__` may serve.
fn find_table(class: &Bound<'_, PyType>) -> PyResult<Option<NonNull<DLPackExchangeAPI>>> {
    const LONGEST_CHAIN: usize = 16;
    let Some(attribute) = class.getattr_opt(intern!(class.py(), "__dlpack_c_exchange_api__"))? else { return Ok(None) };
    // SAFETY: a live object; a capsule of that name holds a table that lives as long as the process.
    let mut header = unsafe {
        if !attribute.is_instance_of::<PyCapsule>() || ffi::PyCapsule_IsValid(attribute.as_ptr(), NAME.as_ptr()) == 0 {
            return Ok(None);
        }
        ffi::PyCapsule_GetPointer(attribute.as_ptr(), NAME.as_ptr()).cast::<DLPackExchangeAPIHeader>()
    };
    for _ in 0..LONGEST_CHAIN {
        // SAFETY: every version of a table begins with this header.
        let Some(found) = (unsafe { header.as_ref() }) else { break };
        if found.version.major == VERSION.major {
            let table = NonNull::from(found).cast::<DLPackExchangeAPI>();
            // SAFETY: a table of our major version.
            let complete = unsafe { table.as_ref() };
            let usable =
                complete.managed_tensor_from_py_object_no_sync.is_some() && complete.current_work_stream.is_some();
            return Ok(usable.then_some(table));
        }
        header = found.prev_api;
    }
    Ok(None)
}

fn raised(py: Python<'_>, what: &str) -> PyErr {
    PyErr::take(py).unwrap_or_else(|| PyBufferError::new_err(format!("the producer's {what} failed without a reason")))
}

/// Takes an object's tensor through the table of its type, and puts `ready` behind the producer's work.
///
/// # Errors
/// The producer's; `BufferError` for a tensor that cannot be imported.
pub(crate) fn take(object: &Bound<'_, PyAny>, table: &DLPackExchangeAPI) -> PyResult<Tensor> {
    let py = object.py();
    let mut out = std::ptr::null_mut();
    let status = match table.managed_tensor_from_py_object_no_sync {
        // SAFETY: the object is of the type that the table belongs to, and the GIL is held.
        Some(export) => unsafe { export(object.as_ptr().cast(), &raw mut out) },
        None => -1,
    };
    match NonNull::new(out) {
        // SAFETY: the producer gave the tensor away.
        Some(tensor) if status == 0 => Ok(unsafe { Tensor::versioned(tensor) }?),
        _ => Err(raised(py, "managed_tensor_from_py_object_no_sync")),
    }
}

/// Puts a stream behind the work of the producer whose table this is.
///
/// # Errors
/// The producer's; the driver's.
pub(crate) fn order_behind(py: Python<'_>, table: &DLPackExchangeAPI, ready: &stream::Stream) -> PyResult<()> {
    let device = ready.device();
    if device.is_cpu() {
        return Ok(());
    }
    let (device_type, id) = dlpack::code_of(device);
    let mut work = std::ptr::null_mut();
    let status = match table.current_work_stream {
        // SAFETY: as above.
        Some(ask) => unsafe { ask(DLDeviceType(device_type), id, &raw mut work) },
        None => -1,
    };
    if status != 0 {
        return Err(raised(py, "current_work_stream"));
    }
    let handle = match (device.kind(), work as usize) {
        (BackendKind::Cuda, 1) => StreamHandle::DEFAULT,
        (_, handle) => StreamHandle(handle),
    };
    if handle == ready.handle() {
        return Ok(());
    }
    Ok(py.without_gil(|| ready.wait_for(&streams::borrowed(device, handle)))?)
}
