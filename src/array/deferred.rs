//! An array whose block may have no memory yet: everything but its address.

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

/// An array that a deferred operation may have to make. It has no address: [`Self::materialized`] gives the [`Array`], which has one, and
/// refuses a block without memory. Memory that a block has it keeps, so that proof holds as long as the array is borrowed.
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
    /// An array of which the address is not needed.
    #[inline(always)]
    pub fn of(array: &Array) -> &Self {
        // SAFETY: the one field, and transparent over it.
        unsafe { &*ptr::from_ref(array).cast::<Self>() }
    }

    /// The array with its address, after the last flush and the last contact with the interpreter.
    ///
    /// # Errors
    /// That of the operation that was to make it; `ValueError` for one that is still pending.
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

    /// The array, for a holder that hands it out as a `DeferredArray` again.
    pub fn into_held(self) -> Array {
        self.0
    }

    /// Who is kept beside the block, and by how many arrays.
    pub fn keeper(&self) -> Option<(&(dyn Any + Send + Sync), usize)> {
        self.0.keeper()
    }

    /// Shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        self.0.layout()
    }

    /// The type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype()
    }

    /// Where it is, or will be.
    #[inline]
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Whether writing is refused.
    #[inline]
    pub fn readonly(&self) -> bool {
        self.0.readonly()
    }

    /// The block, for its marks, its size and its owners.
    #[inline]
    pub fn allocation(&self) -> &Arc<Allocation> {
        self.0.allocation()
    }

    /// Remainder by 16 of the address of the first element that the layout counts from. Blocks of the pool begin at multiples of more; a
    /// launch looks at the address that the block has then.
    #[inline]
    pub fn phase(&self) -> i64 {
        const PHASES: i64 = 16;
        let block = self.0.allocation();
        let first = if block.has_memory() { block.address() as i64 } else { 0 };
        (first + self.0.layout().offset()) & (PHASES - 1)
    }

    /// A view of the same memory with another layout.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    #[inline]
    pub fn view(&self, layout: Layout) -> Result<Self> {
        self.0.view(layout).map(Self)
    }

    /// As [`Array::write_view`].
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub unsafe fn write_view(&self, slot: *mut Array) {
        // SAFETY: promised by the caller.
        unsafe { self.0.write_view(slot) }
    }

    /// A clone written where it stays.
    #[inline]
    pub fn clone_to(&self, slot: &mut MaybeUninit<Self>) {
        // SAFETY: transparent over the array.
        self.0.clone_to(unsafe { &mut *ptr::from_mut(slot).cast::<MaybeUninit<Array>>() });
    }

    /// Whether writing is allowed.
    ///
    /// # Errors
    /// `ValueError` as NumPy's for a read-only array.
    pub fn check_writable(&self, operation: &str) -> Result<()> {
        self.0.check_writable(operation)
    }
}
