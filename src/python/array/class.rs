//! The class `GPUArray`: an `Array` with what only Python knows of it. `object` has the quick way to make one.

mod object;

use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};

use once_cell::race::OnceBox;
use pyo3::ffi;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use super::host_side::HostSide;
use super::owner::Owner;
use super::rare::Rare;
use crate::callback::{self, Kept};
use crate::deferral::give_values;
use crate::gil::{self, WithoutGil};
use crate::runtime::device_memory::give_out;
use pygpu_array::{Array, DeferredArray};
use pygpu_backend::Address;
use pygpu_base::dtype::DType;
use pygpu_base::flush::{self, Cause, PythonAccess};
use pygpu_base::iterative_drop;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_interop::cai;
use pygpu_interop::dlpack::LentDimensions;
use pygpu_layout::Layout;
use pygpu_ops::expression;

pub(crate) use object::{
    check_object_layout, new_at, new_exact, new_like, new_of_class, new_on, new_view, new_view_of, new_view_with,
    owner_of,
};

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
    ///
    /// # Errors
    /// The driver's, of what was put off.
    #[inline]
    pub(crate) fn given_out_address(&self, _: Python<'_>) -> PyResult<Address> {
        let made = self.made();
        if flush::is_any() {
            give_values(made.array.allocation())?;
        }
        if !made.is_given_out.load(Ordering::Relaxed) {
            give_out(&made.array);
            made.is_given_out.store(true, Ordering::Relaxed);
            if flush::is_any() {
                give_values(made.array.allocation())?; // queued by another thread meanwhile
            }
        }
        Ok(made.array.address())
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
            None if !flush::is_any() => Ok(&self.array),
            _ => self.array_at_length(),
        }
    }

    #[cold]
    #[inline(never)]
    fn array_at_length(&self) -> PyResult<&Array> {
        if flush::is_any() {
            give_values(self.made().array.allocation())?;
        }
        self.refuse_nowhere().map(|()| &*self.made().array)
    }

    /// The same for who does without its values and its address, which may not be there yet.
    ///
    /// # Errors
    /// That of an operation that was put off and has failed; `ValueError` where `gpudata` was not assigned yet.
    #[inline(always)] // as `array`
    pub(crate) fn unlaunched(&self) -> PyResult<&DeferredArray> {
        match self.rare.get() {
            None if !flush::is_any() => Ok(DeferredArray::of(&self.array)),
            _ => self.unlaunched_at_length(),
        }
    }

    #[inline(never)]
    fn unlaunched_at_length(&self) -> PyResult<&DeferredArray> {
        let made = self.made();
        made.array.allocation().check()?;
        match self.rare.get() {
            None => Ok(DeferredArray::of(&self.array)),
            Some(_) => self.refuse_nowhere().map(|()| DeferredArray::of(&made.array)),
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
                    1 => iterative_drop::end(base, drop, callback::let_go),
                    // Held by somebody else, as nearly every view's base is, it does not end here, and pyo3 need not ask for the GIL.
                    _ => ffi::Py_DECREF(base.into_ptr()),
                }
            }
        }
    }
}

impl GpuArray {
    /// Lets an operation go that nobody waits for any more, where no operand ends with it: then nothing is left of the block. And
    /// launches what waits where that alone will hold too much.
    #[inline(never)]
    fn let_go_of_waiting(&self) -> bool {
        if self.array.end_put_off(expression::forget_quietly) {
            return true;
        }
        let is_last = Arc::strong_count(self.array.allocation()) == 1;
        if !is_last && let Some(scope) = expression::holds_too_much(self.array.allocation()) {
            flush::flush_now(scope, Cause::Held);
        }
        false
    }

    #[inline]
    fn drop_array(&mut self) {
        if flush::is_any() && !shutdown::exiting() && self.let_go_of_waiting() {
            // SAFETY: dropped once, here or below.
            unsafe { ManuallyDrop::drop(&mut self.array) };
            return;
        }
        let is_quiet = self.array.device().is_cpu() || Arc::strong_count(self.array.allocation()) > 1;
        if is_quiet || shutdown::exiting() || self.array.end_without_driver() {
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
        debug_assert!(PythonAccess::here().is_some(), "a flush ends an object of Python");
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
