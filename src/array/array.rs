//! Defines arrays: an array is a memory block with a layout and a dtype. Views of an array share its memory block.

use std::any::Any;
use std::mem::MaybeUninit;
use std::sync::Arc;

use pygpu_backend::Address;
use pygpu_base::dtype::DType;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::NodeId;
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_layout::{Layout, MemoryOrder};
use pygpu_memory::{Access, Allocation, OwnerBox};

/// Returns an error if a layout reaches outside a memory block of `bytes` bytes.
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

/// A strided array in device or host memory. Clones of an array share its memory.
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
            // At process exit the owner is leaked, because the Python object to which it refers may already be
            // destroyed.
            std::mem::forget(self.0.take());
        }
    }
}

/// All data of an array except layout and dtype. The type is separate, because it is smaller than an `Array`, and each
/// function that returns an `Array` copies it.
pub struct ArrayPlacement {
    /// The memory block.
    pub allocation: Arc<Allocation>,
    /// Number of bytes from the start of the memory block to element zero of the array. The sum of `shift` and a byte
    /// offset from element zero is the offset from the start of the block.
    pub shift: i64,
    /// Whether PyGPU rejects writes to the array.
    pub readonly: bool,
    /// An owner that the array keeps alive in addition to the memory block.
    pub owner: Option<OwnerBox>,
}

impl ArrayPlacement {
    /// Wraps external memory in a memory block, which is freed with the last array that uses it.
    ///
    /// # Errors
    /// `ValueError` if the elements would lie outside the address space.
    ///
    /// # Safety
    /// The conditions of [`Array::imported`] apply to the bytes in the range `extent`, counted from `address`.
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
        // In an array, offsets are counted from the first byte of the memory block, whereas `extent` is counted from
        // element zero.
        Ok(Self { allocation: Arc::new(allocation), shift: -low, readonly, owner: None })
    }

    /// Creates an array with the given layout in this memory block.
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
    /// Allocates an uninitialized array. Work enqueued on `stream` may use it without further synchronization.
    ///
    /// # Errors
    /// `ValueError` for a negative or too large shape; `OutOfMemory`; driver errors.
    #[inline]
    pub fn empty(shape: &[i64], dtype: DType, order: MemoryOrder, stream: Stream) -> Result<Self> {
        let layout = Layout::contiguous(shape, dtype.itemsize() as i64, order)?;
        Self::on_new_memory(layout, dtype, stream)
    }

    /// Allocates an uninitialized array with the dense layout `layout`.
    ///
    /// # Errors
    /// `OutOfMemory`; driver errors.
    #[inline]
    pub fn on_new_memory(layout: Layout, dtype: DType, stream: Stream) -> Result<Self> {
        let allocation = Arc::new(Allocation::new(layout.nbytes() as usize, stream)?);
        Ok(Self { allocation, layout, dtype, readonly: false, owner: None })
    }

    /// Creates an array that uses an existing memory block.
    ///
    /// # Errors
    /// `ValueError` if the layout reaches outside the block.
    #[inline]
    pub fn over(allocation: Arc<Allocation>, layout: Layout, dtype: DType, readonly: bool) -> Result<Self> {
        check_extent(&allocation, &layout)?;
        Ok(Self { allocation, layout, dtype, readonly, owner: None })
    }

    /// Returns the array with an additional owner. Views of the array keep this owner alive too.
    #[must_use]
    pub fn with_owner(self, owner: OwnerBox) -> Self {
        Self { owner: Some(Arc::new(BaseOwner(Some(owner)))), ..self }
    }

    /// Returns the array's owner besides its memory block, and the number of arrays that share this owner.
    pub fn owner(&self) -> Option<(&(dyn Any + Send + Sync), usize)> {
        let owner = self.owner.as_ref()?;
        Some((&**owner.0.as_ref()?, Arc::strong_count(owner)))
    }

    /// Creates an array that uses external memory. `owner` is dropped with the last array that uses this memory.
    ///
    /// # Errors
    /// `ValueError` if the elements would lie outside the address space.
    ///
    /// # Safety
    /// `address` is the address of element zero. The bytes that the layout reaches must be memory of the stream's
    /// device, usable in the order of the stream. The bytes must stay valid until `owner` is dropped, or, without an
    /// owner, while the array or a view of it is used.
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

    /// Initializes the uninitialized `slot` with an array in the memory block `allocation`. The array has the layout of
    /// a single element, until the caller sets another layout; see [`Self::write_view`].
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

    /// Returns whether `slot` contains an array and not zeros. An array and zeros are distinguished by the pointer to
    /// the memory block, which is never null in an array.
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
    /// [`Self::layout_mut`]. The view is not returned by value, because an array is large: moving it through several
    /// returns costs more than all other steps of creating a view.
    ///
    /// # Safety
    /// `slot` must be writable and must not hold an array.
    #[inline(always)]
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
    /// `slot` must be writable and must not hold an array. The caller must write the layout.
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

    /// Frees the array's memory block if this array is the block's only user and no driver call is needed. If the
    /// result is `true`, the caller may only drop the array.
    #[inline]
    pub fn try_return_to_cache(&mut self) -> bool {
        self.owner.is_none() && Arc::get_mut(&mut self.allocation).is_some_and(Allocation::try_return_to_cache)
    }

    /// Calls `forget` to discard the deferred operation that computes the array, if this array is the only user of its
    /// memory block and the block has no memory yet. If the result is `true`, the caller may only drop the array.
    pub fn drop_unproduced(&self, forget: impl FnOnce(NodeId) -> bool) -> bool {
        Arc::strong_count(&self.allocation) == 1 && self.allocation.drop_unproduced(forget)
    }

    /// Returns the layout of a view that is being created, for the caller to set.
    ///
    /// # Safety
    /// Before any other code can access the array, its layout must reach no byte outside the block. The layout of
    /// another array whose extent was checked against the block, or a part of such a layout, fulfils this condition.
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

    /// Sets layout, write permission and owner of a new array, from the fields of an [`ArrayPlacement`] whose memory
    /// block the array already has. `shift` is added to the offset of `layout`.
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

    /// Returns a read-only array with the same memory and layout.
    pub fn as_readonly(&self) -> Self {
        Self { readonly: true, ..self.clone() }
    }

    /// Returns the array's memory block.
    #[inline]
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    /// Returns the array's layout: shape, strides and offset.
    #[inline]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the type of the elements.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns whether PyGPU rejects writes to the array.
    #[inline]
    pub fn readonly(&self) -> bool {
        self.readonly
    }

    /// Returns the kind of access (read or write) that another library has to the array after an export.
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
