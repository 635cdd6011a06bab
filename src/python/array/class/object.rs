//! Constructors of array objects: exact `GPUArray` objects (not of a subclass), views, and objects of subclasses.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use once_cell::race::OnceBox;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;

use super::GpuArray;
use crate::ffi::new_object::{self, Collected, value_offset};
use crate::ffi::objects::{Frozen, is_exact};
use crate::py_once::{PyOnce, intern};
use pygpu_array::{Array, ArrayPlacement};
use pygpu_base::dtype::DType;
use pygpu_interop::dlpack::LentDimensions;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

// SAFETY: pyo3 defines a class with the object layout that `Collected` requires. `check_object_layout` verifies the
// layout when the module is created.
unsafe impl Collected for GpuArray {}

impl Frozen for GpuArray {
    #[inline]
    fn value<'a>(object: &'a Bound<'_, Self>) -> &'a Self {
        object.get()
    }
}

const VALUE_OFFSET: usize = value_offset::<GpuArray>();

/// A layout probe: an object that pyo3 lays out like an object of `GpuArray`, without a value. The collector may visit
/// the probe during its creation: pyo3 tracks the first object with a `__dict__`, and then releases the GIL to
/// determine the Python version.
#[pyclass(frozen, subclass, weakref, dict, name = "_Twin", module = "PyGPU")]
struct LayoutProbe(MaybeUninit<GpuArray>);

/// Checks the layout of an object created by pyo3 against the assumptions of `Collected`. A mismatch makes the import
/// of the module fail.
pub(crate) fn check_object_layout(py: Python<'_>) -> PyResult<()> {
    let object = Bound::new(py, LayoutProbe(MaybeUninit::uninit()))?;
    let offset = object.get().0.as_ptr() as usize - object.as_ptr() as usize;
    let size: usize = GpuArray::type_object(py).getattr("__basicsize__")?.extract()?;
    if (offset, size) == (VALUE_OFFSET, VALUE_OFFSET + size_of::<GpuArray>() + new_object::SLOTS) {
        return Ok(());
    }
    Err(PyRuntimeError::new_err(format!(
        "GPUArray objects have their value at byte {offset} of {size}; PyGPU was built for byte {VALUE_OFFSET}"
    )))
}

/// Creates an exact `GPUArray`.
#[inline]
pub(crate) fn new_exact(py: Python<'_>, value: GpuArray) -> PyResult<Bound<'_, GpuArray>> {
    new_object::new_exact(py, value)
}

/// Creates an exact `GPUArray` from an [`ArrayPlacement`] (its memory block and the address of element zero) and a
/// layout. The offset of the layout is relative to the placement's element zero.
#[inline]
pub(crate) fn new_at<'py>(
    py: Python<'py>,
    placement: ArrayPlacement,
    layout: &Layout,
    dtype: DType,
    base: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, GpuArray>> {
    let ArrayPlacement { allocation, shift, readonly, owner } = placement;
    // SAFETY: `Array::write_new` writes a complete array into its slot, as `write_exact` requires.
    unsafe {
        let write = |slot| Array::write_new(slot, allocation, dtype);
        write_exact(py, base, write, |array| Ok(array.settle(layout, shift, readonly, owner)?))
    }
}

/// Creates an exact `GPUArray` over a memory block, and writes the array directly into the object; see
/// `Array::write_view`.
#[inline]
pub(crate) fn new_on<'py>(
    py: Python<'py>,
    allocation: Arc<Allocation>,
    dtype: DType,
    set: impl FnOnce(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: `Array::write_new` writes a complete array, as `write_exact` requires; afterwards `set` only changes the
    // array's layout.
    unsafe {
        let write = |slot| Array::write_new(slot, allocation, dtype);
        write_exact(py, None, write, |array| set(array.layout_mut()))
    }
}

/// Creates an exact `GPUArray`. `write` writes the array, and `set` sets the remaining fields of the object.
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
    // SAFETY: `write` and the statements below write every field of the value, which is then complete.
    unsafe {
        new_object::new_in_place(
            py,
            |value: *mut GpuArray| {
                write((&raw mut (*value).array).cast());
                (&raw mut (*value).base).write(base);
                (&raw mut (*value).shape).write(PyOnce::new());
                (&raw mut (*value).cold_fields).write(OnceBox::new());
                (&raw mut (*value).dlpack_dimensions).write(LentDimensions::new());
                (&raw mut (*value).has_escaped).write(AtomicBool::new(false));
            },
            |value| set(&mut value.array),
        )
    }
}

/// Returns the base of a new view of `source`: the array that owns the memory, even if `source` itself is a view, as in
/// NumPy.
#[inline(always)]
pub(crate) fn owner_of(source: &Bound<'_, GpuArray>) -> Py<PyAny> {
    match source.get().base() {
        Some(owner) if owner.bind(source.py()).cast::<GpuArray>().is_ok() => owner.clone_ref(source.py()),
        _ => source.clone().into_any().unbind(),
    }
}

/// Creates an array of the class of `source` over memory of `source`. The new array keeps the owner of the memory
/// alive.
pub(crate) fn new_view_of<'py>(source: &Bound<'py, GpuArray>, array: Array) -> PyResult<Bound<'py, GpuArray>> {
    new_like(source, GpuArray::with_base(array, owner_of(source)))
}

/// Creates a view of `source` with a layout.
#[inline]
pub(crate) fn new_view<'py>(source: &Bound<'py, GpuArray>, layout: &Layout) -> PyResult<Bound<'py, GpuArray>> {
    new_view_with(source, |view| {
        view.assign(layout);
        Ok(())
    })
}

/// Creates a view of `source`. `set` writes the layout directly into the new object, so that no array is moved.
#[inline(always)]
pub(crate) fn new_view_with<'py>(
    source: &Bound<'py, GpuArray>,
    mut set: impl FnMut(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    let py = source.py();
    if !is_exact::<GpuArray>(source) {
        return new_view_of_subclass(source, &mut set);
    }
    // No flush is needed, because a view requires neither the values nor the address of its source.
    let array = source.get().without_flush()?;
    // SAFETY: `write_view` writes a complete array, and `set` writes a checked layout.
    unsafe { write_exact(py, Some(owner_of(source)), |slot| array.write_view(slot), |array| set(array.layout_mut())) }
}

/// Creates a view of an array of a subclass. `set` is passed as a pointer, so that its code is inlined only once, into
/// [`new_view_with`].
#[cold]
#[inline(never)]
fn new_view_of_subclass<'py>(
    source: &Bound<'py, GpuArray>,
    set: &mut dyn FnMut(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    let mut layout = Layout::scalar(1);
    set(&mut layout)?;
    new_view_of(source, source.get().without_flush()?.view(layout)?.into_held())
}

/// Creates an array of the class of `like`. Calls `__array_finalize__` of a subclass, if defined.
#[inline]
pub(crate) fn new_like<'py>(like: &Bound<'py, GpuArray>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    if is_exact::<GpuArray>(like) { new_exact(like.py(), value) } else { new_of_subclass(like, value) }
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

/// Creates an array of `class`, which is `GPUArray` or a subclass, without calling `__init__`.
pub(crate) fn new_of_class<'py>(class: &Bound<'py, PyType>, value: GpuArray) -> PyResult<Bound<'py, GpuArray>> {
    let py = class.py();
    if class.as_type_ptr() == GpuArray::type_object_raw(py) {
        return new_exact(py, value);
    }
    new_object::new_derived(class, value)
}
