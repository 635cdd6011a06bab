//! Defines DLPack's C exchange table: PyGPU's table, which is generated from a trait, and tables of other libraries.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use super::capsule;
use super::interpreter::run_as_c_function;
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::catch_panic;
use pygpu_interop::dlpack::VERSION;
use pygpu_interop::dlpack::ffi::{
    DLDeviceType, DLManagedTensorVersioned, DLPackExchangeAPI, DLPackExchangeAPIHeader, DLTensor,
};
use pygpu_interop::dlpack::import::{ImportedTensor, allocate_like};

/// Name of the capsule that contains an exchange table.
pub(crate) const NAME: &CStr = c"dlpack_exchange_api";

/// Rust functions that implement the C functions of DLPack's exchange table ([`OwnExchangeTable`]). Callers may pass
/// objects of other types than arrays.
pub(crate) trait Exchange {
    /// Creates a tensor that describes an array object; the consumer owns the tensor.
    ///
    /// # Errors
    /// An error for an object that is no array; driver errors.
    fn export(py: Python<'_>, object: Option<Bound<'_, PyAny>>) -> PyResult<NonNull<DLManagedTensorVersioned>>;

    /// Creates a Python object from a tensor.
    ///
    /// # Errors
    /// An error for a tensor that cannot be imported.
    fn import(py: Python<'_>, tensor: ImportedTensor) -> PyResult<Bound<'_, PyAny>>;

    /// Returns a tensor that describes an array object. The tensor is valid while the object lives, and the caller does
    /// not own it.
    ///
    /// # Errors
    /// The errors of [`Self::export`].
    fn borrow_tensor(py: Python<'_>, object: Option<Bound<'_, PyAny>>) -> PyResult<DLTensor>;

    /// Returns the driver handle of the thread's current stream on a device.
    ///
    /// # Errors
    /// An error for an unknown device.
    fn current_stream(py: Python<'_>, device_type: DLDeviceType, id: i32) -> PyResult<usize>;
}

/// PyGPU's exchange table. The table is static, is shared by all threads, and is never modified.
#[repr(transparent)]
pub(crate) struct OwnExchangeTable(DLPackExchangeAPI);

// SAFETY: threads may share the table, because it contains only addresses of functions and a null pointer.
unsafe impl Sync for OwnExchangeTable {}

impl OwnExchangeTable {
    pub(crate) const fn new<E: Exchange>() -> Self {
        Self(DLPackExchangeAPI {
            header: DLPackExchangeAPIHeader { version: VERSION, prev_api: std::ptr::null_mut() },
            managed_tensor_allocator: Some(allocate),
            managed_tensor_from_py_object_no_sync: Some(from_object::<E>),
            managed_tensor_to_py_object_no_sync: Some(to_object::<E>),
            dltensor_from_py_object_no_sync: Some(borrow_tensor::<E>),
            current_work_stream: Some(current_work_stream::<E>),
        })
    }
}

unsafe extern "C" fn from_object<E: Exchange>(object: *mut c_void, out: *mut *mut DLManagedTensorVersioned) -> c_int {
    // SAFETY: DLPack's contract obliges the caller to pass a live object, and an address to which the result may be
    // written.
    unsafe {
        run_as_c_function(|py| {
            out.write(E::export(py, Bound::from_borrowed_ptr_or_opt(py, object.cast()))?.as_ptr());
            // The flush launches the operations that this thread deferred during the export. If a launch fails, the
            // error becomes a fault of the affected blocks, and the exported tensor stays valid.
            pygpu_base::flush_points::flush(pygpu_base::flush_points::FlushReason::Values);
            Ok(())
        })
    }
}

unsafe extern "C" fn to_object<E: Exchange>(tensor: *mut DLManagedTensorVersioned, out: *mut *mut c_void) -> c_int {
    // SAFETY: DLPack's contract obliges the caller to pass a live tensor, and an address to which the result may be
    // written; a null tensor is rejected. PyGPU owns the tensor even if the import fails.
    unsafe {
        run_as_c_function(|py| {
            let tensor = NonNull::new(tensor).ok_or_else(|| PyBufferError::new_err("the DLPack tensor is null"))?;
            out.write(E::import(py, ImportedTensor::versioned(tensor)?)?.into_ptr().cast());
            Ok(())
        })
    }
}

unsafe extern "C" fn borrow_tensor<E: Exchange>(object: *mut c_void, out: *mut DLTensor) -> c_int {
    // SAFETY: DLPack's contract obliges the caller to pass a live object, and an address to which the result may be
    // written. The dimensions live as long as the array object, which is longer than the table requires.
    unsafe {
        run_as_c_function(|py| {
            out.write(E::borrow_tensor(py, Bound::from_borrowed_ptr_or_opt(py, object.cast()))?);
            // Launches the operations that this thread deferred while it exported a tensor.
            pygpu_base::flush_points::flush(pygpu_base::flush_points::FlushReason::Values);
            Ok(())
        })
    }
}

unsafe extern "C" fn current_work_stream<E: Exchange>(
    device_type: DLDeviceType,
    id: i32,
    out: *mut *mut c_void,
) -> c_int {
    // SAFETY: DLPack's contract obliges the caller to pass an address to which the result may be written.
    unsafe {
        run_as_c_function(|py| {
            out.write(E::current_stream(py, device_type, id)? as *mut c_void);
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
        // SAFETY: DLPack's contract obliges the caller to pass a prototype tensor that is readable or null. Python code
        // runs only in a user's allocator, and the FFI guard of that allocator acquires the GIL. Therefore the caller
        // need not hold the GIL.
        unsafe { NonNull::new(prototype).map_or_else(null_prototype, |prototype| allocate_like(prototype.as_ref())) }
    };
    let result = catch_panic(None, || Some(make()));
    let error = match result {
        Some(Ok(tensor)) => {
            // SAFETY: DLPack's contract obliges the caller to pass an address to which the result may be written.
            unsafe { out.write(tensor.as_ptr()) };
            return 0;
        }
        Some(Err(error)) => error,
        None => Error::buffer("managed_tensor_allocator: a defect of PyGPU; see the text on stderr"),
    };
    let kind = if matches!(error, Error::OutOfMemory(_)) { c"MemoryError" } else { c"BufferError" };
    let text = CString::new(error.to_string()).unwrap_or_default();
    if let Some(set_error) = set_error {
        // SAFETY: the caller passed the error function together with its context, and both strings live during the
        // call.
        unsafe { set_error(context, kind.as_ptr(), text.as_ptr()) };
    }
    // SAFETY: DLPack's contract obliges the caller to pass an address to which the result may be written.
    unsafe { out.write(std::ptr::null_mut()) };
    -1
}

fn null_prototype() -> Result<NonNull<DLManagedTensorVersioned>> {
    Err(Error::buffer("managed_tensor_allocator: the prototype is null"))
}

/// Exchange table of a type of another library. The table lives as long as the process.
#[derive(Clone, Copy)]
pub(crate) struct ForeignExchangeTable(&'static DLPackExchangeAPI);

impl ForeignExchangeTable {
    /// Returns the table that a capsule contains, in the newest version that PyGPU supports; `None` for an object that
    /// is no such capsule.
    pub(crate) fn from_capsule(attribute: &Bound<'_, PyAny>) -> Option<Self> {
        const LONGEST_CHAIN: usize = 16;
        let header = capsule::pointer(attribute, NAME)?;
        let mut header: *mut DLPackExchangeAPIHeader = header.as_ptr().cast();
        for _ in 0..LONGEST_CHAIN {
            // SAFETY: a capsule with this name contains a table, which lives as long as the process. In every version,
            // the table begins with a header of this type.
            let Some(api) = (unsafe { header.as_ref() }) else { break };
            if api.version.major == VERSION.major {
                let table = NonNull::from(api).cast::<DLPackExchangeAPI>();
                // SAFETY: the table's header contains the supported major version, and all tables of this version have
                // this type.
                let complete: &'static DLPackExchangeAPI = unsafe { table.as_ref() };
                let usable =
                    complete.managed_tensor_from_py_object_no_sync.is_some() && complete.current_work_stream.is_some();
                return usable.then_some(Self(complete));
            }
            header = api.prev_api;
        }
        None
    }

    /// Returns the address of the table. [`Self::from_address`] accepts this address.
    pub(crate) fn address(self) -> usize {
        std::ptr::from_ref(self.0).expose_provenance()
    }

    /// Returns the table at an address.
    ///
    /// # Safety
    /// `address` is a result of [`Self::address`].
    pub(crate) unsafe fn from_address(address: usize) -> Self {
        // SAFETY: the caller passes the address of a table, and tables live as long as the process.
        Self(unsafe { &*std::ptr::with_exposed_provenance(address) })
    }

    /// Exports an object as a tensor. The table must belong to the object's type.
    ///
    /// # Errors
    /// The producer's error; `BufferError` for a tensor that cannot be imported.
    pub(crate) fn take(self, object: &Bound<'_, PyAny>) -> PyResult<ImportedTensor> {
        let mut out = std::ptr::null_mut();
        let status = match self.0.managed_tensor_from_py_object_no_sync {
            // SAFETY: the caller looked up the table by the object's type, and holds the GIL.
            Some(export) => unsafe { export(object.as_ptr().cast(), &raw mut out) },
            None => -1,
        };
        match NonNull::new(out) {
            // SAFETY: the export succeeded, so the producer has transferred the ownership of the tensor to the caller.
            Some(tensor) if status == 0 => Ok(unsafe { ImportedTensor::versioned(tensor) }?),
            _ => Err(producer_error(object.py(), "managed_tensor_from_py_object_no_sync")),
        }
    }

    /// Returns the handle of the stream on which the producer works on a device.
    ///
    /// # Errors
    /// The producer's error.
    pub(crate) fn current_stream(self, py: Python<'_>, (device_type, id): (u32, i32)) -> PyResult<usize> {
        let mut work = std::ptr::null_mut();
        let status = match self.0.current_work_stream {
            // SAFETY: the function comes from the exchange table, the result is written to the local variable `work`,
            // and this thread holds the GIL.
            Some(function) => unsafe { function(DLDeviceType(device_type), id, &raw mut work) },
            None => -1,
        };
        if status != 0 {
            return Err(producer_error(py, "current_work_stream"));
        }
        Ok(work as usize)
    }
}

fn producer_error(py: Python<'_>, function: &str) -> PyErr {
    PyErr::take(py)
        .unwrap_or_else(|| PyBufferError::new_err(format!("the producer's {function} failed without a reason")))
}
