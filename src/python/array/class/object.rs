//! Objects of the class: the quick way to make an exact one.
//!
//! Why there is a quick way: pyo3 makes an object through `tp_alloc`, which on Python 3.11 and 3.12 builds the instance's
//! `__dict__` at once and looks slots up by number. A view costs less than that. `new_exact` asks the garbage collector for
//! the bytes and writes the value, which is what pyo3 does after it has allocated; `tests/memory/test_lifetime.py` holds that such
//! an object is collected, weakly referenced and given attributes like any other.

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

/// Where pyo3 puts the value inside the object: right behind the header.
const VALUE_OFFSET: usize = size_of::<ffi::PyObject>().next_multiple_of(align_of::<GpuArray>());

/// Behind the value: pyo3's slots for `__dict__` and weak references.
const SLOTS: usize = 2 * size_of::<*mut ffi::PyObject>();

/// What pyo3 takes for an object of `GpuArray`, without a value. The collector may meet it while pyo3 makes it: the first object
/// with a `__dict__` is tracked, and then pyo3 gives up the GIL to find out which Python this is.
#[pyclass(frozen, subclass, weakref, dict, name = "_Twin", module = "PyGPU")]
struct Twin(MaybeUninit<GpuArray>);

/// Asks pyo3 for one object and holds it against what `allocate_exact` assumes; a module that does not fit is not imported.
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

/// An exact `GPUArray`.
#[inline]
pub(crate) fn new_exact(py: Python<'_>, value: GpuArray) -> PyResult<Bound<'_, GpuArray>> {
    // SAFETY: the value is written into memory that is for it, and then the object is whole.
    unsafe {
        let (object, slot) = allocate_exact(py)?;
        slot.write(value);
        ffi::PyObject_GC_Track(object.cast());
        Ok(Bound::from_owned_ptr(py, object).cast_into_unchecked())
    }
}

/// A new exact `GPUArray` at a place, with a layout that counts from element zero: see [`Ground`].
#[inline]
pub(crate) fn new_at<'py>(
    py: Python<'py>,
    ground: Ground,
    layout: &Layout,
    dtype: DType,
    base: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let Ground { allocation, shift, readonly, keeper } = ground;
    // SAFETY: an array is written.
    let write = |slot| unsafe { Array::write_new(slot, allocation, dtype) };
    // SAFETY: as said.
    unsafe { write_exact(py, base, write, |array| Ok(array.settle(layout, shift, readonly, keeper)?)) }
}

/// A new exact `GPUArray` over a block, written where it stays: see `Array::write_view`.
#[inline]
pub(crate) fn new_on<'py>(
    py: Python<'py>,
    allocation: Arc<Allocation>,
    dtype: DType,
    set: impl FnOnce(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: an array is written; the layout is the caller's, as in `new_view_with`.
    let (write, set) = (
        |slot| unsafe { Array::write_new(slot, allocation, dtype) },
        |array: &mut Array| set(unsafe { array.layout_mut() }),
    );
    // SAFETY: as said.
    unsafe { write_exact(py, None, write, set) }
}

/// A new exact `GPUArray`, of which `write` writes the array and `set` sets what is left.
///
/// # Safety
/// `write` leaves a whole array in its slot.
#[inline(always)]
unsafe fn write_exact<'py>(
    py: Python<'py>,
    base: Option<Py<PyAny>>,
    write: impl FnOnce(*mut Array),
    set: impl FnOnce(&mut Array) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: every field of the value is written before the object is seen by anyone: it is not tracked yet, so that not
    // even the collector knows it while `set` runs Python code, and if `set` fails it is a whole object that is dropped.
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

/// An exact `GPUArray` without a value, not tracked by the collector, and where its value goes.
///
/// # Safety
/// The value is written before anything else sees the object.
#[inline]
unsafe fn allocate_exact(py: Python<'_>) -> PyResult<(*mut ffi::PyObject, *mut GpuArray)> {
    const END: usize = VALUE_OFFSET + size_of::<GpuArray>();
    // SAFETY: the class is a collected heap type without items, whose reference `_PyObject_GC_New` takes; null means that
    // an exception is set. Behind the header come the value and the slots for `__dict__` and weak references, empty when
    // zero, as `check_object_layout` saw when the module was made.
    unsafe {
        let object: *mut ffi::PyObject = ffi::PyObject_GC_New(GpuArray::type_object_raw(py));
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        object.cast::<u8>().add(END).write_bytes(0, SLOTS);
        Ok((object, object.cast::<u8>().add(VALUE_OFFSET).cast()))
    }
}

/// The array that a view of `of` names as its base: the owner, also for a view of a view, as in NumPy.
#[inline(always)]
pub(crate) fn owner_of(of: &Bound<'_, GpuArray>) -> Py<PyAny> {
    match of.get().base() {
        Some(owner) if owner.bind(of.py()).cast::<GpuArray>().is_ok() => owner.clone_ref(of.py()),
        _ => of.clone().into_any().unbind(),
    }
}

/// An array that shows memory of `of`: of the same class, and keeping the owner alive.
pub(crate) fn new_view_of<'py>(of: &Bound<'py, GpuArray>, array: Array) -> PyResult<Bound<'py, GpuArray>> {
    new_like(of, GpuArray::with_base(array, owner_of(of)))
}

/// A view with the given layout.
#[inline]
pub(crate) fn new_view<'py>(of: &Bound<'py, GpuArray>, layout: &Layout) -> PyResult<Bound<'py, GpuArray>> {
    new_view_with(of, |view| {
        view.assign(layout);
        Ok(())
    })
}

/// A view whose layout is written where it stays: inside the new object, so that no array is moved.
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
    // SAFETY: an array is written, and the caller sets a layout that was checked.
    let (write, set) =
        (|slot| unsafe { array.write_view(slot) }, |array: &mut Array| set(unsafe { array.layout_mut() }));
    // SAFETY: as said.
    unsafe { write_exact(py, Some(owner_of(of)), write, set) }
}

/// An array of the class of `like`. A subclass hears of it through `__array_finalize__`, if it has one.
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

/// An array of a given class, `GPUArray` or a subclass; `__init__` is not called.
pub(crate) fn new_of_class<'py>(class: &Bound<'py, PyType>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    let py = class.py();
    if class.as_type_ptr() == GpuArray::type_object_raw(py) {
        return new_exact(py, value);
    }
    // SAFETY: the class is `GPUArray` or derived from it, so that its objects begin with ours and `tp_alloc` gives them
    // zeroed, tracked, and with the `__dict__` that Python wants. Nothing runs between that and the write of the value.
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
