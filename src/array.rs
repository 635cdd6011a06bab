//! An array: a block of memory with a layout and a dtype on it. Views share the block.

use std::sync::Arc;

use crate::backend::Address;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::{Layout, Order};
use crate::memory::{Access, Allocation};
use crate::stream::Stream;

/// A strided array in device or host memory. Clones share the memory.
#[derive(Clone)]
pub struct Array {
    allocation: Arc<Allocation>,
    layout: Layout,
    dtype: DType,
    readonly: bool,
}

impl Array {
    /// A new array with memory of its own, uninitialised, usable in the order of `stream`.
    ///
    /// # Errors
    /// `ValueError` for a shape that is negative or too big; `OutOfMemory`; the driver's.
    pub fn empty(shape: &[i64], dtype: DType, order: Order, stream: Stream) -> Result<Self> {
        let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
        Self::on_new_memory(layout, dtype, stream)
    }

    /// A new array, uninitialised, with the given dense layout.
    ///
    /// # Errors
    /// `OutOfMemory`; the driver's.
    pub fn on_new_memory(layout: Layout, dtype: DType, stream: Stream) -> Result<Self> {
        let allocation = Arc::new(Allocation::new(layout.nbytes() as usize, stream)?);
        Ok(Self { allocation, layout, dtype, readonly: false })
    }

    /// An array over a block that exists.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    pub fn over(allocation: Arc<Allocation>, layout: Layout, dtype: DType, readonly: bool) -> Result<Self> {
        if let Some((low, high)) = layout.extent()
            && !allocation.is_lent()
            && (low < 0 || high > allocation.bytes() as i64)
        {
            return Err(Error::value(format!(
                "the array would reach from byte {low} to byte {high} of a block of {} bytes",
                allocation.bytes()
            )));
        }
        Ok(Self { allocation, layout, dtype, readonly })
    }

    /// Writes into `slot` an array over a block, whose layout is that of one element, for the caller to set; see
    /// [`Self::write_view`].
    ///
    /// # Safety
    /// `slot` may be written and holds no array yet.
    #[inline]
    pub unsafe fn write_new(slot: *mut Self, allocation: Arc<Allocation>, dtype: DType) {
        // SAFETY: each field of the slot is written once, without being read.
        unsafe {
            (&raw mut (*slot).allocation).write(allocation);
            Layout::write_scalar(&raw mut (*slot).layout, dtype.itemsize() as i64);
            (&raw mut (*slot).dtype).write(dtype);
            (&raw mut (*slot).readonly).write(false);
        }
    }

    /// A view of the same memory with another layout, which must stay inside it.
    #[inline]
    pub fn view(&self, layout: Layout) -> Self {
        Self { allocation: Arc::clone(&self.allocation), layout, dtype: self.dtype, readonly: self.readonly }
    }

    /// Writes into `slot` a view whose layout is that of one element, for the caller to set. Why: an array is large, and moving one
    /// through the returns of a few functions costs more than all else about a view.
    ///
    /// # Safety
    /// `slot` may be written and holds no array yet.
    #[inline]
    pub unsafe fn write_view(&self, slot: *mut Self) {
        // SAFETY: each field of the slot is written once, without being read.
        unsafe {
            (&raw mut (*slot).allocation).write(Arc::clone(&self.allocation));
            Layout::write_scalar(&raw mut (*slot).layout, self.layout.itemsize());
            (&raw mut (*slot).dtype).write(self.dtype);
            (&raw mut (*slot).readonly).write(self.readonly);
        }
    }

    /// The layout, for the maker of a view to fill.
    #[inline]
    pub fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    /// A view of the same memory as another dtype.
    pub fn view_as(&self, layout: Layout, dtype: DType) -> Self {
        Self { dtype, ..self.view(layout) }
    }

    /// The same array, not to be written through.
    pub fn as_readonly(&self) -> Self {
        Self { readonly: true, ..self.clone() }
    }

    /// The block.
    #[inline]
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// Shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Whether writing is refused.
    #[inline]
    pub fn readonly(&self) -> bool {
        self.readonly
    }

    /// What another library that is given the array may do to it.
    #[inline]
    pub fn access_of_others(&self) -> Access {
        if self.readonly { Access::Read } else { Access::Write }
    }

    /// Where it is.
    #[inline]
    pub fn device(&self) -> Device {
        self.allocation.device()
    }

    /// The address of element zero; 0 for an empty array.
    #[inline]
    pub fn address(&self) -> Address {
        if self.layout.size() == 0 {
            return 0;
        }
        self.allocation.address().wrapping_add_signed(self.layout.offset() as isize)
    }

    /// Whether writing is allowed.
    ///
    /// # Errors
    /// `ValueError` as NumPy's for a read-only array.
    pub fn check_writable(&self, operation: &str) -> Result<()> {
        if self.readonly {
            return Err(Error::value(format!(
                "{operation}: the array is read-only (its memory was lent so); write to a copy() of it"
            )));
        }
        Ok(())
    }
}
