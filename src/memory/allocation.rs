//! One block of memory: who owns it, who used it last, and its end behind that.

mod deferred;
mod kept;
mod lending;
mod place;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::capture;
use crate::order::{Access, Order, Ticket};
use crate::plugged::{self, Allocator, Lent};
use crate::pool::Source;
use crate::{pinned, pool};
use pygpu_backend::{self as backend, Address, HostFlags, overrun_of_block};
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::{self, Escape};
use pygpu_device::Device;
use pygpu_device::shutdown;
use pygpu_device::stream::{Identity, Mark, Stream};

use self::place::Place;

enum Origin {
    /// From the pool of the device, or where it has none.
    Own,
    /// Pinned host memory.
    Pinned(HostFlags),
    /// From an allocator of the user's choice, which takes it back in the order of the stream.
    Plugged(Option<Lent>),
    /// Lent by another library.
    Lent(Option<Lent>),
}

/// One block of memory. Arrays and lent-out buffers share it through an `Arc`.
pub struct Allocation {
    place: Place,
    bytes: usize,
    epoch: u32,
    origin: Origin,
    /// Who used it. Its home is the stream in whose order pool memory was made and is given back.
    order: Order<Stream>,
    /// Somebody else has the address and tells nobody when that ends, or on which stream: the free waits for the whole device.
    exposed: Escape,
    /// Somebody else can have the address: operations on the block are not put off, since nobody sees what is written meanwhile.
    published: Escape,
    /// Exports that were not given back yet.
    exports: AtomicU32,
}

impl Allocation {
    /// A block of `bytes` on a device, usable in the order of `stream`. No bytes: no driver call, address 0.
    ///
    /// # Errors
    /// `OutOfMemory`, also after synchronising and trimming; the driver's.
    #[inline(always)]
    pub fn new(bytes: usize, stream: Stream) -> Result<Self> {
        if stream.is_foreign() || capture::is_any() {
            return Self::beside(bytes, stream);
        }
        Self::on(bytes, stream)
    }

    /// As [`Self::new`], where memory in the order of the stream itself would end with it, or with a capture.
    #[cold]
    fn beside(bytes: usize, stream: Stream) -> Result<Self> {
        let device = stream.device();
        if bytes > 0 && capture::number_of(&stream)?.is_some() {
            return Self::on(bytes, capture::home(device)?);
        }
        // A foreign stream may be gone when the block is freed; the default stream never is.
        Self::on(bytes, if stream.is_foreign() { Stream::default_of(device) } else { stream })
    }

    #[inline(always)]
    fn on(bytes: usize, stream: Stream) -> Result<Self> {
        let device = stream.device();
        if bytes > 0
            && let Some(allocator) = plugged::current()
        {
            return Self::from_allocator(&*allocator, bytes, &stream);
        }
        let epoch = device.epoch();
        let (address, source) = if bytes == 0 { (0, Source::Plain) } else { pool::allocate(bytes, &stream)? };
        Ok(Self::with(Place::new(address, source), bytes, epoch, Origin::Own, stream))
    }

    /// A block of `bytes`, not 0, of somebody else's allocator, asked for in the order of `stream`.
    ///
    /// # Errors
    /// The allocator's; `OutOfMemory` beyond the device's limit.
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
        let place = Place::new(block.address, Source::Plain);
        Ok(Self::with(place, bytes, epoch, Origin::Plugged(Some(block.owner)), block.stream))
    }

    /// Memory of a kind that the driver has beside its pools: `ask` gives the address and the bytes, `Backend::free` takes it
    /// back. Usable on every stream at once.
    ///
    /// # Errors
    /// `OutOfMemory`, also after synchronising and trimming the pool; the driver's.
    pub fn by_driver(device: Device, ask: impl Fn() -> Result<(Address, usize)>) -> Result<Self> {
        let epoch = device.epoch();
        let (address, bytes) = pool::allocate_by(device, ask)?;
        let place = Place::new(address, Source::Plain);
        let block = Self::with(place, bytes, epoch, Origin::Own, Stream::default_of(device));
        block.publish(); // the host or other processes may have it
        Ok(block)
    }

    /// Memory of which only the address is known, in the order of `stream`. Whoever brought the address keeps it there.
    ///
    /// # Safety
    /// So many bytes of the stream's device are at the address as long as anything uses the block.
    pub unsafe fn of_nobody(address: Address, bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(Place::new(address, Source::Plain), bytes, epoch, Origin::Lent(None), stream)
    }

    /// Pinned host memory that the device's copy engines reach directly.
    ///
    /// # Errors
    /// `OutOfMemory`; the driver's.
    pub fn pinned(device: Device, bytes: usize, flags: HostFlags) -> Result<Self> {
        let epoch = device.epoch();
        let address = if bytes == 0 { 0 } else { pinned::allocate(device, bytes, flags)? };
        let place = Place::new(address, Source::Plain);
        Ok(Self::with(place, bytes, epoch, Origin::Pinned(flags), Stream::default_of(device)))
    }

    /// Memory that another library owns and has made usable in the order of `stream`.
    ///
    /// # Safety
    /// So many bytes of the stream's device are at the address until `owner` is dropped.
    pub unsafe fn lent(address: Address, bytes: usize, stream: Stream, owner: Lent) -> Self {
        let epoch = stream.device().epoch();
        Self::with(Place::new(address, Source::Plain), bytes, epoch, Origin::Lent(Some(owner)), stream)
    }

    #[inline(always)]
    fn with(place: Place, bytes: usize, epoch: u32, origin: Origin, stream: Stream) -> Self {
        let (exposed, published, exports) = (Escape::new(), Escape::new(), AtomicU32::new(0));
        Self { place, bytes, epoch, origin, order: Order::new(stream), exposed, published, exports }
    }

    /// The device whose memory it is; for pinned memory, the device it was pinned for.
    #[inline]
    pub fn device(&self) -> Device {
        self.order.home().device()
    }

    /// The first byte; for lent memory, the address of element zero; 0 as long as an operation that was put off has given it none.
    #[inline]
    pub fn address(&self) -> Address {
        self.place.address()
    }

    /// Bytes of the block.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the device was not reset since.
    #[inline]
    pub fn is_alive(&self) -> bool {
        self.epoch == self.device().epoch()
    }

    /// How many bytes behind the block somebody has written, at least; told once. 0 also where nobody can know: only what the
    /// host allocated itself has a zone behind it.
    #[inline]
    pub fn overrun(&self) -> usize {
        if self.address() == 0 || !self.is_plain() || !self.device().is_cpu() {
            return 0;
        }
        // SAFETY: alive, and from the host's heap with these bytes.
        unsafe { overrun_of_block(self.address(), self.bytes) }
    }

    /// Whether another library owns the memory.
    #[inline]
    pub fn is_lent(&self) -> bool {
        matches!(self.origin, Origin::Lent(_))
    }

    /// Whether it is PyGPU's own memory of a device, which all devices reach that reach its device.
    #[inline]
    pub fn is_own(&self) -> bool {
        matches!(self.origin, Origin::Own)
    }

    /// Whether it is, and of no pool.
    #[inline]
    fn is_plain(&self) -> bool {
        self.is_own() && self.place.source() == Source::Plain
    }

    /// Whether somebody is to be told that the memory is not used any more.
    #[inline]
    fn has_owner(&self) -> bool {
        matches!(self.origin, Origin::Lent(_) | Origin::Plugged(_))
    }

    /// Who is told when the memory is not used any more; `None` also where that must first wait for work on other streams.
    #[inline]
    pub fn lender(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.origin {
            Origin::Lent(Some(owner)) | Origin::Plugged(Some(owner)) if self.order.is_untouched() => Some(&**owner),
            _ => None,
        }
    }

    /// What keeps the memory that an allocator of the user's choice gave.
    pub fn plugged(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.origin {
            Origin::Plugged(Some(owner)) => Some(&**owner),
            _ => None,
        }
    }

    /// Whether a use on that stream has nothing to wait for, since no other stream has ever used the block.
    #[inline]
    pub(super) fn is_at_home(&self, stream: Identity) -> bool {
        self.order.is_at_home(stream) && self.is_alive()
    }

    /// Whether no other stream than its home has ever used the block.
    #[inline]
    pub(super) fn is_untouched(&self) -> bool {
        self.order.is_untouched()
    }

    /// Makes `stream` wait for whom an access must wait for. Only [`super::ordered`] calls it, which ends what it begins.
    ///
    /// # Errors
    /// `ValueError` when the device was reset since; the driver's.
    #[inline]
    pub(super) fn begin(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<Ticket> {
        let device = self.device();
        if device.is_cpu() {
            return self.begin_on_cpu(access, stream);
        }
        if self.epoch != device.epoch() {
            return Err(Error::value(format!(
                "the array's memory was destroyed when {device} was reset; make the array again"
            )));
        }
        if let Some(capture) = capture::of(stream)? {
            capture.note(self, access, stream)?;
            return Ok(Ticket::NOTHING);
        }
        match self.order.begin_alone(stream) {
            Some(ticket) => Ok(ticket),
            None => self.begin_among_others(access, stream),
        }
    }

    /// On the CPU work is done when its call returns, unless it is captured.
    #[inline]
    fn begin_on_cpu(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<Ticket> {
        if let Some(capture) = capture::of(stream)? {
            capture.note(self, access, stream)?;
        }
        Ok(Ticket::NOTHING)
    }

    #[cold]
    fn begin_among_others(&self, access: Access, stream: &Stream) -> Result<Ticket> {
        if capture::number_of(stream)?.is_some() {
            self.settle()?;
            return Ok(Ticket::NOTHING);
        }
        self.order.begin(access, stream)
    }

    /// Stops the host until no work uses the block, for a capture that somebody else began: who launches it is not seen.
    #[cold]
    fn settle(&self) -> Result<()> {
        self.expose();
        self.synchronize()
    }

    /// Notes an access whose work was put on the stream, or may have been.
    ///
    /// # Errors
    /// The driver's.
    #[inline]
    pub(super) fn end(&self, ticket: Ticket, access: Access, stream: &Stream) -> Result<()> {
        self.order.end(ticket, access, stream)
    }

    /// Ends an access of which nothing was put on the stream.
    pub(super) fn cancel(&self, ticket: Ticket) {
        self.order.cancel(ticket);
    }

    /// Says that work which PyGPU did not see uses the block on `stream`: later uses and the free wait for it.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_stream(&self, stream: &Stream) -> Result<()> {
        if self.device().is_cpu() || capture::is_capturing(stream)? {
            return Ok(());
        }
        self.order.note(Access::Write, stream)
    }

    /// Whether work on `stream` needs no wait for any known use, so that an operation there reaches no driver for it.
    #[inline(always)]
    pub fn is_in_order_of(&self, stream: &Stream) -> bool {
        self.epoch == self.device().epoch() && self.order.is_all_of(stream) && !capture::is_any()
    }

    /// A stream of the block's device behind which every use is that such an access waits for, and which lives as long as the
    /// block.
    ///
    /// # Errors
    /// `ValueError` when the device was reset since; the driver's.
    pub fn join(self: &Arc<Self>, access: Access) -> Result<Stream> {
        // A copy between devices is written on the source's, whose streams mean nothing to who is handed this block.
        let own = self.order.latest_writer().filter(|stream| stream.device() == self.device());
        let stream = own.unwrap_or_else(|| Stream::default_of(self.device()));
        self.hand_over(access, &stream)?;
        Ok(stream)
    }

    /// Makes `stream` wait for whom an access must wait for that is not ours to see; it is noted as if it were there already.
    ///
    /// # Errors
    /// `ValueError` when the device was reset since; the driver's.
    pub fn hand_over(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<()> {
        super::ordered(&[(self, access)], stream, || Ok(()))
    }

    /// Stops the host until every known use has ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<()> {
        if self.device().is_cpu() { Ok(()) } else { self.order.synchronize() }
    }

    /// After a wait for the block: what failed on other devices, which wrote it, and of which this one knows nothing.
    ///
    /// # Errors
    /// The driver's.
    #[inline]
    pub fn check_other_devices(&self) -> Result<()> {
        let own = self.device();
        if own.is_cpu() || self.order.is_untouched() {
            return Ok(());
        }
        self.order.synchronize_where(|stream, access| access == Access::Write && stream.device() != own)
    }

    /// Puts the end of the block behind every use of it, on its home stream.
    fn wait_before_free(&mut self) -> Result<()> {
        self.order.join_for_the_end()?;
        if self.exposed.is_begun() {
            match Mark::record_device(self.device())? {
                Some(mark) => self.order.home().wait_event(mark.event())?,
                // No event covers the streams of others, HIP has none: the host waits, since nothing else is safe.
                None => self.device().synchronize()?,
            }
        }
        Ok(())
    }

    /// All that the block is, to be dropped later; what stays behind owns nothing.
    fn take(&mut self) -> Self {
        Self {
            place: self.place.take(),
            bytes: std::mem::take(&mut self.bytes),
            epoch: self.epoch,
            origin: std::mem::replace(&mut self.origin, Origin::Own),
            order: self.order.take(),
            exposed: std::mem::take(&mut self.exposed),
            published: std::mem::take(&mut self.published),
            exports: AtomicU32::new(*self.exports.get_mut()),
        }
    }

    /// Frees what may be used again in the order of its home stream.
    fn release_in_order(&mut self, free: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let ordered = if self.device().is_cpu() { Ok(()) } else { self.wait_before_free() };
        if ordered.is_err() && self.device().synchronize().is_err() {
            // Nobody knows who still uses the block: better lost than given to somebody else.
            std::mem::forget(free);
            return ordered;
        }
        free(self)?;
        pool::account_for_free(self.device(), self.bytes);
        ordered
    }

    fn release(&mut self) -> Result<()> {
        let device = self.device();
        let (backend, index) = (device.backend(), device.index());
        match &mut self.origin {
            Origin::Own if self.place.source() == Source::Plain => {
                // SAFETY: this is the last owner; the driver waits for the device, the CPU has nothing in flight.
                unsafe { backend.free(index, self.place.address(), self.bytes)? };
                pool::account_for_free(device, self.bytes);
                Ok(())
            }
            Origin::Own => {
                // What others have had goes back to the driver, which knows of more streams than this one.
                let is_private = self.order.is_untouched() && !self.exposed.is_begun();
                let is_recyclable = is_private && self.place.source() == Source::Recyclable;
                self.release_in_order(|block| {
                    // SAFETY: this is the last owner; every use known of is before this point of the stream, or has ended.
                    unsafe { pool::free(block.address(), block.bytes, block.order.home(), is_recyclable) }
                })
            }
            Origin::Plugged(owner) => {
                let owner = owner.take();
                if self.epoch != device.epoch() {
                    // The memory and the streams went with a reset; what the allocator still has to put away is its own.
                    return Ok(());
                }
                self.release_in_order(|_| {
                    drop(owner);
                    Ok(())
                })
            }
            Origin::Pinned(flags) => {
                // Who copies asynchronously keeps the memory until the copy is over (`pending`).
                // SAFETY: this is the last owner and no copy is in flight.
                unsafe { pinned::free(device, self.place.address(), self.bytes, *flags, self.epoch) }
            }
            Origin::Lent(None) => Ok(()), // nobody waits for the end
            Origin::Lent(owner) => {
                let owner = owner.take();
                // The owner knows of the stream it made the memory usable on, and of none other.
                let result = if self.order.is_all_of(self.order.home()) { Ok(()) } else { self.synchronize() };
                drop(owner);
                result
            }
        }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if shutdown::exiting() {
            if let Origin::Lent(owner) | Origin::Plugged(owner) = &mut self.origin {
                // Its Python side may be gone already: the deleter must not run.
                std::mem::forget(owner.take());
            }
            return;
        }
        if let Some(id) = self.place.written_by.latest() {
            flush::forget(id);
        }
        if self.is_own() && self.address() == 0 {
            return; // no bytes, or none that were had
        }
        let dead = self.epoch != self.device().epoch();
        if (self.bytes == 0 || dead) && !self.has_owner() {
            return;
        }
        if backend::is_host_call() && !self.device().is_cpu() {
            shutdown::put_off(Box::new(self.take()));
            return;
        }
        if capture::is_any() && !self.device().is_cpu() {
            capture::drop_afterwards(Box::new(self.take()));
            return;
        }
        shutdown::defer(self.release());
    }
}
