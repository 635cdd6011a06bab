//! Defines arrays whose memory block may not have memory yet. Such an array has all properties of an array except its
//! address.

use std::any::Any;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

use super::array::Array;
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_device::Device;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

/// An array that may be the result of a deferred operation. Such a result has no address until the operation is
/// launched. [`Self::materialized`] returns the [`Array`] and fails if the block has no memory. A block never loses its
/// memory, so the returned array stays valid while it is borrowed.
#[derive(Clone)]
#[repr(transparent)]
pub struct DeferredArray(Array);

impl From<Array> for DeferredArray {
    #[inline]
    fn from(array: Array) -> Self {
        Self(array)
    }
}

impl<'a> From<&'a Array> for &'a DeferredArray {
    #[inline]
    fn from(array: &'a Array) -> Self {
        DeferredArray::of(array)
    }
}

impl DeferredArray {
    /// Borrows an array as a `DeferredArray`, for code that does not need the array's address.
    #[inline(always)]
    pub fn of(array: &Array) -> &Self {
        // SAFETY: the type is `repr(transparent)` over its only field, an `Array`.
        unsafe { &*ptr::from_ref(array).cast::<Self>() }
    }

    /// Returns the array as an [`Array`], whose address can be read. The caller must neither flush nor use the
    /// interpreter between this call and the use of the address, because both can run other code that uses the
    /// array.
    ///
    /// # Errors
    /// The error of the deferred operation; `ValueError` if the operation is still pending.
    #[inline]
    pub fn materialized(&self) -> Result<&Array> {
        match self.0.allocation().has_memory() || self.0.allocation().bytes() == 0 {
            true => Ok(&self.0),
            false => self.without_memory(),
        }
    }

    #[cold]
    fn without_memory(&self) -> Result<&Array> {
        self.0.allocation().check()?;
        Err(Error::value("the operation that makes this array was not launched"))
    }

    /// Converts the value to an `Array` without launching the operation that computes it. Used by code that stores the
    /// array and later borrows it as a `DeferredArray`.
    pub fn into_held(self) -> Array {
        self.0
    }

    /// Returns the array's owner besides its memory block, and the number of arrays that share this owner.
    pub fn owner(&self) -> Option<(&(dyn Any + Send + Sync), usize)> {
        self.0.owner()
    }

    /// Returns the array's layout: shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// Returns the type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// Returns the device on which the array's memory is or will be.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Returns whether PyGPU rejects writes to the array.
    #[inline]
    pub fn readonly(&self) -> bool {
        self.0.readonly()
    }

    /// Returns the array's memory block. Its flags, size and owners are set even if its memory is not allocated yet.
    #[inline]
    pub fn allocation(&self) -> &Arc<Allocation> {
        self.0.allocation()
    }

    /// Returns the remainder modulo 16 of the address of element zero. Pool blocks begin at multiples of 16, so the
    /// remainder is known before the block has memory.
    #[inline]
    pub fn phase(&self) -> i64 {
        const PHASES: i64 = 16;
        let block = self.0.allocation();
        let first = if block.has_memory() { block.address() as i64 } else { 0 };
        (first + self.0.layout().offset()) & (PHASES - 1)
    }

    /// Creates a view of the same memory with another layout.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn view(&self, layout: Layout) -> Result<Self> {
        self.0.view(layout).map(Self)
    }

    /// Writes a view into `slot`; see [`Array::write_view`].
    ///
    /// # Safety
    /// `slot` must be writable and must not hold an array.
    #[inline]
    pub unsafe fn write_view(&self, slot: *mut Array) {
        // SAFETY: the caller guarantees that `slot` is writable and contains no array.
        unsafe { self.0.write_view(slot) }
    }

    /// Clones the array directly into `slot`, without moving it.
    #[inline]
    pub fn clone_to(&self, slot: &mut MaybeUninit<Self>) {
        // SAFETY: the type is `repr(transparent)` over `Array`, so the slots have the same layout.
        self.0.clone_to(unsafe { &mut *ptr::from_mut(slot).cast::<MaybeUninit<Array>>() });
    }

    /// Checks that the array is writable.
    ///
    /// # Errors
    /// `ValueError` with NumPy's message for a read-only array.
    pub fn check_writable(&self, operation: &str) -> Result<()> {
        self.0.check_writable(operation)
    }
}
