//! Arrays: a layout and a dtype over a block of memory. Views share the block.

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
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::{Access, Allocation, OwnerBox};

/// Returns an error if a layout reaches outside a block of `bytes` bytes.
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
    owner: Option<Arc<BaseOwner>>,
}

/// An owner that an array keeps alive in addition to its memory block.
pub struct BaseOwner(Option<OwnerBox>);

impl Drop for BaseOwner {
    fn drop(&mut self) {
        if shutdown::exiting() {
            // Leaked at process exit, because the Python object that it refers to may already be destroyed.
            std::mem::forget(self.0.take());
        }
    }
}

/// The memory block of an array, with everything except layout and dtype. Separate because an array is large, and every
/// function that returns one copies it.
pub struct ArrayPlacement {
    /// The memory block.
    pub allocation: Arc<Allocation>,
    /// Number of bytes to add to the offset of a layout that counts from element zero.
    pub shift: i64,
    /// Whether writes to the array are rejected.
    pub readonly: bool,
    /// An owner to keep alive in addition to the block.
    pub owner: Option<OwnerBox>,
}

impl ArrayPlacement {
    /// Wraps external memory in a block that is freed with the last array over it.
    ///
    /// # Errors
    /// `ValueError` if the elements would lie outside the address space.
    ///
    /// # Safety
    /// As for [`Array::imported`], for the bytes of `extent` relative to `address`.
    pub unsafe fn lent(
        address: Address,
        extent: Option<(i64, i64)>,
        readonly: bool,
        stream: Stream,
        owner: Option<OwnerBox>,
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
        // SAFETY: the caller guarantees that the memory is valid until `owner` is dropped, as `Allocation` requires.
        let allocation = unsafe {
            match owner {
                Some(owner) => Allocation::imported(first, bytes, stream, owner),
                None => Allocation::unowned(first, bytes, stream),
            }
        };
        // The offset now counts from the first byte of the block.
        Ok(Self { allocation: Arc::new(allocation), shift: -low, readonly, owner: None })
    }

    /// Creates an array over this memory.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    pub fn array(self, layout: Layout, dtype: DType) -> Result<Array> {
        let layout = if self.shift == 0 { layout } else { layout.with_offset(layout.offset() + self.shift)? };
        let array = Array::over(self.allocation, layout, dtype, self.readonly)?;
        Ok(match self.owner {
            Some(owner) => array.with_owner(owner),
            None => array,
        })
    }
}

impl Array {
    /// Allocates an uninitialized array, usable in the order of `stream`.
    ///
    /// # Errors
    /// `ValueError` for a negative or too large shape; `OutOfMemory`; driver errors.
    #[inline]
    pub fn empty(shape: &[i64], dtype: DType, order: MemoryOrder, stream: Stream) -> Result<Self> {
        let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
        Self::on_new_memory(layout, dtype, stream)
    }

    /// Allocates an uninitialized array with the given dense layout.
    ///
    /// # Errors
    /// `OutOfMemory`; driver errors.
    #[inline]
    pub fn on_new_memory(layout: Layout, dtype: DType, stream: Stream) -> Result<Self> {
        let allocation = Arc::new(Allocation::new(layout.nbytes() as usize, stream)?);
        Ok(Self { allocation, layout, dtype, readonly: false, owner: None })
    }

    /// Creates an array over an existing memory block.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn over(allocation: Arc<Allocation>, layout: Layout, dtype: DType, readonly: bool) -> Result<Self> {
        check_extent(&allocation, &layout)?;
        Ok(Self { allocation, layout, dtype, readonly, owner: None })
    }

    /// Returns the same array with an additional owner, which its views keep alive too.
    #[must_use]
    pub fn with_owner(self, owner: OwnerBox) -> Self {
        Self { owner: Some(Arc::new(BaseOwner(Some(owner)))), ..self }
    }

    /// Returns the additional owner, and the number of arrays that share it.
    pub fn owner(&self) -> Option<(&(dyn Any + Send + Sync), usize)> {
        let owner = self.owner.as_ref()?;
        Some((&**owner.0.as_ref()?, Arc::strong_count(owner)))
    }

    /// Creates an array over external memory. The block is freed with the last array over it.
    ///
    /// # Errors
    /// `ValueError` if the elements would lie outside the address space.
    ///
    /// # Safety
    /// `address` is the address of element zero. The bytes that the layout reaches must be memory of the stream's
    /// device, usable in the order of the stream. They must stay valid until `owner` is dropped, or without an owner
    /// while the array and its views are used.
    pub unsafe fn imported(
        address: Address,
        layout: Layout,
        dtype: DType,
        readonly: bool,
        stream: Stream,
        owner: Option<OwnerBox>,
    ) -> Result<Self> {
        // SAFETY: the caller guarantees that the memory is valid until `owner` is dropped, as `lent` requires.
        let ground = unsafe { ArrayPlacement::lent(address, layout.extent(), readonly, stream, owner)? };
        ground.array(layout, dtype)
    }

    /// Writes an array over a memory block into `slot`, with the layout of a single element. The caller then sets the
    /// layout; see [`Self::write_view`].
    ///
    /// # Safety
    /// `slot` must be writable and must not hold an array.
    #[inline]
    pub unsafe fn write_new(slot: *mut Self, allocation: Arc<Allocation>, dtype: DType) {
        // SAFETY: the caller guarantees that `slot` is writable; each field is written once and not read before.
        unsafe {
            (&raw mut (*slot).allocation).write(allocation);
            Layout::write_scalar(&raw mut (*slot).layout, dtype.itemsize() as i64);
            (&raw mut (*slot).dtype).write(dtype);
            (&raw mut (*slot).readonly).write(false);
            (&raw mut (*slot).owner).write(None);
        }
    }

    /// Returns whether `slot` contains an array; otherwise all its bytes are zero. The pointer to the block is never
    /// null, which distinguishes the two.
    ///
    /// # Safety
    /// `slot` must be readable and contain an array or zeros.
    #[inline]
    pub unsafe fn is_written(slot: *const Self) -> bool {
        // SAFETY: the caller guarantees a readable slot; an `Arc` of a sized value has the layout of a pointer.
        unsafe { !(&raw const (*slot).allocation).cast::<*const ()>().read().is_null() }
    }

    /// Creates a view of the same memory with another layout.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn view(&self, layout: Layout) -> Result<Self> {
        self.view_as(layout, self.dtype)
    }

    /// Writes a view into `slot`, with the layout of a single element. The caller then sets the layout with
    /// [`Self::layout_mut`]. An array is large: moving one through several returns costs more than the rest of creating
    /// a view.
    ///
    /// # Safety
    /// `slot` must be writable and must not hold an array.
    #[inline]
    pub unsafe fn write_view(&self, slot: *mut Self) {
        // SAFETY: the caller guarantees a writable slot; `write_all_but_layout` leaves only the layout, which is
        // written here.
        unsafe {
            self.write_all_but_layout(slot);
            Layout::write_scalar(&raw mut (*slot).layout, self.layout.itemsize());
        }
    }

    /// Clones the array directly into `slot`, without moving it.
    #[inline]
    pub fn clone_to(&self, slot: &mut MaybeUninit<Self>) {
        let slot = slot.as_mut_ptr();
        // SAFETY: a `MaybeUninit` is writable; `write_all_but_layout` leaves only the layout, which is written here.
        unsafe {
            self.write_all_but_layout(slot);
            self.layout.clone_to(&mut *(&raw mut (*slot).layout).cast());
        }
    }

    /// Writes all fields of a view into `slot`, except its layout.
    ///
    /// # Safety
    /// As for [`Self::write_view`]. The caller must write the layout.
    #[inline(always)]
    unsafe fn write_all_but_layout(&self, slot: *mut Self) {
        // SAFETY: the caller guarantees that `slot` is writable; each field is written once and not read before.
        unsafe {
            (&raw mut (*slot).allocation).write(Arc::clone(&self.allocation));
            (&raw mut (*slot).dtype).write(self.dtype);
            (&raw mut (*slot).readonly).write(self.readonly);
            (&raw mut (*slot).owner).write(self.owner.clone());
        }
    }

    /// Frees the array's memory block if this array is its only user and no driver call is needed. After `true` the
    /// array may only be dropped.
    #[inline]
    pub fn try_return_to_cache(&mut self) -> bool {
        self.owner.is_none() && Arc::get_mut(&mut self.allocation).is_some_and(Allocation::try_return_to_cache)
    }

    /// If the array's block has no memory yet and this array is its only user, calls `forget` to discard the operation
    /// that computes it. After `true` the array may only be dropped.
    pub fn drop_unproduced(&self, forget: impl FnOnce(NodeId) -> bool) -> bool {
        Arc::strong_count(&self.allocation) == 1 && self.allocation.drop_unproduced(forget)
    }

    /// Returns the layout of a view that is being created, for the caller to set.
    ///
    /// # Safety
    /// Before any other code sees the array, its layout must reach no byte outside the block. The layout of another,
    /// checked array over the block, or a part of such a layout, fulfils this.
    #[inline]
    pub unsafe fn layout_mut(&mut self) -> &mut Layout {
        &mut self.layout
    }

    /// Creates a view of the same memory with another dtype.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn view_as(&self, layout: Layout, dtype: DType) -> Result<Self> {
        let view = Self::over(Arc::clone(&self.allocation), layout, dtype, self.readonly)?;
        Ok(Self { owner: self.owner.clone(), ..view })
    }

    /// Sets layout and owner of an array that was created over the block of an [`ArrayPlacement`]. The layout's offset
    /// counts from element zero.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn settle(&mut self, layout: &Layout, shift: i64, readonly: bool, owner: Option<OwnerBox>) -> Result<()> {
        self.layout.assign(layout);
        if shift != 0 {
            self.layout = self.layout.with_offset(layout.offset() + shift)?;
        }
        check_extent(&self.allocation, &self.layout)?;
        self.readonly = readonly;
        self.owner = owner.map(|owner| Arc::new(BaseOwner(Some(owner))));
        Ok(())
    }

    /// Returns the same array, but read-only.
    pub fn as_readonly(&self) -> Self {
        Self { readonly: true, ..self.clone() }
    }

    /// Returns the array's memory block.
    #[inline]
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// Returns shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns whether writes are rejected.
    #[inline]
    pub fn readonly(&self) -> bool {
        self.readonly
    }

    /// Returns the access that another library has to the array if it is exported.
    #[inline]
    pub fn exported_access(&self) -> Access {
        if self.readonly { Access::Read } else { Access::Write }
    }

    /// Returns the device of the array's memory.
    #[inline]
    pub fn device(&self) -> Device {
        self.allocation.device()
    }

    /// Returns the address of element zero; 0 for an empty array.
    #[inline]
    pub fn address(&self) -> Address {
        if self.layout.size() == 0 {
            return 0;
        }
        self.allocation.address().wrapping_add_signed(self.layout.offset() as isize)
    }

    /// Checks that the array is writable.
    ///
    /// # Errors
    /// `ValueError` with NumPy's message for a read-only array.
    pub fn check_writable(&self, operation: &str) -> Result<()> {
        if self.readonly {
            return Err(Error::value(format!(
                "{operation}: the array is read-only (its memory was lent so); write to a copy() of it"
            )));
        }
        Ok(())
    }
}
