//! DLPack's C exchange table: PyGPU's, as the class attribute `__dlpack_c_exchange_api__`, and those of other types.
//!
//! The table of a type allows exchanging tensors without calling Python. None of its functions synchronizes: a
//! consumer orders its work after `current_work_stream`, as `import` does below.

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

/// Shared by all threads and never written.
struct Table(DLPackExchangeAPI);

// SAFETY: contains only functions and a null pointer.
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

/// Returns the array of an object.
///
/// # Safety
/// The pointer is a live object, and the thread holds the GIL.
unsafe fn array_of<'py>(py: Python<'py>, object: *mut c_void) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: guaranteed by the caller.
    let object = unsafe { Bound::from_borrowed_ptr_or_opt(py, object.cast()) };
    match object.map(Bound::cast_into::<GpuArray>) {
        Some(Ok(array)) => Ok(array),
        _ => Err(PyTypeError::new_err("the DLPack exchange table of GPUArray takes GPUArray objects")),
    }
}

/// Makes the stream returned by `current_work_stream` wait for the array's last use on other streams, and records a
/// use on it: the consumer works on that stream, or after it. With a single stream in use this is one comparison.
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
    // SAFETY: the table's contract guarantees a live object and a writable result.
    unsafe {
        answer(|py| {
            let array = array_of(py, object)?;
            let array = array.get().array(py)?;
            let_current_stream_use(py, array)?;
            out.write(export::versioned(array, DlpackFlags::empty(), Some(stream::current(array.device())))?.as_ptr());
            // Operations that another thread deferred while this one waited; the tensor is valid whether or not they
            // fail.
            pygpu_base::flush::flush(Cause::Values);
            Ok(())
        })
    }
}

unsafe extern "C" fn to_object(tensor: *mut DLManagedTensorVersioned, out: *mut *mut c_void) -> c_int {
    // SAFETY: as above; this function owns the tensor, even if the call fails.
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
    // SAFETY: as above. The dimensions live as long as the array object, which is longer than the table requires.
    unsafe {
        answer(|py| {
            let array = array_of(py, object)?;
            let held = array.get().array(py)?;
            let_current_stream_use(py, held)?;
            out.write(array.get().lent().lend(held)?);
            deferral::close(py, Cause::Values); // operations that another thread deferred while this one waited
            Ok(())
        })
    }
}

unsafe extern "C" fn current_work_stream(device_type: DLDeviceType, id: i32, out: *mut *mut c_void) -> c_int {
    // SAFETY: as above.
    unsafe {
        answer(|py| {
            deferral::close(py, Cause::Order); // the holder of the handle may wait for the stream, or time it
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
        // SAFETY: the table's contract guarantees a readable prototype, or null. No Python code runs, except in a
        // user's allocator, through its FFI guard: the caller need not hold the GIL.
        unsafe { NonNull::new(prototype).map_or_else(null_prototype, |prototype| allocate_like(prototype.as_ref())) }
    };
    let made = caught(None, || Some(make()));
    let error = match made {
        Some(Ok(tensor)) => {
            // SAFETY: the table's contract guarantees a writable result.
            unsafe { out.write(tensor.as_ptr()) };
            return 0;
        }
        Some(Err(error)) => error,
        None => Error::buffer("managed_tensor_allocator: a defect of PyGPU; see the text on stderr"),
    };
    let kind = if matches!(error, Error::OutOfMemory(_)) { c"MemoryError" } else { c"BufferError" };
    let text = CString::new(error.to_string()).unwrap_or_default();
    if let Some(set_error) = set_error {
        // SAFETY: the caller's function and context; both texts live through the call.
        unsafe { set_error(context, kind.as_ptr(), text.as_ptr()) };
    }
    // SAFETY: as above.
    unsafe { out.write(std::ptr::null_mut()) };
    -1
}

fn null_prototype() -> Result<NonNull<DLManagedTensorVersioned>> {
    Err(Error::buffer("managed_tensor_allocator: the prototype is null"))
}

/// Cached result for a type, by its address. The types are kept alive forever (there are at most `SLOTS`), so that
/// the address of a type is never reused.
struct Slot {
    class: AtomicPtr<ffi::PyTypeObject>,
    /// 0 while it is being filled, `NO_TABLE`, `PLAIN`, or the address of the type's table, plus `LAZY` if the values
    /// of its objects can differ from the content of their memory.
    known: AtomicUsize,
}

const SLOTS: usize = 128;
const NO_TABLE: usize = 1;
const PLAIN: usize = 2;
const LAZY: usize = 1;

static KNOWN: [Slot; SLOTS] =
    [const { Slot { class: AtomicPtr::new(std::ptr::null_mut()), known: AtomicUsize::new(0) } }; SLOTS];

/// Exchange support of a type.
#[derive(Clone, Copy)]
pub(crate) enum Offer {
    /// Its values are on the host, and it has no device protocol.
    Plain,
    /// Exchange table.
    Table(&'static DLPackExchangeAPI),
    /// Possibly another protocol.
    Unknown,
}

/// Returns the exchange support of an object's type.
///
/// # Errors
/// Errors of reading the attribute, other than a missing attribute; `BufferError` for a tensor whose values differ
/// from the content of its memory.
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
        // SAFETY: `find_table` returned the address, and tables live as long as the process.
        address => Ok(Offer::Table(unsafe { &*((address & !LAZY) as *const DLPackExchangeAPI) })),
    }
}

/// PyTorch's table exports tensors that its `__dlpack__` rejects: tensors that require gradients, and tensors with a
/// lazy conjugation or negation. The former are left to `__dlpack__`.
///
/// # Errors
/// `BufferError` for the latter: neither `__dlpack__` nor the CUDA array interface checks both flags, and the
/// imported values would be wrong.
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

/// Returns whether a class is one of Python's numbers, strings and containers, or of NumPy's.
fn is_plain(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let module = class.getattr(intern!(py, "__module__"))?;
    if module.eq(intern!(py, "builtins"))? {
        return Ok(true);
    }
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    // If NumPy was never imported, no object is of its types, and importing it here would be expensive.
    let Ok(numpy) = modules.get_item(intern!(py, "numpy")) else { return Ok(false) };
    for name in [intern!(py, "ndarray"), intern!(py, "generic")] {
        if class.is_subclass(&numpy.getattr(name)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the table of a type, in the newest supported version. An invalid table is ignored, because `__dlpack__`
/// may work.
fn find_table(class: &Bound<'_, PyType>) -> PyResult<Option<NonNull<DLPackExchangeAPI>>> {
    const LONGEST_CHAIN: usize = 16;
    let Some(attribute) = class.getattr_opt(intern!(class.py(), "__dlpack_c_exchange_api__"))? else { return Ok(None) };
    // SAFETY: a live object; a capsule of that name contains a table that lives as long as the process.
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
            // SAFETY: a table of the supported major version.
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

/// Takes an object's tensor through the table of its type, and makes `ready` wait for the producer's work.
///
/// # Errors
/// The producer's errors; `BufferError` for a tensor that cannot be imported.
pub(crate) fn take(object: &Bound<'_, PyAny>, table: &DLPackExchangeAPI) -> PyResult<Tensor> {
    let py = object.py();
    let mut out = std::ptr::null_mut();
    let status = match table.managed_tensor_from_py_object_no_sync {
        // SAFETY: the object has the type of the table, and the GIL is held.
        Some(export) => unsafe { export(object.as_ptr().cast(), &raw mut out) },
        None => -1,
    };
    match NonNull::new(out) {
        // SAFETY: the producer transferred the ownership of the tensor.
        Some(tensor) if status == 0 => Ok(unsafe { Tensor::versioned(tensor) }?),
        _ => Err(raised(py, "managed_tensor_from_py_object_no_sync")),
    }
}

/// Makes a stream wait for the work of the producer with this table.
///
/// # Errors
/// The producer's errors; errors of the driver.
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
