//! One block of memory: who owns it, who used it last, and its end behind that.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::backend::{Address, HostFlags};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::lifetime;
use crate::memory::capture;
use crate::memory::plugged::{self, Allocator};
use crate::memory::usage::{Access, Usage, Use};
use crate::memory::{pinned, pool};
use crate::stream::{Mark, Stream};

/// Memory that somebody else owns: dropped when the last array that uses it is gone.
pub type Lent = Box<dyn Any + Send + Sync>;

enum Origin {
    /// From the device's stream-ordered pool.
    Pool,
    /// From the driver's plain allocation, or the host's allocator.
    Plain,
    /// Pinned host memory.
    Pinned(HostFlags),
    /// From an allocator of the user's choice, which takes it back in the order of the stream.
    Plugged(Option<Lent>),
    /// Lent by another library.
    Lent(Option<Lent>),
}

/// One block of memory. Arrays and lent-out buffers share it through an `Arc`.
pub struct Allocation {
    address: Address,
    bytes: usize,
    epoch: u32,
    origin: Origin,
    /// The stream in whose order pool memory was made and is given back.
    stream: Stream,
    /// Empty as long as only `stream` has used the block, which is most blocks' whole life.
    usage: OnceLock<Box<Mutex<Usage>>>,
    /// Another library was given the address: its work cannot be seen, so the free waits for the whole device.
    lent_out: AtomicBool,
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
            return capture::relaxed(device, || Self::on(bytes, capture::home(device)?));
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
        let (address, pooled) = if bytes == 0 { (0, false) } else { pool::allocate(bytes, &stream)? };
        let origin = if pooled { Origin::Pool } else { Origin::Plain };
        Ok(Self::with(address, bytes, epoch, origin, stream))
    }

    /// A block of `bytes`, not 0, of somebody else's allocator, asked for in the order of `stream`.
    ///
    /// # Errors
    /// The allocator's; `OutOfMemory` beyond the device's limit.
    #[cold]
    pub fn from_allocator(allocator: &dyn Allocator, bytes: usize, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        lifetime::report_deferred()?;
        let account = pool::account_for(device, bytes)?;
        let epoch = device.epoch();
        let block = {
            let _current = device.guard()?;
            allocator.allocate(bytes, stream)?
        };
        account.keep();
        Ok(Self::with(block.address, bytes, epoch, Origin::Plugged(Some(block.owner)), block.stream))
    }

    /// Memory of a kind that the driver has beside its pools: `ask` gives the address and the bytes, `Backend::free` takes it
    /// back. Usable on every stream at once.
    ///
    /// # Errors
    /// `OutOfMemory`, also after synchronising and trimming the pool; the driver's.
    pub fn by_driver(device: Device, ask: impl Fn() -> Result<(Address, usize)>) -> Result<Self> {
        let epoch = device.epoch();
        let (address, bytes) = pool::allocate_by(device, ask)?;
        Ok(Self::with(address, bytes, epoch, Origin::Plain, Stream::default_of(device)))
    }

    /// Memory of which only the address is known, in the order of `stream`. Whoever brought the address keeps it there.
    pub fn of_nobody(address: Address, bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(address, bytes, epoch, Origin::Lent(None), stream)
    }

    /// Pinned host memory that the device's copy engines reach directly.
    ///
    /// # Errors
    /// `OutOfMemory`; the driver's.
    pub fn pinned(device: Device, bytes: usize, flags: HostFlags) -> Result<Self> {
        let epoch = device.epoch();
        let address = if bytes == 0 { 0 } else { pinned::allocate(device, bytes, flags)? };
        Ok(Self::with(address, bytes, epoch, Origin::Pinned(flags), Stream::default_of(device)))
    }

    /// Memory that another library owns and has made usable in the order of `stream`.
    pub fn lent(address: Address, bytes: usize, stream: Stream, owner: Lent) -> Self {
        let epoch = stream.device().epoch();
        Self::with(address, bytes, epoch, Origin::Lent(Some(owner)), stream)
    }

    #[inline(always)]
    fn with(address: Address, bytes: usize, epoch: u32, origin: Origin, stream: Stream) -> Self {
        let usage = OnceLock::new();
        Self { address, bytes, epoch, origin, stream, usage, lent_out: AtomicBool::new(false) }
    }

    /// The device whose memory it is; for pinned memory, the device it was pinned for.
    #[inline]
    pub fn device(&self) -> Device {
        self.stream.device()
    }

    /// The first byte; for lent memory, the address of element zero.
    #[inline]
    pub fn address(&self) -> Address {
        self.address
    }

    /// Bytes of the block.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the device was not reset since.
    pub fn is_alive(&self) -> bool {
        self.epoch == self.device().epoch()
    }

    /// Whether another library owns the memory.
    pub fn is_lent(&self) -> bool {
        matches!(self.origin, Origin::Lent(_))
    }

    /// Whether somebody is to be told that the memory is not used any more.
    fn has_owner(&self) -> bool {
        matches!(self.origin, Origin::Lent(_) | Origin::Plugged(_))
    }

    /// Who is told when the memory is not used any more; `None` also where that must first wait for work on other streams.
    #[inline]
    pub fn lender(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.origin {
            Origin::Lent(Some(owner)) | Origin::Plugged(Some(owner)) if self.usage.get().is_none() => Some(&**owner),
            _ => None,
        }
    }

    /// Makes `stream` wait for whom an access must wait for. Call before the work is put on the stream, and [`Self::end`]
    /// after it.
    ///
    /// # Errors
    /// `ValueError` when the device was reset since; the driver's.
    pub fn begin(self: &Arc<Self>, access: Access, stream: &Stream) -> Result<()> {
        let device = self.device();
        if device.is_cpu() {
            return Ok(());
        }
        if self.epoch != device.epoch() {
            return Err(Error::value(format!(
                "the array's memory was destroyed when {device} was reset; make the array again"
            )));
        }
        lifetime::report_deferred()?;
        if let Some(capture) = capture::of(stream)? {
            return capture.note(self, access, stream);
        }
        if self.is_used_only_on(stream) {
            return Ok(());
        }
        if capture::number_of(stream)?.is_some() {
            return self.settle();
        }
        match self.usage.get() {
            Some(usage) => lock(usage).let_wait(access, stream),
            None => stream.wait_for(&self.stream),
        }
    }

    /// Stops the host until no work uses the block, for a capture that somebody else began: who launches it is not seen.
    #[cold]
    fn settle(&self) -> Result<()> {
        self.lend_out();
        capture::relaxed(self.device(), || self.synchronize())
    }

    /// Notes an access that was put on the stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn end(&self, access: Access, stream: &Stream) -> Result<()> {
        if self.device().is_cpu() || self.is_used_only_on(stream) {
            return Ok(());
        }
        // Where the driver cannot say, the use is noted: one that nobody knows of is the worse mistake.
        if capture::number_of(stream).is_ok_and(|number| number.is_some()) {
            return Ok(());
        }
        let latest = Use::of(stream)?;
        let usage = self.usage.get_or_init(|| Box::new(Mutex::new(Usage::new(self.stream.clone()))));
        lock(usage).note(access, latest);
        Ok(())
    }

    /// Says that work which PyGPU did not see uses the block on `stream`: later uses and the free wait for it.
    ///
    /// # Errors
    /// The driver's.
    pub fn record_stream(&self, stream: &Stream) -> Result<()> {
        self.end(Access::Write, stream)
    }

    /// Whether work on `stream` needs no wait for any known use, so that `begin` and `end` reach no driver.
    #[inline]
    pub fn is_in_order_of(&self, stream: &Stream) -> bool {
        self.epoch == self.device().epoch() && self.is_used_only_on(stream) && !capture::is_any()
    }

    /// A stream of the block's device behind which every known use of the block is, and which lives as long as the block.
    ///
    /// # Errors
    /// `ValueError` when the device was reset since; the driver's.
    pub fn join(self: &Arc<Self>) -> Result<Stream> {
        let known = match self.usage.get() {
            Some(usage) => lock(usage).latest_writer(),
            None => (!self.stream.is_foreign()).then(|| self.stream.clone()),
        };
        // A copy between devices is written on the source's, whose streams mean nothing to who is handed this block.
        let own = known.filter(|stream| stream.device() == self.device());
        let stream = own.unwrap_or_else(|| Stream::default_of(self.device()));
        self.begin(Access::Write, &stream)?;
        self.end(Access::Write, &stream)?;
        Ok(stream)
    }

    /// Says that another library holds the address from now on.
    pub fn lend_out(&self) {
        self.lent_out.store(true, Ordering::Relaxed);
    }

    /// Stops the host until every known use has ended.
    ///
    /// # Errors
    /// The driver's.
    pub fn synchronize(&self) -> Result<()> {
        match self.usage.get() {
            _ if self.device().is_cpu() => Ok(()),
            Some(usage) => lock(usage).synchronize(),
            None => self.stream.synchronize(),
        }
    }

    /// After a wait for the block: what failed on another device, which wrote it last, and of which this one knows nothing.
    ///
    /// # Errors
    /// The driver's.
    #[inline]
    pub fn check_other_devices(&self) -> Result<()> {
        match self.usage.get() {
            Some(usage) if !self.device().is_cpu() => lock(usage).check_other_devices(self.device()),
            _ => Ok(()),
        }
    }

    /// Whether every known use is in the order of one stream, so that work there has nothing to wait for.
    #[inline]
    fn is_used_only_on(&self, stream: &Stream) -> bool {
        match self.usage.get() {
            Some(usage) => lock(usage).is_only(stream),
            None => self.stream == *stream,
        }
    }

    /// Puts the end of the block behind every use of it, on `self.stream`.
    fn wait_before_free(&mut self) -> Result<()> {
        if let Some(usage) = self.usage.get() {
            lock(usage).let_wait(Access::Write, &self.stream)?;
        }
        if *self.lent_out.get_mut() {
            match Mark::record_device(self.device())? {
                Some(mark) => self.stream.wait_event(mark.event())?,
                // No event covers the streams of others, HIP has none: the host waits, since nothing else is safe.
                None => self.device().synchronize()?,
            }
        }
        Ok(())
    }

    /// All that the block is, to be dropped later; what stays behind owns nothing.
    fn take(&mut self) -> Self {
        Self {
            address: self.address,
            bytes: std::mem::take(&mut self.bytes),
            epoch: self.epoch,
            origin: std::mem::replace(&mut self.origin, Origin::Plain),
            stream: self.stream.clone(),
            usage: std::mem::take(&mut self.usage),
            lent_out: AtomicBool::new(*self.lent_out.get_mut()),
        }
    }

    /// Frees what may be used again in the order of `self.stream`.
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
            Origin::Pool => self.release_in_order(|block| {
                // SAFETY: this is the last owner; every use known of is before this point of the stream, or has ended.
                unsafe { backend.free_to_pool(index, block.address, block.stream.handle()) }
            }),
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
            Origin::Plain => {
                // SAFETY: this is the last owner; the driver waits for the device, the CPU has nothing in flight.
                unsafe { backend.free(index, self.address, self.bytes)? };
                pool::account_for_free(device, self.bytes);
                Ok(())
            }
            Origin::Pinned(flags) => {
                // Who copies asynchronously keeps the memory until the copy is over (`pending`).
                // SAFETY: this is the last owner and no copy is in flight.
                unsafe { pinned::free(device, self.address, self.bytes, *flags, self.epoch) }
            }
            Origin::Lent(None) => Ok(()), // nobody waits for the end
            Origin::Lent(owner) => {
                let owner = owner.take();
                // The owner knows of the stream it made the memory usable on, and of none other.
                let result = if self.is_used_only_on(&self.stream) { Ok(()) } else { self.synchronize() };
                drop(owner);
                result
            }
        }
    }
}

/// Held for moments only, and never while Python runs: nothing below `python` knows the GIL.
fn lock(usage: &Mutex<Usage>) -> MutexGuard<'_, Usage> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Allocation {
    fn drop(&mut self) {
        if lifetime::exiting() {
            if let Origin::Lent(owner) | Origin::Plugged(owner) = &mut self.origin {
                // Its Python side may be gone already: the deleter must not run.
                std::mem::forget(owner.take());
            }
            return;
        }
        let dead = self.epoch != self.device().epoch();
        if (self.bytes == 0 || dead) && !self.has_owner() {
            return;
        }
        if capture::is_any() && !self.device().is_cpu() {
            capture::drop_afterwards(Box::new(self.take()));
            return;
        }
        lifetime::defer(self.release());
    }
}
