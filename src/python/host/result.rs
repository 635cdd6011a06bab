//! Result ndarrays over cached memory.
//!
//! NumPy supports custom allocators (NEP 49). Such an array owns its memory like any other (`OWNDATA`, no `base`,
//! `resize`), and returns it to `memory::recycled` when it is freed.

use std::ffi::{c_char, c_int, c_void};

use numpy::PyUntypedArray;
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::convert::dtype;
use crate::once::PyOnce;
use crate::once::intern;
use pygpu_base::dtype::DType;
use pygpu_base::ffi_guard::caught;
use pygpu_base::small_sort;
use pygpu_layout::{Dims, Layout};
use pygpu_memory::recycled;

/// NumPy's `PyDataMem_Handler`, version 1.
#[repr(C)]
struct Handler {
    name: [u8; 127],
    version: u8,
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

// SAFETY: the context is null, and the functions may be called by any thread.
unsafe impl Sync for Handler {}

static HANDLER: Handler = Handler {
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
    let mut place = 0;
    while place < text.len() {
        name[place] = text[place];
        place += 1;
    }
    name
}

unsafe extern "C" fn allocate(_: *mut c_void, bytes: usize) -> *mut c_void {
    caught(std::ptr::null_mut(), || {
        recycled::allocate(bytes).map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
    })
}

unsafe extern "C" fn allocate_zeroed(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    caught(std::ptr::null_mut(), || {
        let Some(bytes) = count.checked_mul(size) else { return std::ptr::null_mut() };
        // SAFETY: as for any caller; the memory has this size.
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
    caught(std::ptr::null_mut(), || {
        let size = recycled::size(old.expose_provenance());
        if bytes <= size && bytes > size / 2 {
            return old;
        }
        // SAFETY: NumPy passes a result of `allocate`, and does not use it any more if this succeeds.
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
    // The GIL may not be held, and is not needed.
    // SAFETY: NumPy passes a result of `allocate`, once.
    caught((), || unsafe { recycled::free(memory.expose_provenance()) });
}

/// `PyDataMem_SetHandler`: takes the handler for the thread's new arrays and returns the previous one.
type SetHandler = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

/// NumPy's function, and PyGPU's handler as a capsule.
fn handler(py: Python<'_>) -> PyResult<&(SetHandler, Py<PyAny>)> {
    /// Index of the function in NumPy's API table, since 1.22.
    const SET_HANDLER: usize = 304;
    static FOUND: PyOnce<(SetHandler, Py<PyAny>)> = PyOnce::new();
    FOUND.get_or_try_init(py, || {
        let module =
            py.import("numpy._core._multiarray_umath").or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let table = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        // SAFETY: NumPy's static API table contains this function at this index in every supported version. The capsule
        // has the name that NumPy requires for handlers, and points to a static.
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

/// Creates an uninitialized ndarray in C or F order; large ones over cached memory.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn new_dense<'py>(
    py: Python<'py>,
    shape: &mut Dims,
    dtype: DType,
    fortran: bool,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let bytes = shape.iter().try_fold(dtype.itemsize() as i64, |bytes, len| bytes.checked_mul(*len));
    if bytes.is_none_or(|bytes| bytes < recycled::LEAST as i64) {
        return empty(py, shape, dtype, fortran);
    }
    let (set, ours) = handler(py)?;
    // SAFETY: the capsule is a handler; NumPy returns a new reference to the previous one, which is set again below.
    unsafe {
        let before = Bound::from_owned_ptr_or_err(py, set(ours.as_ptr()))?;
        let array = empty(py, shape, dtype, fortran);
        let ours = Bound::from_owned_ptr_or_err(py, set(before.as_ptr()))?;
        drop(ours);
        array
    }
}

fn empty<'py>(py: Python<'py>, shape: &mut Dims, dtype: DType, fortran: bool) -> PyResult<Bound<'py, PyUntypedArray>> {
    let descr = dtype::to_python(py, dtype)?.into_ptr();
    // SAFETY: the shape has the given length; `PyArray_Empty` takes ownership of the reference to the dtype; null means
    // an exception.
    unsafe {
        let shape_pointer = shape.as_mut_ptr().cast::<npy_intp>();
        let array = PY_ARRAY_API.PyArray_Empty(py, shape.len() as c_int, shape_pointer, descr.cast(), fortran.into());
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    }
}

/// Creates an uninitialized, dense ndarray whose axes have the memory order of `like`.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn empty_like<'py>(py: Python<'py>, like: &Layout, dtype: DType) -> PyResult<Bound<'py, PyUntypedArray>> {
    let dense = like.dense_like();
    let mut shape: Dims = dense.shape().collect();
    if dense.is_c_contiguous() || dense.is_f_contiguous() {
        return new_dense(py, &mut shape, dtype, !dense.is_c_contiguous());
    }
    // NumPy can only allocate C and F order: the axes are created in memory order and then permuted.
    let mut order: Vec<usize> = (0..dense.ndim()).collect();
    small_sort::sort_by_key(&mut order, |&axis| std::cmp::Reverse(dense.axes()[axis].stride));
    let mut sorted: Dims = order.iter().map(|&axis| shape[axis]).collect();
    let array = new_dense(py, &mut sorted, dtype, false)?;
    let mut back = vec![0; order.len()];
    for (position, &axis) in order.iter().enumerate() {
        back[axis] = position;
    }
    let owner = array.call_method1(intern!(py, "transpose"), (back,))?;
    Ok(owner.cast_into::<PyUntypedArray>()?)
}
