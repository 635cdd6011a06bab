//! Construction of array objects, with a fast path for exact `GPUArray` objects.
//!
//! pyo3 creates an object through `tp_alloc`, which on Python 3.11 and 3.12 immediately creates the instance's
//! `__dict__` and looks slots up by number. This costs more than a view. `new_exact` allocates from the garbage
//! collector and writes the value, as pyo3 does after its allocation. `tests/memory/test_lifetime.py` verifies that
//! such objects are collected, weakly referenced and given attributes like any other.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use once_cell::race::OnceBox;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;

use super::GpuArray;
use crate::once::intern;
use pygpu_array::{Array, Ground};
use pygpu_base::dtype::DType;
use pygpu_interop::dlpack::LentDimensions;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

/// Offset of the value in pyo3's object: directly after the header.
const VALUE_OFFSET: usize = size_of::<ffi::PyObject>().next_multiple_of(align_of::<GpuArray>());

/// Size of pyo3's slots for `__dict__` and weak references, which follow the value.
const SLOTS: usize = 2 * size_of::<*mut ffi::PyObject>();

/// A layout probe: pyo3's object for `GpuArray` without a value. The collector may visit it during its creation: the
/// first object with a `__dict__` is tracked, after which pyo3 releases the GIL to determine the Python version.
#[pyclass(frozen, subclass, weakref, dict, name = "_Twin", module = "PyGPU")]
struct Twin(MaybeUninit<GpuArray>);

/// Checks the layout of an object created by pyo3 against the assumptions of `allocate_exact`. On a mismatch the module
/// is not imported.
pub(crate) fn check_object_layout(py: Python<'_>) -> PyResult<()> {
    let object = Bound::new(py, Twin(MaybeUninit::uninit()))?;
    let offset = object.get().0.as_ptr() as usize - object.as_ptr() as usize;
    let size: usize = GpuArray::type_object(py).getattr("__basicsize__")?.extract()?;
    if (offset, size) == (VALUE_OFFSET, VALUE_OFFSET + size_of::<GpuArray>() + SLOTS) {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "GPUArray objects have their value at byte {offset} of {size}; PyGPU was built for byte {VALUE_OFFSET}"
    )))
}

/// Creates an exact `GPUArray`.
#[inline]
pub(crate) fn new_exact(py: Python<'_>, value: GpuArray) -> PyResult<Bound<'_, GpuArray>> {
    // SAFETY: the value is written into memory reserved for it, which completes the object.
    unsafe {
        let (object, slot) = allocate_exact(py)?;
        slot.write(value);
        ffi::PyObject_GC_Track(object.cast());
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}

/// Creates an exact `GPUArray` at a placement, with a layout whose offset counts from element zero; see [`Ground`].
#[inline]
pub(crate) fn new_at<'py>(
    py: Python<'py>,
    ground: Ground,
    layout: &Layout,
    dtype: DType,
    base: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let Ground { allocation, shift, readonly, keeper } = ground;
    // SAFETY: the function writes a complete array.
    let write = |slot| unsafe { Array::write_new(slot, allocation, dtype) };
    // SAFETY: as above.
    unsafe { write_exact(py, base, write, |array| Ok(array.settle(layout, shift, readonly, keeper)?)) }
}

/// Creates an exact `GPUArray` over a block, written directly into the object; see `Array::write_view`.
#[inline]
pub(crate) fn new_on<'py>(
    py: Python<'py>,
    allocation: Arc<Allocation>,
    dtype: DType,
    set: impl FnOnce(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: a complete array is written; the caller sets the layout, as in `new_view_with`.
    let (write, set) = (
        |slot| unsafe { Array::write_new(slot, allocation, dtype) },
        |array: &mut Array| set(unsafe { array.layout_mut() }),
    );
    // SAFETY: as above.
    unsafe { write_exact(py, None, write, set) }
}

/// Creates an exact `GPUArray`. `write` writes the array and `set` sets the remaining state.
///
/// # Safety
/// `write` must write a complete array into its slot.
#[inline(always)]
unsafe fn write_exact<'py>(
    py: Python<'py>,
    base: Option<Py<PyAny>>,
    write: impl FnOnce(*mut Array),
    set: impl FnOnce(&mut Array) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: every field is written before any other code sees the object. It is not tracked yet, so that the
    // collector does not visit it while `set` runs Python code. If `set` fails, a complete object is dropped.
    unsafe {
        let (object, value) = allocate_exact(py)?;
        write((&raw mut (*value).array).cast());
        (&raw mut (*value).base).write(base);
        (&raw mut (*value).rare).write(OnceBox::new());
        (&raw mut (*value).lent).write(LentDimensions::new());
        (&raw mut (*value).is_given_out).write(AtomicBool::new(false));
        let object: Bound<'py, GpuArray> = Bound::from_owned_ptr(py, object).cast_into_unchecked();
        set(&mut (*value).array)?;
        ffi::PyObject_GC_Track(object.as_ptr().cast());
        Ok(object)
    }
}

/// Allocates an exact `GPUArray` without a value, not tracked by the collector. Returns the object and the address of
/// its value.
///
/// # Safety
/// The value must be written before any other code sees the object.
#[inline]
unsafe fn allocate_exact(py: Python<'_>) -> PyResult<(*mut ffi::PyObject, *mut GpuArray)> {
    const END: usize = VALUE_OFFSET + size_of::<GpuArray>();
    // SAFETY: the class is a garbage-collected heap type without items, to which `_PyObject_GC_New` adds a reference.
    // Null means that an exception is set. The header is followed by the value and the slots for `__dict__` and weak
    // references, which are empty when zero. `check_object_layout` verified this when the module was created.
    unsafe {
        let object: *mut ffi::PyObject = ffi::PyObject_GC_New(GpuArray::type_object_raw(py));
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(END).write_bytes(0, SLOTS);
        Ok((object, object.cast::<u8>().add(VALUE_OFFSET).cast()))
    }
}

/// The base of a view of `of`: the owner, also for a view of a view, as in NumPy.
#[inline(always)]
pub(crate) fn owner_of(of: &Bound<'_, GpuArray>) -> Py<PyAny> {
    match of.get().base() {
        Some(owner) if owner.bind(of.py()).cast::<GpuArray>().is_ok() => owner.clone_ref(of.py()),
        _ => of.clone().into_any().unbind(),
    }
}

/// Creates an array over memory of `of`, of the same class, that keeps the owner alive.
pub(crate) fn new_view_of<'py>(of: &Bound<'py, GpuArray>, array: Array) -> PyResult<Bound<'py, GpuArray>> {
    new_like(of, GpuArray::with_base(array, owner_of(of)))
}

/// Creates a view with the given layout.
#[inline]
pub(crate) fn new_view<'py>(of: &Bound<'py, GpuArray>, layout: &Layout) -> PyResult<Bound<'py, GpuArray>> {
    new_view_with(of, |view| {
        view.assign(layout);
        Ok(())
    })
}

/// Creates a view whose layout is written directly into the new object, so that no array is moved.
#[inline]
pub(crate) fn new_view_with<'py>(
    of: &Bound<'py, GpuArray>,
    set: impl FnOnce(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = of.py();
    // SAFETY: the type of a live object.
    let exact = unsafe { ffi::Py_TYPE(of.as_ptr()) } == GpuArray::type_object_raw(py);
    if !exact {
        let mut layout = Layout::scalar(1);
        set(&mut layout)?;
        return new_view_of(of, of.get().unlaunched()?.view(layout)?.into_held());
    }
    let array = of.get().unlaunched()?; // a view needs no address
    // SAFETY: a complete array is written, and the caller sets a checked layout.
    let (write, set) =
        (|slot| unsafe { array.write_view(slot) }, |array: &mut Array| set(unsafe { array.layout_mut() }));
    // SAFETY: as above.
    unsafe { write_exact(py, Some(owner_of(of)), write, set) }
}

/// Creates an array of the class of `like`. Calls `__array_finalize__` of a subclass, if defined.
#[inline]
pub(crate) fn new_like<'py>(like: &Bound<'py, GpuArray>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    let py = like.py();
    // SAFETY: the type of a live object.
    let class = unsafe { ffi::Py_TYPE(like.as_ptr()) };
    if class == GpuArray::type_object_raw(py) { new_exact(py, value) } else { new_of_subclass(like, value) }
}

#[cold]
fn new_of_subclass<'py>(like: &Bound<'py, GpuArray>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    let py = like.py();
    let object = new_of_class(&like.get_type(), value)?;
    if let Some(finalize) = object.as_any().getattr_opt(intern!(py, "__array_finalize__"))?
        && !finalize.is_none()
    {
        finalize.call1((like,))?;
    }
    Ok(object)
}

/// Creates an array of a given class, `GPUArray` or a subclass, without calling `__init__`.
pub(crate) fn new_of_class<'py>(class: &Bound<'py, PyType>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    let py = class.py();
    if class.as_type_ptr() == GpuArray::type_object_raw(py) {
        return new_exact(py, value);
    }
    // SAFETY: the class is `GPUArray` or derived from it, so that its objects begin with a `GPUArray`. `tp_alloc`
    // returns them zeroed, tracked, and with the `__dict__` that Python requires. No code runs between the allocation
    // and the write of the value.
    unsafe {
        let alloc = ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_alloc);
        let alloc = match alloc.is_null() {
            true => ffi::PyType_GenericAlloc,
            false => std::mem::transmute::<*mut std::ffi::c_void, ffi::allocfunc>(alloc),
        };
        let object = alloc(class.as_type_ptr(), 0);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(VALUE_OFFSET).cast::<GpuArray>().write(value);
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}
