//! Takes small memory blocks from a stream's cache, and returns blocks to it, without a driver call.
//!
//! These functions are separate from the general path, because a caller must release the GIL before a driver call.
//! Releasing the GIL costs as much as the rest of the work on a small block.

use super::{Allocation, BlockLocation, BlockOrigin};
use crate::pool::BlockSource;
use crate::{custom_allocator, pool, stream_captures};
use pygpu_backend as backend;
use pygpu_device::stream::Stream;

impl Allocation {
    /// Takes a memory block from the stream's cache, or returns `None` if a driver call is needed.
    #[inline]
    pub fn from_stream_cache(bytes: usize, stream: &Stream) -> Option<Self> {
        if bytes == 0 || custom_allocator::is_in_use() || stream_captures::is_any() {
            return None;
        }
        let epoch = stream.device().epoch();
        let address = pool::take_kept(bytes, stream)?;
        Some(Self::with(
            BlockLocation::new(address, BlockSource::Recyclable),
            bytes,
            epoch,
            BlockOrigin::Pool,
            stream.clone(),
        ))
    }

    /// Returns the block's memory to its stream's cache, if no driver call is needed. If the result is `true`, the
    /// block owns no memory afterwards.
    #[inline]
    pub fn try_return_to_cache(&mut self) -> bool {
        let is_recyclable = self.is_from_pool() && self.location.source() == BlockSource::Recyclable && self.bytes > 0;
        let is_private = self.hazards.has_no_other_stream() && !self.untracked.is_begun();
        if !is_recyclable || !is_private || !self.is_alive() || stream_captures::is_any() || backend::is_host_call() {
            return false;
        }
        // SAFETY: `self` is the last owner of the memory, and every use is in the order of the allocation stream.
        let is_kept = unsafe { pool::keep(self.address(), self.bytes, self.hazards.alloc_stream()) };
        if is_kept {
            self.bytes = 0;
        }
        is_kept
    }
}
