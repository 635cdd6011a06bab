//! Defines the class `GPUArray`, whose objects contain an `Array` of the core and Python-specific state. The submodule
//! `object` contains the constructors.

mod object;

use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};

use once_cell::race::OnceBox;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::host_mirror::HostMirror;
use super::memory_owner::MemoryOwner;
use super::rare_fields::ColdFields;
use crate::callback::{self, SendPyObject};
use crate::exported_names::names;
use crate::ffi::objects::{Reference, is_last};
use crate::fusion::require_values;
use crate::gil::{self, WithoutGil};
use crate::py_once::PyOnce;
use crate::runtime::device_memory::register_escaped;
use pygpu_array::{Array, DeferredArray};
use pygpu_backend::Address;
use pygpu_base::dtype::DType;
use pygpu_base::flush_points::{self, FlushReason, PythonAccess};
use pygpu_base::iterative_drop;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_interop::cuda_array_interface;
use pygpu_interop::dlpack::LentDimensions;
use pygpu_layout::Layout;
use pygpu_ops::fusion;

pub(crate) use object::{
    check_object_layout, new_at, new_exact, new_like, new_of_class, new_on, new_view, new_view_of, new_view_with,
    owner_of,
};

/// A strided array in the memory of a device.
///
/// Parameters
/// ----------
/// shape : int or sequence of int, or numpy.ndarray
///     The lengths of the axes. An ndarray without `dtype` is data instead of a shape: its values are uploaded. The
///     ndarray itself becomes the array's host mirror, which `to_device()` uploads again. An ndarray or an integer with
///     `dtype` is a shape.
/// dtype : data-type, optional
///     Anything that `numpy.dtype` accepts; float64 by default.
/// order : {'C', 'F'}, optional
///     Memory order.
/// allocator : object, optional
///     Either a callable that takes a number of bytes and returns an object with an address (as in PyCUDA, with
///     `shape`), or an object that describes existing memory (PybindGPU's `Allocator`, without other arguments).
/// base : object, optional
///     Object that stays alive as long as the array, for example the owner of the memory of `gpudata`.
/// gpudata : int, GPUArray, DeviceAllocation or object with an address, optional
///     Existing device memory to use, with `shape`, `dtype` and optionally `strides`. For memory tracked by PyGPU, its
///     extent, write permission and uses on streams apply to the new array too. Other addresses are not checked.
/// strides : sequence of int, optional
///     Strides in bytes; of any sign with `gpudata`. Without it, the elements are within the memory of a dense array.
/// copy : bool, optional
///     With an ndarray: use a private copy of the ndarray as the host mirror.
/// memptr : object with an address, optional
///     `gpudata` under CuPy's name. CuPy's order of arguments is accepted too: ``(shape, dtype, memptr, strides, order)``.
///
/// Raises
/// ------
/// ValueError
///     For negative or too large shapes, for an unknown order, and for memory that is too short, if its size is known.
/// TypeError
///     For a dtype that a device cannot hold.
/// OutOfMemoryError
///     If the device has too little memory, even after trimming its pool.
///
/// Notes
/// -----
/// The elements of a new array are uninitialized. The interface is NumPy's where possible, with the additional names of
/// PyCUDA and PybindGPU.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import PyGPU as gpuarray
/// >>> a = gpuarray.GPUArray((2, 3), np.float32)
/// >>> a.shape, a.dtype, a.strides
/// ((2, 3), dtype('float32'), (12, 4))
// stub: __hash__: ClassVar[None]  # type: ignore[assignment]
#[pyclass(frozen, subclass, weakref, dict, name = "GPUArray", module = "PyGPU")]
pub(crate) struct GpuArray {
    array: ManuallyDrop<Array>,
    /// If this array is a view, the array to whose memory it refers; otherwise the object that the caller passed as
    /// `base=`.
    base: Option<Py<PyAny>>,
    /// The Python tuple `shape`, created at its first use. It stays valid, because the layout of this value never
    /// changes.
    pub(super) shape: PyOnce<Py<PyTuple>>,
    /// Rarely used fields of the array object, allocated on first use.
    cold_fields: OnceBox<ColdFields<Self>>,
    /// Shape and strides in DLPack's format. Consumers borrow them through DLPack's exchange table, without ownership.
    dlpack_dimensions: LentDimensions,
    /// Whether the array's address is visible outside PyGPU. If so, the memory block is registered in
    /// `memory::address_registry`.
    has_escaped: AtomicBool,
}

impl GpuArray {
    pub(crate) fn from_array(array: Array) -> Self {
        Self {
            array: ManuallyDrop::new(array),
            base: None,
            shape: PyOnce::new(),
            cold_fields: OnceBox::new(),
            dlpack_dimensions: LentDimensions::new(),
            has_escaped: AtomicBool::new(false),
        }
    }

    /// Attaches an ndarray as the host mirror and keeps it alive.
    pub(crate) fn with_host_mirror(self, host: Py<PyAny>) -> Self {
        *self.host_mut() = HostMirror::Owned(host);
        self
    }

    pub(crate) fn with_base(array: Array, base: Py<PyAny>) -> Self {
        let mut value = Self::from_array(array);
        value.base = Some(base);
        value
    }

    /// Returns the address of element zero, or 0 for an empty array. Marks the memory block as escaped, because the
    /// caller may later pass the address to PyGPU as an integer.
    ///
    /// # Errors
    /// Driver errors of pending operations.
    #[inline(always)]
    pub(crate) fn escaping_address(&self, _: Python<'_>) -> PyResult<Address> {
        let is_first_value = self.cold_fields.get().is_none();
        if is_first_value && self.has_escaped.load(Ordering::Relaxed) && !flush_points::has_pending() {
            return Ok(self.array.address());
        }
        self.checked_escaping_address()
    }

    #[inline(never)]
    fn checked_escaping_address(&self) -> PyResult<Address> {
        let value = self.value();
        if flush_points::has_pending() {
            require_values(value.array.allocation())?;
        }
        if !value.has_escaped.load(Ordering::Relaxed) {
            register_escaped(&value.array);
            value.has_escaped.store(true, Ordering::Relaxed);
            if flush_points::has_pending() {
                // Another thread may have deferred an operation on the block before the block's address was registered,
                // so this operation is launched now.
                require_values(value.array.allocation())?;
            }
        }
        Ok(value.array.address())
    }

    /// Returns the current value of this object. `__init__` may have replaced the value that `__new__` created, because
    /// `__new__` of a subclass may receive other arguments than the base `__init__`.
    #[inline]
    pub(super) fn value(&self) -> &Self {
        match self.cold_fields.get() {
            None => self,
            Some(cold_fields) => cold_fields.current().unwrap_or(self),
        }
    }

    /// Returns the rarely used fields of the array object, and allocates them if necessary.
    pub(crate) fn cold_fields(&self) -> &ColdFields<Self> {
        self.value().cold_fields.get_or_init(Box::default)
    }

    /// Returns the rarely used fields of this object itself, even if `__init__` has replaced the object's value. These
    /// fields contain the replacement.
    pub(crate) fn cold_fields_to_init(&self) -> &ColdFields<Self> {
        self.cold_fields.get_or_init(Box::default)
    }

    /// Returns the rarely used fields of this object itself, if they are allocated.
    pub(crate) fn cold_fields_if_set(&self) -> Option<&ColdFields<Self>> {
        self.cold_fields.get()
    }

    /// Returns the core array, after flushing the pending operations on which its values depend. Methods that return
    /// only metadata, such as `layout`, do not flush.
    ///
    /// # Errors
    /// Driver errors of pending operations; `ValueError` if `gpudata` has not been assigned yet.
    #[inline(always)] // inlined, because a call would copy a result of eight words in nearly every PyGPU function
    pub(crate) fn array(&self, _: Python<'_>) -> PyResult<&Array> {
        match self.cold_fields.get() {
            None if !flush_points::has_pending() => Ok(&self.array),
            _ => self.checked_array(),
        }
    }

    #[cold]
    #[inline(never)]
    fn checked_array(&self) -> PyResult<&Array> {
        if flush_points::has_pending() {
            require_values(self.value().array.allocation())?;
        }
        self.check_allocated().map(|()| &*self.value().array)
    }

    /// Returns the core array without a flush, for callers that need neither its values nor its address.
    ///
    /// # Errors
    /// The error of the deferred operation that computes the array, if it failed; `ValueError` if `gpudata` has not
    /// been assigned yet.
    #[inline(always)] // inlined, because a call would copy a result of eight words
    pub(crate) fn without_flush(&self) -> PyResult<&DeferredArray> {
        match self.cold_fields.get() {
            None if !flush_points::has_pending() => Ok(DeferredArray::of(&self.array)),
            _ => self.checked_without_flush(),
        }
    }

    #[inline(never)]
    fn checked_without_flush(&self) -> PyResult<&DeferredArray> {
        let value = self.value();
        value.array.allocation().check()?;
        match self.cold_fields.get() {
            None => Ok(DeferredArray::of(&self.array)),
            Some(_) => self.check_allocated().map(|()| DeferredArray::of(&value.array)),
        }
    }

    /// Returns the layout of the array: shape, strides and offset.
    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        self.value().array.layout()
    }

    /// Returns the type of the elements.
    #[inline]
    pub(crate) fn dtype(&self) -> DType {
        self.value().array.dtype()
    }

    /// Returns the device of the memory.
    #[inline]
    pub(crate) fn device(&self) -> Device {
        self.value().array.device()
    }

    /// Whether the array rejects writes.
    #[inline]
    pub(crate) fn readonly(&self) -> bool {
        self.value().array.readonly()
    }

    /// Whether the memory was allocated for this array, which is then neither a view nor an array over external memory.
    pub(crate) fn owns_data(&self) -> bool {
        let value = self.value();
        let is_external = |(owner, _): (&(dyn Any + Send + Sync), _)| {
            owner.downcast_ref().is_none_or(|memory_owner: &MemoryOwner| !memory_owner.is_arrays)
        };
        value.base.is_none() && !value.array.allocation().is_imported() && !value.array.owner().is_some_and(is_external)
    }

    /// Checks that the array is writable.
    ///
    /// # Errors
    /// `ValueError` for a read-only array. The message contains the name `operation` of the rejected operation.
    pub(crate) fn check_writable(&self, operation: &str) -> PyResult<()> {
        Ok(self.value().array.check_writable(operation)?)
    }

    pub(crate) fn base(&self) -> Option<&Py<PyAny>> {
        self.value().base.as_ref()
    }

    /// Returns the storage of the shape and strides to which DLPack's C function table lends pointers.
    pub(crate) fn dlpack_dimensions(&self) -> &LentDimensions {
        &self.value().dlpack_dimensions
    }

    /// Replaces shape and strides. Other views of the memory keep their shape and strides.
    ///
    /// # Errors
    /// `ValueError` if the new layout exceeds the memory; otherwise the errors of [`GpuArray::array`].
    pub(super) fn replace_layout(&self, py: Python<'_>, layout: Layout) -> PyResult<()> {
        let array = self.array(py)?.view(layout)?;
        let owner_address = |array: &Array| array.owner().map(|(owner, _)| std::ptr::from_ref(owner).addr());
        let is_same = |value: &Self| {
            value.array.layout() == array.layout()
                && Arc::ptr_eq(value.array.allocation(), array.allocation())
                && owner_address(&value.array) == owner_address(&array)
        };
        let mirror = self.host().map(|mut host| std::mem::take(&mut *host));
        let cold_fields = self.cold_fields_to_init();
        // The object keeps its values (core arrays) of all previous shapes. A program that alternates between shapes
        // therefore reuses values instead of adding more.
        if is_same(self) {
            cold_fields.restore_first_value();
        } else if !cold_fields.restore_value(is_same) {
            let mut value = Self::from_array(array);
            value.base = self.base().map(|base| base.clone_ref(py));
            if let Some(memory) = self.value().cold_fields.get().and_then(ColdFields::gpudata) {
                value.cold_fields().set_gpudata(memory.clone_ref(py));
            }
            cold_fields.replace_value(value);
        }
        // An ndarray that the array owns stays its host mirror. An ndarray that `get` returned has the previous shape,
        // and is no longer the host mirror.
        if let Some(owned @ HostMirror::Owned(_)) = mirror {
            *self.host_mut() = owned;
        }
        Ok(())
    }

    /// Returns the Python owner of the memory and the allocator that results inherit, if this object holds all
    /// references to the memory. The garbage collector may then count the owner and the allocator as referenced by this
    /// object.
    ///
    /// The collector calls this function more than once in a collection. The result must stay the same, because the
    /// collector would free a live object that is counted in one pass and not in another. Therefore no thread that
    /// could clone the block, or use it on another stream, may run meanwhile. Threads that only release the block may
    /// run: an object that is counted late or not at all merely lives longer.
    fn collectable_owners(&self) -> [Option<&Py<PyAny>>; 2] {
        let allocation = self.array.allocation();
        if gil::has_released_threads() {
            return [None, None];
        }
        // A `gpudata` object also references the memory. That reference counts as this array's own if only this array
        // references the `gpudata` object.
        let own_references = 1 + usize::from(self.cold_fields.get().is_some_and(ColdFields::has_unshared_gpudata));
        if let Some((owner_value, reference_count)) = self.array.owner() {
            let owner: Option<&MemoryOwner> = owner_value.downcast_ref().filter(|_| reference_count == own_references);
            return owner.map_or([None, None], MemoryOwner::objects);
        }
        let owner_box = if Arc::strong_count(allocation) == own_references { allocation.owner() } else { None };
        let Some(owner_box) = owner_box else { return [None, None] };
        match owner_box.downcast_ref::<MemoryOwner>() {
            Some(owner) => owner.objects(),
            None => [
                cuda_array_interface::keeper_of(owner_box)
                    .unwrap_or(owner_box)
                    .downcast_ref()
                    .map(SendPyObject::object),
                None,
            ],
        }
    }

    /// Returns the locked host mirror, if one was ever set. The caller holds the lock briefly, and runs no Python code
    /// meanwhile.
    pub(crate) fn host(&self) -> Option<MutexGuard<'_, HostMirror>> {
        let cold_fields = self.value().cold_fields.get()?;
        Some(cold_fields.host.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the locked host mirror, for a caller that replaces the mirror.
    pub(crate) fn host_mut(&self) -> MutexGuard<'_, HostMirror> {
        self.cold_fields().host.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for GpuArray {
    #[inline]
    fn drop(&mut self) {
        self.drop_array();
        // Python holds the GIL when it deallocates an object, so the reference to the base can be dropped here. Bases
        // may form a long chain. A recursive drop of this chain would overflow the stack.
        if let Some(base) = self.base.take() {
            // SAFETY: Python holds the GIL when it deallocates an object, so this thread is attached.
            let py = unsafe { Python::assume_attached() };
            match is_last(&base, py) {
                true => iterative_drop::drop_iteratively(base, drop, callback::release_object),
                // References of other objects keep the base alive, as for nearly every view, so only the reference
                // count is decremented. This thread holds the GIL, so pyo3's check for the GIL is skipped.
                false => Reference::new(base).release(&py),
            }
        }
    }
}

impl GpuArray {
    /// Discards the pending operation that computes this array, if no other code needs the result and no operand is
    /// freed with the operation. Returns true if the operation was discarded, because the array's memory block then
    /// owns no memory that must be freed. Otherwise flushes if pending operations alone keep too much memory alive, and
    /// returns false.
    #[inline(never)]
    fn release_pending(&self) -> bool {
        if self.array.drop_unproduced(fusion::discard_result_without_error) {
            return true;
        }
        let is_last = Arc::strong_count(self.array.allocation()) == 1;
        if !is_last && let Some(scope) = fusion::holds_too_much(self.array.allocation()) {
            flush_points::flush_now(scope, FlushReason::OperandLimit);
        }
        false
    }

    #[inline(always)]
    fn drop_array(&mut self) {
        let is_discarded = flush_points::has_pending() && !shutdown::exiting() && self.release_pending();
        let needs_no_driver = || self.array.device().is_cpu() || Arc::strong_count(self.array.allocation()) > 1;
        if is_discarded || needs_no_driver() || shutdown::exiting() || self.array.try_return_to_cache() {
            // Dropping the array calls no driver, so the array is dropped inside the object, without being moved.
            // SAFETY: the array is dropped only once, because this branch returns.
            unsafe { ManuallyDrop::drop(&mut self.array) };
            return;
        }
        // SAFETY: the array is taken out once, here, because `drop` runs once.
        let array = unsafe { ManuallyDrop::take(&mut self.array) };
        // Freeing may wait for the driver, and a thread in the driver may wait for the GIL, so the GIL is released.
        // During finalization, `try_attach` fails. In that case the array is dropped at the end of this function,
        // without the GIL.
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

    // When the garbage collector clears this object, the memory owner and `base` are kept, because the array may still
    // be used and needs its memory. Other members of a reference cycle break the cycle.
    fn __clear__(&self) {
        let host = self.host().map(|mut host| std::mem::take(&mut *host));
        drop(host);
    }
}

impl GpuArray {
    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // The collector may visit an object from `tp_alloc` before `new_of_class` or pyo3 writes its value. Until then,
        // all bytes of the value are zero. SAFETY: the field's address is valid and readable.
        if !unsafe { Array::is_written((&raw const self.array).cast()) } {
            return Ok(());
        }
        if let Some(base) = &self.base {
            visit.call(base)?;
        }
        for owner in self.collectable_owners().into_iter().flatten() {
            visit.call(owner)?;
        }
        let Some(cold_fields) = self.cold_fields.get() else { return Ok(()) };
        cold_fields.traverse(visit)?;
        cold_fields.current().map_or(Ok(()), |value| value.traverse(visit))
    }
}

pub(crate) type BoundArray<'py> = Bound<'py, GpuArray>;
/// Result type of Rust functions that return a Python array object.
pub(crate) type ArrayResult<'py> = PyResult<BoundArray<'py>>;

names! {
    classes "Making arrays": GpuArray;
}
