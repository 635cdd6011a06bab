//! An array: a block of memory with a layout and a dtype on it. Views share the block.

use std::any::Any;
use std::mem::MaybeUninit;
use std::sync::Arc;

use pygpu_backend::Address;
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::NodeId;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, Order};
use pygpu_memory::{Access, Allocation, Lent};

/// Refuses a layout that reaches outside a block.
#[inline]
fn check_extent(allocation: &Allocation, layout: &Layout) -> Result<()> {
    match layout.extent() {
        Some((low, high)) if low < 0 || high > allocation.bytes() as i64 => Err(outside(low, high, allocation.bytes())),
        _ => Ok(()),
    }
}

#[cold]
fn outside(low: i64, high: i64, bytes: usize) -> Error {
    let needed = high.saturating_sub(low.min(0));
    Error::value(format!("the array needs {needed} bytes, from byte {low} to byte {high} of a block of {bytes} bytes"))
}

/// A strided array in device or host memory. Clones share the memory.
#[derive(Clone)]
pub struct Array {
    allocation: Arc<Allocation>,
    layout: Layout,
    dtype: DType,
    readonly: bool,
    keeper: Option<Arc<Keeper>>,
}

/// Somebody who is to live as long as anybody sees the memory, though the block is not theirs.
pub struct Keeper(Option<Lent>);

impl Drop for Keeper {
    fn drop(&mut self) {
        if shutdown::exiting() {
            // Its Python side may be gone already.
            std::mem::forget(self.0.take());
        }
    }
}

/// Where an array is to be: all but its layout and dtype. Why apart: an array is large, and each function that hands one on copies it.
pub struct Ground {
    /// The block.
    pub allocation: Arc<Allocation>,
    /// What comes to the offset of a layout that counts from element zero.
    pub shift: i64,
    /// Whether writing is refused.
    pub readonly: bool,
    /// Who is to be kept beside the block.
    pub keeper: Option<Lent>,
}

impl Ground {
    /// Memory of others, of which a block is made that ends with its arrays.
    ///
    /// # Errors
    /// `ValueError` where the elements would lie outside of all addresses.
    ///
    /// # Safety
    /// As for [`Array::lent`], of the bytes of `extent` from `address` on.
    pub unsafe fn lent(
        address: Address,
        extent: Option<(i64, i64)>,
        readonly: bool,
        stream: Stream,
        owner: Option<Lent>,
    ) -> Result<Self> {
        let (low, high) = extent.unwrap_or((0, 0));
        let bytes = usize::try_from(high - low).ok();
        let first = address.checked_add_signed(low as isize);
        let end = first.zip(bytes).and_then(|(first, bytes)| first.checked_add(bytes));
        let (Some(first), Some(bytes), Some(_)) = (first, bytes, end) else {
            return Err(Error::value(format!(
                "elements from byte {low} to byte {high} around {address:#x} would lie outside of the address space"
            )));
        };
        // SAFETY: promised by the caller.
        let allocation = unsafe {
            match owner {
                Some(owner) => Allocation::lent(first, bytes, stream, owner),
                None => Allocation::of_nobody(first, bytes, stream),
            }
        };
        // From here on the offset counts from the first byte.
        Ok(Self { allocation: Arc::new(allocation), shift: -low, readonly, keeper: None })
    }

    /// An array there.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    pub fn array(self, layout: Layout, dtype: DType) -> Result<Array> {
        let layout = if self.shift == 0 { layout } else { layout.with_offset(layout.offset() + self.shift)? };
        let array = Array::over(self.allocation, layout, dtype, self.readonly)?;
        Ok(match self.keeper {
            Some(keeper) => array.kept_by(keeper),
            None => array,
        })
    }
}

impl Array {
    /// A new array with memory of its own, uninitialised, usable in the order of `stream`.
    ///
    /// # Errors
    /// `ValueError` for a shape that is negative or too big; `OutOfMemory`; the driver's.
    #[inline]
    pub fn empty(shape: &[i64], dtype: DType, order: Order, stream: Stream) -> Result<Self> {
        let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
        Self::on_new_memory(layout, dtype, stream)
    }

    /// A new array, uninitialised, with the given dense layout.
    ///
    /// # Errors
    /// `OutOfMemory`; the driver's.
    #[inline]
    pub fn on_new_memory(layout: Layout, dtype: DType, stream: Stream) -> Result<Self> {
        let allocation = Arc::new(Allocation::new(layout.nbytes() as usize, stream)?);
        Ok(Self { allocation, layout, dtype, readonly: false, keeper: None })
    }

    /// An array over a block that exists.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    #[inline]
    pub fn over(allocation: Arc<Allocation>, layout: Layout, dtype: DType, readonly: bool) -> Result<Self> {
        check_extent(&allocation, &layout)?;
        Ok(Self { allocation, layout, dtype, readonly, keeper: None })
    }

    /// The same array, which keeps somebody beside the block, and so do its views.
    #[must_use]
    pub fn kept_by(self, keeper: Lent) -> Self {
        Self { keeper: Some(Arc::new(Keeper(Some(keeper)))), ..self }
    }

    /// Who is kept beside the block, and by how many arrays.
    pub fn keeper(&self) -> Option<(&(dyn Any + Send + Sync), usize)> {
        let keeper = self.keeper.as_ref()?;
        Some((&**keeper.0.as_ref()?, Arc::strong_count(keeper)))
    }

    /// An array over memory of others, of which a block is made that ends where the array does.
    ///
    /// # Errors
    /// `ValueError` where the elements would lie outside of all addresses.
    ///
    /// # Safety
    /// The bytes that the layout reaches from `address` on, where element zero is, are memory of the stream's device, usable in the
    /// order of the stream, and stay it as long as `owner` is not dropped; without one, as long as the array and its views are used.
    pub unsafe fn lent(
        address: Address,
        layout: Layout,
        dtype: DType,
        readonly: bool,
        stream: Stream,
        owner: Option<Lent>,
    ) -> Result<Self> {
        // SAFETY: promised by the caller.
        let ground = unsafe { Ground::lent(address, layout.extent(), readonly, stream, owner)? };
        ground.array(layout, dtype)
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
            (&raw mut (*slot).keeper).write(None);
        }
    }

    /// Whether there is an array at an address that is else all zero: the block's pointer is never null.
    ///
    /// # Safety
    /// `slot` may be read, and holds an array or zeroes.
    #[inline]
    pub unsafe fn is_written(slot: *const Self) -> bool {
        // SAFETY: promised by the caller; a pointer is as good as an `Arc` of a sized value.
        unsafe { !(&raw const (*slot).allocation).cast::<*const ()>().read().is_null() }
    }

    /// A view of the same memory with another layout.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    #[inline]
    pub fn view(&self, layout: Layout) -> Result<Self> {
        self.view_as(layout, self.dtype)
    }

    /// Writes into `slot` a view whose layout is that of one element, for the caller to set; see [`Self::layout_mut`]. Why: an array
    /// is large, and moving one through the returns of a few functions costs more than all else about a view.
    ///
    /// # Safety
    /// `slot` may be written and holds no array yet.
    #[inline]
    pub unsafe fn write_view(&self, slot: *mut Self) {
        // SAFETY: promised by the caller; the layout is the field that `write_all_but_layout` leaves.
        unsafe {
            self.write_all_but_layout(slot);
            Layout::write_scalar(&raw mut (*slot).layout, self.layout.itemsize());
        }
    }

    /// A clone written where it stays.
    #[inline]
    pub fn clone_to(&self, slot: &mut MaybeUninit<Self>) {
        let slot = slot.as_mut_ptr();
        // SAFETY: the slot may be written; the layout is the field that `write_all_but_layout` leaves.
        unsafe {
            self.write_all_but_layout(slot);
            self.layout.clone_to(&mut *(&raw mut (*slot).layout).cast());
        }
    }

    /// # Safety
    /// As for [`Self::write_view`]; the caller writes the layout.
    #[inline(always)]
    unsafe fn write_all_but_layout(&self, slot: *mut Self) {
        // SAFETY: each field of the slot is written once, without being read.
        unsafe {
            (&raw mut (*slot).allocation).write(Arc::clone(&self.allocation));
            (&raw mut (*slot).dtype).write(self.dtype);
            (&raw mut (*slot).readonly).write(self.readonly);
            (&raw mut (*slot).keeper).write(self.keeper.clone());
        }
    }

    /// Ends the block where nobody else has it and that needs no call of a driver. Only to be dropped afterwards.
    #[inline]
    pub fn end_without_driver(&mut self) -> bool {
        self.keeper.is_none() && Arc::get_mut(&mut self.allocation).is_some_and(Allocation::end_without_driver)
    }

    /// Ends the block where its memory was put off, nobody else has it, and `forget` lets its operation go. Only to be dropped
    /// afterwards.
    pub fn end_put_off(&self, forget: impl FnOnce(NodeId) -> bool) -> bool {
        Arc::strong_count(&self.allocation) == 1 && self.allocation.end_put_off(forget)
    }

    /// The layout, for the maker of a view to fill.
    ///
    /// # Safety
    /// Before anybody else sees the array its layout reaches no byte outside of the block: that of another array over it which was
    /// made with a check, or a part of such a one.
    #[inline]
    pub unsafe fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    /// A view of the same memory as another dtype.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    #[inline]
    pub fn view_as(&self, layout: Layout, dtype: DType) -> Result<Self> {
        let view = Self::over(Arc::clone(&self.allocation), layout, dtype, self.readonly)?;
        Ok(Self { keeper: self.keeper.clone(), ..view })
    }

    /// Puts an array that has the block of `ground` there, with a layout that counts from element zero.
    ///
    /// # Errors
    /// `ValueError` when the layout reaches outside the block.
    #[inline]
    pub fn settle(&mut self, layout: &Layout, shift: i64, readonly: bool, keeper: Option<Lent>) -> Result<()> {
        self.layout.assign(layout);
        if shift != 0 {
            self.layout = self.layout.with_offset(layout.offset() + shift)?;
        }
        check_extent(&self.allocation, &self.layout)?;
        self.readonly = readonly;
        self.keeper = keeper.map(|keeper| Arc::new(Keeper(Some(keeper))));
        Ok(())
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
