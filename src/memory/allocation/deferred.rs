//! Blocks whose memory was put off with the operation that makes their values, and which blocks such operations may read.

use super::place::Place;
use super::{Allocation, Origin};
use crate::pool::Source;
use crate::{capture, plugged, pool};
use pygpu_backend as backend;
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;

impl Allocation {
    /// A block of `bytes`, not 0, that has its memory once its operation is launched, in the order of a stream of PyGPU's own.
    #[inline]
    pub fn put_off(bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(Place::new(0, Source::Pool), bytes, epoch, Origin::Own, stream)
    }

    /// Says which operation gives the block its memory, before anybody else has it.
    #[inline]
    pub fn wait_for(&self, number: u64) {
        self.place.wait_for(number);
    }

    /// Whether new memory in the order of a stream may be put off: it is a device's, no allocator of the program makes this thread's, no
    /// capture is under way, and the driver may be called from here at all.
    #[inline]
    pub fn may_be_put_off(stream: &Stream) -> bool {
        let is_allocators = plugged::is_in_use() && plugged::current().is_some();
        let is_ours = !stream.device().is_cpu() && !stream.is_foreign() && !is_allocators;
        is_ours && !capture::is_any() && !backend::is_forked() && !backend::is_host_call()
    }

    /// The number of the operation that has not given the block memory.
    #[inline]
    pub fn deferred(&self) -> Option<u64> {
        self.place.deferred()
    }

    /// The same, if it never will.
    #[inline]
    pub fn failed(&self) -> Option<u64> {
        self.place.failed()
    }

    /// Says that the block never gets its values, since the operation of that number failed.
    pub fn fail(&self, number: u64) {
        self.place.fail(number);
    }

    /// Ends the block where it has no memory yet and `forget` lets its operation go. Nothing is left of it then.
    #[inline]
    pub fn end_put_off(&self, forget: impl FnOnce(u64) -> bool) -> bool {
        let is_forgotten = self.address() == 0 && self.deferred().is_some_and(forget);
        if is_forgotten {
            self.place.settle(0, Source::Pool);
        }
        is_forgotten
    }

    /// Gives the block the memory that was put off.
    ///
    /// # Errors
    /// `OutOfMemory`; the driver's.
    pub fn give_memory(&self) -> Result<()> {
        let (address, source) = pool::allocate(self.bytes, self.order.home())?;
        self.place.settle(address, source);
        Ok(())
    }
}
