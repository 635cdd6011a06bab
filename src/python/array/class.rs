//! The class `GPUArray`: an `Array` with what only Python knows of it, and the quick way to make one.
//!
//! Why there is a quick way: pyo3 makes an object through `tp_alloc`, which on Python 3.11 and 3.12 builds the instance's
//! `__dict__` at once and looks slots up by number. A view costs less than that. `new_exact` asks the garbage collector for
//! the bytes and writes the value, which is what pyo3 does after it has allocated; `tests/memory/test_lifetime.py` holds that such
//! an object is collected, weakly referenced and given attributes like any other.

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};

use once_cell::race::OnceBox;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;

use super::host_side::HostSide;
use super::owner::Owner;
use super::rare::Rare;
use crate::array::Array;
use crate::backend::Address;
use crate::chain;
use crate::device::Device;
use crate::dtype::DType;
use crate::interop::cai;
use crate::interop::dlpack::LentDimensions;
use crate::layout::Layout;
use crate::lifetime;
use crate::memory::Allocation;
use crate::python::callback::{self, Kept};
use crate::python::gil::{self, WithoutGil};
use crate::python::once::intern;
use crate::python::runtime::device_memory::give_out;

/// A strided array in the memory of a device.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, or numpy.ndarray
///     The lengths of the axes. An ndarray given without `dtype` is data instead: its values are uploaded, and it becomes the
///     array's host side, not copied, which `to_device()` uploads again. An ndarray or an integer given with `dtype` is a shape.
/// dtype : data-type, optional
///     Anything `numpy.dtype` takes; float64 by default.
/// order : {'C', 'F'}, optional
///     How elements follow each other in memory.
/// allocator : object, optional
///     Either a callable that takes a number of bytes and returns something with an address (PyCUDA's way, with `shape`),
///     or an object that describes memory which exists (PybindGPU's `Allocator`, alone).
/// base : object, optional
///     Kept alive as long as the array; for `gpudata` that somebody else owns.
/// gpudata : int, GPUArray, DeviceAllocation or object with an address, optional
///     Existing device memory to use, with `shape`, `dtype` and perhaps `strides`. What PyGPU knows of the memory holds for the
///     new array too: where it ends, whether it may be written, and who uses it on which stream. Other addresses are believed.
/// strides : sequence of int, optional
///     Bytes from one element to the next along each axis, of any sign; goes with `gpudata`.
/// copy : bool, optional
///     With an ndarray: keep a private copy of it as the host side.
///
/// Raises
/// ------
/// ValueError
///     For negative or too large shapes, for an unknown order, and for memory that is too short, as far as that is known.
/// TypeError
///     For a dtype that a device cannot hold.
/// OutOfMemoryError
///     When the device has no room, also after its pool was trimmed.
///
/// Notes
/// -----
/// The elements of a new array are not initialised. The interface is NumPy's where it can be, PyCUDA's and PybindGPU's where
/// those have names of their own.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU as gpuarray
/// >>> a = gpuarray.GPUArray((2, 3), np.float32)
/// >>> a.shape, a.dtype, a.strides
/// ((2, 3), dtype('float32'), (12, 4))
#[pyclass(frozen, subclass, weakref, dict, name = "GPUArray", module = "PyGPU")]
pub(crate) struct GpuArray {
    array: ManuallyDrop<Array>,
    /// The array whose memory a view shows.
    base: Option<Py<PyAny>>,
    /// What few arrays and hardly a view have, so that this is one word.
    rare: OnceBox<Rare<Self>>,
    /// Shape and strides that DLPack's exchange table lent without ownership.
    lent: LentDimensions,
    /// Whether the address was asked for, so that the block is in `memory::addresses`.
    is_given_out: AtomicBool,
}

impl GpuArray {
    pub(crate) fn from_array(array: Array) -> Self {
        Self {
            array: ManuallyDrop::new(array),
            base: None,
            rare: OnceBox::new(),
            lent: LentDimensions::new(),
            is_given_out: AtomicBool::new(false),
        }
    }

    /// With an ndarray as its host side, which is kept.
    pub(crate) fn over_host(self, host: Py<PyAny>) -> Self {
        *self.host_to_set() = HostSide::Own(host);
        self
    }

    pub(crate) fn with_base(array: Array, base: Py<PyAny>) -> Self {
        let mut value = Self::from_array(array);
        value.base = Some(base);
        value
    }

    /// The address of element zero, for somebody who may come back with it as a number; 0 for an empty array.
    #[inline]
    pub(crate) fn given_out_address(&self) -> Address {
        let made = self.made();
        if !made.is_given_out.load(Ordering::Relaxed) {
            give_out(&made.array);
            made.is_given_out.store(true, Ordering::Relaxed);
        }
        made.array.address()
    }

    /// The value itself: that which `__init__` made, where `__new__` could not know what a subclass is to be.
    #[inline]
    pub(super) fn made(&self) -> &Self {
        match self.rare.get() {
            None => self,
            Some(rare) => rare.made().unwrap_or(self),
        }
    }

    /// What few arrays have, made if it is not there.
    pub(crate) fn rare(&self) -> &Rare<Self> {
        self.made().rare.get_or_init(Box::default)
    }

    /// The object's own, whatever stands in its place: where `__init__` puts what it makes.
    pub(crate) fn to_be_made(&self) -> &Rare<Self> {
        self.rare.get_or_init(Box::default)
    }

    /// The same, if it is there.
    pub(crate) fn own_rare(&self) -> Option<&Rare<Self>> {
        self.rare.get()
    }

    /// The array below Python. Its values may have to be made first, where an operation was put off; what is known without that
    /// stands below.
    ///
    /// # Errors
    /// The driver's, of what was put off; `ValueError` where `gpudata` was not assigned yet.
    #[inline(always)] // a result is eight words, and nearly all calls ask
    pub(crate) fn array(&self, _: Python<'_>) -> PyResult<&Array> {
        match self.rare.get() {
            None => Ok(&self.array),
            Some(_) => self.refuse_nowhere().map(|()| &*self.made().array),
        }
    }

    /// Shape, strides and offset.
    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        self.made().array.layout()
    }

    /// The type of the elements.
    #[inline]
    pub(crate) fn dtype(&self) -> DType {
        self.made().array.dtype()
    }

    /// Where it is.
    #[inline]
    pub(crate) fn device(&self) -> Device {
        self.made().array.device()
    }

    /// Whether writing is refused.
    #[inline]
    pub(crate) fn readonly(&self) -> bool {
        self.made().array.readonly()
    }

    /// Whether the memory is there for this array: not a view's, and not somebody else's.
    pub(crate) fn owns_data(&self) -> bool {
        let made = self.made();
        let is_others = |(keeper, _): (&(dyn Any + Send + Sync), _)| {
            keeper.downcast_ref().is_none_or(|kept: &Owner| !kept.is_arrays)
        };
        made.base.is_none() && !made.array.allocation().is_lent() && !made.array.keeper().is_some_and(is_others)
    }

    /// Refuses what would write a read-only array.
    ///
    /// # Errors
    /// `ValueError` that names what was tried.
    pub(crate) fn check_writable(&self, what: &str) -> PyResult<()> {
        Ok(self.made().array.check_writable(what)?)
    }

    pub(crate) fn base(&self) -> Option<&Py<PyAny>> {
        self.made().base.as_ref()
    }

    /// Where the exchange table keeps what it lends.
    pub(crate) fn lent(&self) -> &LentDimensions {
        &self.lent
    }

    /// The Python object that lent the memory, and the allocator that is kept for results, as far as the references to them are this
    /// object's alone: then the collector may count them as this object's.
    ///
    /// The collector asks more than once and takes what it has counted once and not again for garbage. So the answer must
    /// not change while it runs: nobody who could clone the block, or use it on another stream, runs meanwhile. Who only lets
    /// go of the block may, since an object that is counted late or not at all merely lives longer.
    fn lenders(&self) -> [Option<&Py<PyAny>>; 2] {
        let allocation = self.array.allocation();
        if gil::is_anyone_away() {
            return [None, None];
        }
        // A `gpudata` that nobody else holds is this object's as well.
        let own = 1 + usize::from(self.rare.get().is_some_and(Rare::has_gpudata_alone));
        if let Some((keeper, holders)) = self.array.keeper() {
            let owner: Option<&Owner> = keeper.downcast_ref().filter(|_| holders == own);
            return owner.map_or([None, None], Owner::objects);
        }
        let lender = if Arc::strong_count(allocation) == own { allocation.lender() } else { None };
        let Some(lender) = lender else { return [None, None] };
        match lender.downcast_ref::<Owner>() {
            Some(owner) => owner.objects(),
            None => [cai::keeper_of(lender).unwrap_or(lender).downcast_ref().map(Kept::object), None],
        }
    }

    /// The host side, if there ever was one. Held for moments: no Python runs while it is locked.
    pub(crate) fn host(&self) -> Option<MutexGuard<'_, HostSide>> {
        let rare = self.made().rare.get()?;
        Some(rare.host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The host side, to be set.
    pub(crate) fn host_to_set(&self) -> MutexGuard<'_, HostSide> {
        self.rare().host.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GpuArray {
    #[inline]
    fn drop(&mut self) {
        self.drop_array();
        // An array may keep an array that keeps an array, and so on. What is dropped here and now has the GIL, as every object that
        // Python ends.
        if let Some(base) = self.base.take() {
            // SAFETY: a live object, and the GIL.
            unsafe {
                match ffi::Py_REFCNT(base.as_ptr()) {
                    1 => chain::end(base, drop, callback::let_go),
                    // Held by somebody else, as nearly every view's base is, it does not end here, and pyo3 need not ask for the GIL.
                    _ => ffi::Py_DECREF(base.into_ptr()),
                }
            }
        }
    }
}

impl GpuArray {
    #[inline]
    fn drop_array(&mut self) {
        let is_quiet = self.array.device().is_cpu() || Arc::strong_count(self.array.allocation()) > 1;
        if is_quiet || lifetime::exiting() || self.array.end_without_driver() {
            // No driver is called, and the array need not be moved out.
            // SAFETY: dropped once, here or below.
            unsafe { ManuallyDrop::drop(&mut self.array) };
            return;
        }
        // SAFETY: taken out once, here.
        let array = unsafe { ManuallyDrop::take(&mut self.array) };
        // The free may wait for the driver, and whoever holds the driver may wait for the GIL. An interpreter that is ending
        // cannot be attached to; then there is no GIL to leave.
        let mut array = Some(array);
        Python::try_attach(|py| py.without_gil(|| drop(array.take())));
    }
}

#[pymethods]
impl GpuArray {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.traverse(&visit)
    }

    // Not the lender, nor `base`: the array may still be used while its memory is there. A cycle has other members.
    fn __clear__(&self) {
        let host = self.host().map(|mut host| std::mem::take(&mut *host));
        drop(host);
    }
}

impl GpuArray {
    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What `tp_alloc` gives is tracked before its value is written (`new_of_class`, and pyo3's own way): all zero.
        // SAFETY: the address of a field, read as it may be.
        if !unsafe { Array::is_written((&raw const self.array).cast()) } {
            return Ok(());
        }
        if let Some(base) = &self.base {
            visit.call(base)?;
        }
        for lender in self.lenders().into_iter().flatten() {
            visit.call(lender)?;
        }
        let Some(rare) = self.rare.get() else { return Ok(()) };
        rare.traverse(visit)?;
        rare.made().map_or(Ok(()), |made| made.traverse(visit))
    }
}

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

/// A new exact `GPUArray` over a block, written where it stays: see `Array::write_view`.
#[inline]
pub(crate) fn new_on<'py>(
    py: Python<'py>,
    allocation: Arc<Allocation>,
    dtype: DType,
    set: impl FnOnce(&mut Layout) -> PyResult<()>,
) -> PyResult<Bound<'py, GpuArray>> {
    // SAFETY: as in `new_view_with`.
    unsafe {
        let (object, value) = allocate_exact(py)?;
        Array::write_new((&raw mut (*value).array).cast(), allocation, dtype);
        (&raw mut (*value).base).write(None);
        (&raw mut (*value).rare).write(OnceBox::new());
        (&raw mut (*value).lent).write(LentDimensions::new());
        (&raw mut (*value).is_given_out).write(AtomicBool::new(false));
        let object: Bound<'py, GpuArray> = Bound::from_owned_ptr(py, object).cast_into_unchecked();
        set((*value).array.layout_mut())?;
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
        return new_view_of(of, of.get().array(of.py())?.view(layout)?);
    }
    // SAFETY: every field of the value is written before the object is seen by anyone: it is not tracked yet, so that not
    // even the collector knows it while `set` runs Python code, and if `set` fails it is a whole object that is dropped.
    unsafe {
        let (object, value) = allocate_exact(py)?;
        of.get().array(of.py())?.write_view((&raw mut (*value).array).cast::<Array>());
        (&raw mut (*value).base).write(Some(owner_of(of)));
        (&raw mut (*value).rare).write(OnceBox::new());
        (&raw mut (*value).lent).write(LentDimensions::new());
        (&raw mut (*value).is_given_out).write(AtomicBool::new(false));
        let object: Bound<'py, GpuArray> = Bound::from_owned_ptr(py, object).cast_into_unchecked();
        set((*value).array.layout_mut())?;
        ffi::PyObject_GC_Track(object.as_ptr().cast());
        Ok(object)
    }
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
