//! Defines a memory block: the owner of the memory, its recorded uses, and its release after the last use.

mod block_location;
mod deferred_blocks;
mod exports;
mod release;
mod stream_cached;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::custom_allocator::{self, Allocator, OwnerBox};
use crate::hazards::{Access, HazardTracker, UseToken};
use crate::pool::BlockSource;
use crate::stream_captures;
use crate::{pinned_cache, pool};
use pygpu_backend::{Address, HostFlags, overrun_of_block};
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::Escape;
use pygpu_device::Device;
use pygpu_device::stream::{Stream, StreamId};

use self::block_location::BlockLocation;

enum BlockOrigin {
    /// The memory was allocated from the device's pool, or by a plain driver call if the driver has no pools.
    Pool,
    /// Pinned host memory.
    Pinned(HostFlags),
    /// A custom allocator allocated the memory, and frees it in stream order.
    Custom(Option<OwnerBox>),
    /// The memory was imported from another library.
    Imported(Option<OwnerBox>),
}

/// A memory block. Arrays and exported buffers share it through an `Arc`.
pub struct Allocation {
    location: BlockLocation,
    bytes: usize,
    epoch: u32,
    origin: BlockOrigin,
    /// The recorded uses of the block, and its allocation stream, in whose order pool memory is allocated and freed.
    hazards: HazardTracker<Stream>,
    /// Whether the block is untracked: other code uses the block's address, and the end of this use is never reported.
    /// The free therefore waits for all work on the device.
    untracked: Escape,
    /// Whether the block's address escaped. Operations on such a block are not deferred, because PyGPU does not detect
    /// accesses by other code.
    escaped: Escape,
    /// Number of exports of the block to other libraries that have not ended yet.
    exports: AtomicU32,
}

impl Allocation {
    /// Allocates a block of `bytes` bytes. Work enqueued on `stream` may use the block without further synchronization.
    /// For zero bytes no driver is called and the address is 0.
    ///
    /// # Errors
    /// `OutOfMemory`, after synchronizing and trimming; driver errors.
    #[inline(always)]
    pub fn new(bytes: usize, stream: Stream) -> Result<Self> {
        if stream.is_foreign() || stream_captures::is_any() {
            return Self::beside(bytes, stream);
        }
        Self::on(bytes, stream)
    }

    /// Allocates a block for a borrowed or capturing stream in the order of another stream, because memory allocated on
    /// `stream` itself would be lost with the stream or the capture.
    #[cold]
    fn beside(bytes: usize, stream: Stream) -> Result<Self> {
        let device = stream.device();
        if bytes > 0 && stream_captures::number_of(&stream)?.is_some() {
            return Self::on(bytes, stream_captures::alloc_stream(device)?);
        }
        // A borrowed stream may be destroyed before the block is freed; the default stream is never destroyed.
        Self::on(bytes, if stream.is_foreign() { Stream::default_of(device) } else { stream })
    }

    #[inline(always)]
    fn on(bytes: usize, stream: Stream) -> Result<Self> {
        let device = stream.device();
        if bytes > 0
            && let Some(allocator) = custom_allocator::current()
        {
            return Self::from_allocator(&*allocator, bytes, &stream);
        }
        let epoch = device.epoch();
        let (address, source) = if bytes == 0 { (0, BlockSource::Plain) } else { pool::allocate(bytes, &stream)? };
        Ok(Self::with(BlockLocation::new(address, source), bytes, epoch, BlockOrigin::Pool, stream))
    }

    /// Allocates a block of `bytes` bytes, not 0, by a custom allocator, in the order of `stream`.
    ///
    /// # Errors
    /// Errors of the allocator; `OutOfMemory` beyond the device's limit.
    #[cold]
    pub fn from_allocator(allocator: &dyn Allocator, bytes: usize, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let account = pool::account_for(device, bytes)?;
        let epoch = device.epoch();
        let block = {
            let _current = device.guard()?;
            allocator.allocate(bytes, stream)?
        };
        account.keep();
        let location = BlockLocation::new(block.address, BlockSource::Plain);
        Ok(Self::with(location, bytes, epoch, BlockOrigin::Custom(Some(block.owner)), block.stream))
    }

    /// Allocates memory that the driver provides outside its pools. Every stream may use the memory immediately. `ask`
    /// calls the driver and returns the memory's address and size; `Backend::free` frees the memory.
    ///
    /// # Errors
    /// `OutOfMemory`, after synchronizing and trimming the pool; driver errors.
    pub fn from_driver(device: Device, ask: impl Fn() -> Result<(Address, usize)>) -> Result<Self> {
        let epoch = device.epoch();
        let (address, bytes) = pool::allocate_by(device, ask)?;
        let location = BlockLocation::new(address, BlockSource::Plain);
        let block = Self::with(location, bytes, epoch, BlockOrigin::Pool, Stream::default_of(device));
        block.mark_escaped(); // the program may pass the address to the host or to other processes
        Ok(block)
    }

    /// Creates a block for memory that the caller owns and keeps alive. Work enqueued on `stream` may use the memory
    /// without further synchronization.
    ///
    /// # Safety
    /// There must be `bytes` bytes of the stream's device at the address while anything uses the block.
    pub unsafe fn unowned(address: Address, bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(BlockLocation::new(address, BlockSource::Plain), bytes, epoch, BlockOrigin::Imported(None), stream)
    }

    /// Allocates pinned host memory that the device's copy engines access directly.
    ///
    /// # Errors
    /// `OutOfMemory`; driver errors.
    pub fn pinned(device: Device, bytes: usize, flags: HostFlags) -> Result<Self> {
        let epoch = device.epoch();
        let address = if bytes == 0 { 0 } else { pinned_cache::allocate(device, bytes, flags)? };
        let location = BlockLocation::new(address, BlockSource::Plain);
        Ok(Self::with(location, bytes, epoch, BlockOrigin::Pinned(flags), Stream::default_of(device)))
    }

    /// Creates a block for memory of another library. Work enqueued on `stream` may use the memory without further
    /// synchronization.
    ///
    /// # Safety
    /// There must be `bytes` bytes of the stream's device at the address until `owner` is dropped.
    pub unsafe fn imported(address: Address, bytes: usize, stream: Stream, owner: OwnerBox) -> Self {
        let epoch = stream.device().epoch();
        let location = BlockLocation::new(address, BlockSource::Plain);
        Self::with(location, bytes, epoch, BlockOrigin::Imported(Some(owner)), stream)
    }

    #[inline(always)]
    fn with(location: BlockLocation, bytes: usize, epoch: u32, origin: BlockOrigin, stream: Stream) -> Self {
        let (untracked, escaped, exports) = (Escape::new(), Escape::new(), AtomicU32::new(0));
        Self { location, bytes, epoch, origin, hazards: HazardTracker::new(stream), untracked, escaped, exports }
    }

    /// Returns the device of the memory; for pinned memory, the device for which it was pinned.
    #[inline]
    pub fn device(&self) -> Device {
        self.hazards.alloc_stream().device()
    }

    /// Returns the address of the block's first byte; for imported memory, the address of element 0. The address is 0
    /// while the memory of a deferred result is not allocated.
    #[inline]
    pub fn address(&self) -> Address {
        self.location.address()
    }

    /// Returns the size of the block in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether the block's memory still exists. A device reset after the allocation destroys it.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.epoch == self.device().epoch()
    }

    /// Returns the minimum number of bytes that were written past the end of the block. Each overrun is reported once.
    /// Returns 0 for memory without a red zone: only host memory allocated by PyGPU has one.
    #[inline]
    pub fn overrun(&self) -> usize {
        if self.address() == 0 || !self.is_plain() || !self.device().is_cpu() {
            return 0;
        }
        // SAFETY: the block is alive and was allocated from the host's heap with this size.
        unsafe { overrun_of_block(self.address(), self.bytes) }
    }

    /// Returns whether another library owns the memory.
    #[inline]
    pub fn is_imported(&self) -> bool {
        matches!(self.origin, BlockOrigin::Imported(_))
    }

    /// Returns whether the block is PyGPU's own device memory. Such memory is accessible from every device that can
    /// access the block's device.
    #[inline]
    pub fn is_from_pool(&self) -> bool {
        matches!(self.origin, BlockOrigin::Pool)
    }

    /// Returns whether the block is PyGPU's own device memory, allocated outside of any pool.
    #[inline]
    fn is_plain(&self) -> bool {
        self.is_from_pool() && self.location.source() == BlockSource::Plain
    }

    /// Returns whether the memory has an owner, from another library or a custom allocator, whose drop frees the
    /// memory.
    #[inline]
    fn has_owner(&self) -> bool {
        matches!(self.origin, BlockOrigin::Imported(_) | BlockOrigin::Custom(_))
    }

    /// Returns the owner of memory from another library or a custom allocator. Returns `None` if a stream other than
    /// the allocation stream has used the block, because the drop of the owner must wait for that stream.
    #[inline]
    pub fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        let (BlockOrigin::Imported(owner) | BlockOrigin::Custom(owner)) = &self.origin else { return None };
        owner.as_deref().filter(|_| self.hazards.has_no_other_stream())
    }

    /// Returns the owner of the block's memory if a custom allocator allocated it, otherwise `None`.
    pub fn allocator_owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.origin {
            BlockOrigin::Custom(Some(owner)) => Some(&**owner),
            _ => None,
        }
    }

    /// Returns whether a use on `stream` needs no wait because only this stream has ever used the block.
    #[inline]
    pub(super) fn is_only_used_on(&self, stream: StreamId) -> bool {
        self.hazards.is_only_used_on(stream) && self.is_alive()
    }

    /// Returns whether no stream other than its allocation stream has ever used the block.
    #[inline]
    pub(super) fn has_no_other_stream(&self) -> bool {
        self.hazards.has_no_other_stream()
    }

    /// Begins a use of the block: makes `stream` wait for all conflicting uses. Only [`super::ordered`] may call this
    /// function, because `ordered` also ends the use.
    ///
    /// # Errors
    /// `ValueError` if the device was reset since the allocation; driver errors.
    #[inline]
    pub(super) fn begin(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<UseToken> {
        let device = self.device();
        if device.is_cpu() {
            return self.begin_on_cpu(access, stream);
        }
        if self.epoch != device.epoch() {
            return Err(Error::value(format!(
                "the array's memory was destroyed when {device} was reset; make the array again"
            )));
        }
        if let Some(capture) = stream_captures::of(stream)? {
            capture.record_block(self, access, stream)?;
            return Ok(UseToken::NOTHING);
        }
        match self.hazards.begin_uncontended(stream) {
            Some(ticket) => Ok(ticket),
            None => self.begin_among_others(access, stream),
        }
    }

    /// Begins a use of the block on the CPU backend. The use needs no wait, because work of this backend is complete
    /// when its call returns. Work on a capturing stream is recorded in the capture.
    #[inline]
    fn begin_on_cpu(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<UseToken> {
        if let Some(capture) = stream_captures::of(stream)? {
            capture.record_block(self, access, stream)?;
        }
        Ok(UseToken::NOTHING)
    }

    #[cold]
    fn begin_among_others(&self, access: Access, stream: &Stream) -> Result<UseToken> {
        if stream_captures::number_of(stream)?.is_some() {
            self.settle()?;
            return Ok(UseToken::NOTHING);
        }
        self.hazards.begin(access, stream)
    }

    /// Blocks the host until no work uses the block. Required before a use of the block enters another library's
    /// capture, because PyGPU does not detect when the graph of that capture is launched.
    #[cold]
    fn settle(&self) -> Result<()> {
        self.mark_untracked();
        self.synchronize()
    }

    /// Ends a use of the block whose work was or may have been enqueued, and records the use.
    ///
    /// # Errors
    /// Driver errors.
    #[inline]
    pub(super) fn end(&self, ticket: UseToken, access: Access, stream: &Stream) -> Result<()> {
        self.hazards.end(ticket, access, stream)
    }

    /// Ends a use of the block for which no work was enqueued.
    pub(super) fn cancel(&self, ticket: UseToken) {
        self.hazards.cancel(ticket);
    }

    /// Records a use on `stream` by work that PyGPU did not enqueue. Later uses and the free wait for this work.
    ///
    /// # Errors
    /// Driver errors.
    pub fn record_stream(&self, stream: &Stream) -> Result<()> {
        if self.device().is_cpu() || stream_captures::is_capturing(stream)? {
            return Ok(());
        }
        self.hazards.record(Access::Write, stream)
    }

    /// Returns whether new work on `stream` is already ordered after every recorded use. The work then needs no wait
    /// and no driver call.
    #[inline(always)]
    pub fn is_in_order_of(&self, stream: &Stream) -> bool {
        self.epoch == self.device().epoch() && self.hazards.needs_no_wait_on(stream) && !stream_captures::is_any()
    }

    /// Returns a stream of the block's device, after making it wait for all uses that conflict with `access`. The
    /// stream exists at least as long as the block.
    ///
    /// # Errors
    /// `ValueError` if the device was reset since the allocation; driver errors.
    pub fn ordered_stream(self: &Arc<Self>, access: Access) -> Result<Stream> {
        // The latest write may be a copy from another device, which runs on a stream of that device. A consumer on the
        // block's device cannot use this stream.
        let own = self.hazards.latest_writer().filter(|stream| stream.device() == self.device());
        let stream = own.unwrap_or_else(|| Stream::default_of(self.device()));
        self.order_before(access, &stream)?;
        Ok(stream)
    }

    /// Makes `stream` wait for all uses that conflict with an access by another library, and records that access in
    /// advance.
    ///
    /// # Errors
    /// `ValueError` if the device was reset since the allocation; driver errors.
    pub fn order_before(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<()> {
        super::ordered(&[(self, access)], stream, || Ok(()))
    }

    /// Blocks the host until every recorded use is complete.
    ///
    /// # Errors
    /// Driver errors.
    pub fn synchronize(&self) -> Result<()> {
        if self.device().is_cpu() { Ok(()) } else { self.hazards.synchronize() }
    }

    /// Returns errors of other devices that wrote the block, because the block's own device does not report them. The
    /// caller must first wait until all writes of the block are complete, because such errors occur during the writes.
    ///
    /// # Errors
    /// Driver errors.
    #[inline]
    pub fn check_other_devices(&self) -> Result<()> {
        let own = self.device();
        if own.is_cpu() || self.hazards.has_no_other_stream() {
            return Ok(());
        }
        self.hazards.synchronize_where(|stream, access| access == Access::Write && stream.device() != own)
    }
}
