//! Implements PyGPU's allocator for NumPy arrays (NEP 49), which reuses the memory of an array after the last reference
//! to the array is released.

use std::ffi::{c_char, c_void};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::py_once::PyOnce;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_memory::host_block_cache;

/// NumPy's `PyDataMem_Handler`, version 1.
#[repr(C)]
struct DataMemHandler {
    name: [u8; 127],
    version: u8,
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

// SAFETY: threads may share the handler, because its context pointer is null and its functions may be called on any
// thread.
unsafe impl Sync for DataMemHandler {}

static HANDLER: DataMemHandler = DataMemHandler {
    name: name(),
    version: 1,
    context: std::ptr::null_mut(),
    malloc: allocate,
    calloc: allocate_zeroed,
    realloc: reallocate,
    free: release,
};

const fn name() -> [u8; 127] {
    let (mut name, text) = ([0; 127], b"PyGPU results");
    let mut index = 0;
    while index < text.len() {
        name[index] = text[index];
        index += 1;
    }
    name
}

unsafe extern "C" fn allocate(_: *mut c_void, bytes: usize) -> *mut c_void {
    catch_panic(std::ptr::null_mut(), || {
        host_block_cache::allocate(bytes).map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
    })
}

unsafe extern "C" fn allocate_zeroed(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    catch_panic(std::ptr::null_mut(), || {
        let Some(bytes) = count.checked_mul(size) else { return std::ptr::null_mut() };
        // SAFETY: NumPy passes valid sizes, as `allocate` requires, and the memory that `allocate` returned has that
        // many bytes.
        unsafe {
            let memory = allocate(context, bytes);
            if !memory.is_null() {
                memory.cast::<u8>().write_bytes(0, bytes);
            }
            memory
        }
    })
}

unsafe extern "C" fn reallocate(context: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    catch_panic(std::ptr::null_mut(), || {
        let size = host_block_cache::size(old.expose_provenance());
        if bytes <= size && bytes > size / 2 {
            return old;
        }
        // SAFETY: NumPy passes memory that `allocate` returned, and does not use the old address after a successful
        // reallocation.
        unsafe {
            let new = allocate(context, bytes);
            if !new.is_null() {
                new.cast::<u8>().copy_from_nonoverlapping(old.cast(), size.min(bytes));
                release(context, old, size);
            }
            new
        }
    })
}

unsafe extern "C" fn release(_: *mut c_void, memory: *mut c_void, _: usize) {
    // NumPy may call this function without the GIL; the function does not need the GIL.
    // SAFETY: NumPy frees each result of `allocate` only once.
    catch_panic((), || unsafe { host_block_cache::free(memory.expose_provenance()) });
}

/// Type of `PyDataMem_SetHandler`, which sets the handler for new arrays of the thread and returns the previous
/// handler.
type SetHandler = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

/// Returns `PyDataMem_SetHandler`, and PyGPU's handler as its argument.
fn handler(py: Python<'_>) -> PyResult<&(SetHandler, Py<PyAny>)> {
    /// Index of `PyDataMem_SetHandler` in NumPy's function table, since NumPy 1.22.
    const SET_HANDLER: usize = 304;
    static HANDLER_FUNCTION: PyOnce<(SetHandler, Py<PyAny>)> = PyOnce::new();
    HANDLER_FUNCTION.get_or_try_init(py, || {
        let module =
            py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let table = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        // SAFETY: NumPy's static table contains `PyDataMem_SetHandler` at this index in every supported version. The
        // capsule that is passed to NumPy has the name that NumPy requires, and contains the address of a static
        // handler.
        unsafe {
            let table = ffi::PyCapsule_GetPointer(table.as_ptr(), std::ptr::null()).cast::<*const c_void>();
            if table.is_null() {
                return Err(PyErr::fetch(py));
            }
            let set = std::mem::transmute::<*const c_void, SetHandler>(table.add(SET_HANDLER).read());
            let name: *const c_char = c"mem_handler".as_ptr();
            let capsule = ffi::PyCapsule_New((&raw const HANDLER).cast_mut().cast(), name, None);
            Ok((set, Bound::from_owned_ptr_or_err(py, capsule)?.unbind()))
        }
    })
}

/// Runs `make`. Ndarrays that `make` creates use this allocator.
///
/// # Errors
/// The errors of NumPy.
pub(crate) fn with_allocator<T>(py: Python<'_>, make: impl FnOnce() -> T) -> PyResult<T> {
    let (set, handler_object) = handler(py)?;
    // SAFETY: the capsule contains PyGPU's handler. NumPy returns a new reference to the previous handler, which this
    // function sets again after `make`.
    unsafe {
        let previous = Bound::from_owned_ptr_or_err(py, set(handler_object.as_ptr()))?;
        let result = make();
        let handler_object = Bound::from_owned_ptr_or_err(py, set(previous.as_ptr()))?;
        drop(handler_object);
        Ok(result)
    }
}
