//! DLPack's C exchange table: PyGPU's own table, which is the class attribute `__dlpack_c_exchange_api__`, and the
//! tables of other libraries.
//!
//! The exchange table of a type allows exchanging tensors without calling Python. The functions in the table do not
//! synchronize. Therefore a consumer orders its work after the stream that `current_work_stream` returns, as
//! `order_after` does.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple, PyType, PyWeakrefReference};

use crate::array::class::{GpuArray, new_exact};
use crate::ffi::capsule;
use crate::ffi::dlpack_exchange_table::{Exchange, ForeignExchangeTable, NAME, OwnExchangeTable};
use crate::ffi::objects::class_of;
use crate::fusion;
use crate::gil::WithoutGil;
use crate::py_once::{PyOnce, intern};
use crate::runtime::stream_check;
use pygpu_array::Array;
use pygpu_backend::{BackendKind, StreamHandle};
use pygpu_base::flush_points::FlushReason;
use pygpu_device::stream;
use pygpu_interop::dlpack::ffi::{DLDeviceType, DLManagedTensorVersioned, DLTensor};
use pygpu_interop::dlpack::import::ImportedTensor;
use pygpu_interop::dlpack::{self, DlpackFlags, export};
use pygpu_interop::stream_numbers;

static TABLE: OwnExchangeTable = OwnExchangeTable::new::<ArrayExchange>();

#[pymethods]
impl GpuArray {
    /// DLPack's C exchange table, for libraries that exchange tensors without calling Python.
    #[classattr]
    fn __dlpack_c_exchange_api__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        capsule::from_static(py, &TABLE, NAME)
    }
}

fn expect_array(object: Option<Bound<'_, PyAny>>) -> PyResult<Bound<'_, GpuArray>> {
    match object.map(Bound::cast_into::<GpuArray>) {
        Some(Ok(array)) => Ok(array),
        _ => Err(PyTypeError::new_err("the DLPack exchange table of GPUArray takes GPUArray objects")),
    }
}

/// Makes the stream returned by `current_work_stream` wait for the array's last use on other streams, and records a use
/// on that stream. The record is needed because the consumer enqueues its work on that stream, or on a stream that
/// waits for it. If only one stream is in use, the function costs one comparison.
fn order_current_stream(py: Python<'_>, array: &Array) -> PyResult<()> {
    let (device, allocation) = (array.device(), array.allocation());
    if device.is_cpu() {
        return Ok(());
    }
    let current = stream::current(device);
    if allocation.is_in_order_of(&current) {
        return Ok(());
    }
    Ok(py.without_gil(|| allocation.order_before(array.exported_access(), &current))?)
}

/// Implementation of DLPack's exchange table for `GPUArray` objects.
struct ArrayExchange;

impl Exchange for ArrayExchange {
    fn export(py: Python<'_>, object: Option<Bound<'_, PyAny>>) -> PyResult<NonNull<DLManagedTensorVersioned>> {
        let array = expect_array(object)?;
        let array = array.get().array(py)?;
        order_current_stream(py, array)?;
        let current = stream::current(array.device());
        if !array.device().is_cpu() && stream_check::is_on() {
            stream_check::hand_over(py, array, Some(&current), "the exchange table");
        }
        Ok(export::versioned(array, DlpackFlags::empty(), Some(current))?)
    }

    fn import(py: Python<'_>, tensor: ImportedTensor) -> PyResult<Bound<'_, PyAny>> {
        let ready = stream::own_current(tensor.device()?);
        let array = tensor.into_array(ready)?;
        if !array.device().is_cpu() && stream_check::is_on() {
            stream_check::check_import(py, None, &array)?;
        }
        Ok(new_exact(py, GpuArray::from_array(array))?.into_any())
    }

    fn borrow_tensor(py: Python<'_>, object: Option<Bound<'_, PyAny>>) -> PyResult<DLTensor> {
        let array = expect_array(object)?;
        let array_data = array.get().array(py)?;
        order_current_stream(py, array_data)?;
        Ok(array.get().dlpack_dimensions().lend(array_data)?)
    }

    fn current_stream(py: Python<'_>, device_type: DLDeviceType, id: i32) -> PyResult<usize> {
        // The stream's pending operations are launched before the stream is returned, because the consumer may wait for
        // the stream or measure its time.
        fusion::flush_pending(py, FlushReason::StreamSync);
        let device = dlpack::device_of(device_type.0.into(), id.into())?;
        Ok(stream::current(device).handle().0)
    }
}

/// Cache entry that contains how objects of one type can be exchanged, found by the type's address. The entry is cleared
/// when the type is deleted, because another type may then have its address.
struct TypeCacheSlot {
    class: AtomicPtr<ffi::PyTypeObject>,
    /// 0 while a thread fills this cache entry; otherwise `NO_TABLE`, `PLAIN`, or the address of the type's table.
    /// `LAZY` is added to the address if the values of the type's objects can differ from the content of their memory.
    support: AtomicUsize,
}

const SLOTS: usize = 128;
const NO_TABLE: usize = 1;
const PLAIN: usize = 2;
const LAZY: usize = 1;

static TYPE_CACHE: [TypeCacheSlot; SLOTS] =
    [const { TypeCacheSlot { class: AtomicPtr::new(std::ptr::null_mut()), support: AtomicUsize::new(0) } }; SLOTS];

/// The protocol by which objects of a type can be imported.
#[derive(Clone, Copy)]
pub(crate) enum ExchangeOffer {
    /// Values of the type are on the host, and the type has no device protocol.
    Plain,
    /// The type has an exchange table.
    Table(ForeignExchangeTable),
    /// The type has no exchange table; its objects may support another protocol.
    Unknown,
}

/// Returns the exchange support of an object's type.
///
/// # Errors
/// Errors of reading the attribute, except for a missing attribute; `BufferError` for a tensor whose values differ from
/// the content of its memory (lazy conjugation or negation).
#[inline]
pub(crate) fn exchange_offer(object: &Bound<'_, PyAny>) -> PyResult<ExchangeOffer> {
    let class = class_of(object);
    let slot = &TYPE_CACHE[(class as usize >> 4) % SLOTS];
    if slot.class.load(Ordering::Acquire) == class {
        match slot.support.load(Ordering::Acquire) {
            0 => {}
            support => return decode(object, support),
        }
    }
    decode(object, lookup(&object.get_type(), slot)?)
}

#[inline]
fn decode(object: &Bound<'_, PyAny>, support: usize) -> PyResult<ExchangeOffer> {
    match support {
        NO_TABLE => Ok(ExchangeOffer::Unknown),
        PLAIN => Ok(ExchangeOffer::Plain),
        address if address & LAZY != 0 && rejects_its_table(object)? => Ok(ExchangeOffer::Unknown),
        // SAFETY: `find_table` returned the address, and tables live as long as the process.
        address => Ok(ExchangeOffer::Table(unsafe { ForeignExchangeTable::from_address(address & !LAZY) })),
    }
}

/// Returns whether a PyTorch tensor requires gradients. PyTorch's exchange table exports such a tensor without an
/// error, but PyTorch's method `__dlpack__` rejects the tensor. The caller then imports through `__dlpack__`, so that
/// the user receives PyTorch's error.
///
/// # Errors
/// `BufferError` for a tensor that PyTorch conjugates or negates only when it reads the elements. The imported values
/// would be wrong: the exchange table checks neither property, and `__dlpack__` and the CUDA array interface do not
/// check both properties.
fn rejects_its_table(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
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
fn lookup(class: &Bound<'_, PyType>, slot: &'static TypeCacheSlot) -> PyResult<usize> {
    let support = if is_plain(class)? {
        PLAIN
    } else {
        match find_table(class)? {
            Some(table) => table.address() | if is_lazy(class)? { LAZY } else { 0 },
            None => NO_TABLE,
        }
    };
    let key = class.as_type_ptr();
    if slot.class.compare_exchange(std::ptr::null_mut(), key, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        match clear_at_deletion(class, slot) {
            Ok(()) => slot.support.store(support, Ordering::Release),
            Err(error) => {
                slot.class.store(std::ptr::null_mut(), Ordering::Release);
                return Err(error);
            }
        }
    }
    Ok(support)
}

/// Weak references to the types in the cache, by the address of the type. A weak reference must exist when its type is
/// deleted; otherwise Python does not call its function.
static TYPE_REFERENCES: PyOnce<Py<PyDict>> = PyOnce::new();

/// Makes Python clear a cache entry when its type is deleted. A strong reference would keep the type's attributes, which
/// may be arrays, until the end of the process.
fn clear_at_deletion(class: &Bound<'_, PyType>, slot: &'static TypeCacheSlot) -> PyResult<()> {
    let py = class.py();
    let references = TYPE_REFERENCES.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let address = class.as_type_ptr() as usize;
    let clear = PyCFunction::new_closure(py, None, None, move |arguments: &Bound<'_, PyTuple>, _| {
        slot.support.store(0, Ordering::Release);
        slot.class.store(std::ptr::null_mut(), Ordering::Release);
        TYPE_REFERENCES
            .get(arguments.py())
            .map_or(Ok(()), |references| references.bind(arguments.py()).del_item(address))
    })?;
    references.set_item(address, PyWeakrefReference::new_with(class, clear)?)
}

/// Returns whether a class is one of the number, string and container classes of Python or NumPy.
fn is_plain(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let py = class.py();
    let module = class.getattr(intern!(py, "__module__"))?;
    if module.eq(intern!(py, "builtins"))? {
        return Ok(true);
    }
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    // If NumPy was never imported, no object has a NumPy type, and importing NumPy here would be expensive.
    let Ok(numpy) = modules.get_item(intern!(py, "numpy")) else { return Ok(false) };
    for name in [intern!(py, "ndarray"), intern!(py, "generic")] {
        if class.is_subclass(&numpy.getattr(name)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the exchange table of a type, in the newest supported version. An invalid table is ignored, because
/// importing through `__dlpack__` may work.
fn find_table(class: &Bound<'_, PyType>) -> PyResult<Option<ForeignExchangeTable>> {
    let attribute = class.getattr_opt(intern!(class.py(), "__dlpack_c_exchange_api__"))?;
    Ok(attribute.and_then(|attribute| ForeignExchangeTable::from_capsule(&attribute)))
}

/// Makes a stream wait for the work of the library that provides an exchange table.
///
/// # Errors
/// Errors of the producer and of the driver.
pub(crate) fn order_after(py: Python<'_>, table: ForeignExchangeTable, ready: &stream::Stream) -> PyResult<()> {
    let device = ready.device();
    if device.is_cpu() {
        return Ok(());
    }
    let handle = match (device.kind(), table.current_stream(py, dlpack::code_of(device))?) {
        (BackendKind::Cuda, 1) => StreamHandle::DEFAULT,
        (_, handle) => StreamHandle(handle),
    };
    if handle == ready.handle() {
        return Ok(());
    }
    Ok(py.without_gil(|| ready.wait_for(&stream_numbers::borrowed(device, handle)))?)
}
