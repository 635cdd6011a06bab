//! Manages accesses to a memory block by code outside PyGPU: exports to other libraries, and escaped addresses.

use std::sync::atomic::Ordering;

use super::Allocation;
use crate::hazards::Access;
use crate::{stream_captures, stream_check};
use pygpu_base::error::Result;
use pygpu_base::flush_points::{self, FlushReason};
use pygpu_device::stream::Stream;

impl Allocation {
    /// Marks the block as untracked: other code uses its address, and the end of this use is never reported.
    pub fn mark_untracked(&self) {
        self.untracked.escape(|| self.flush_exposed());
    }

    /// Begins an export of the block to another library. The export ends with [`Self::end_export`].
    #[inline]
    pub fn export(&self) {
        self.exports.fetch_add(1, Ordering::Relaxed);
        self.flush_exposed();
    }

    /// Launches the pending operations on the block, because other code can access the block from now on. An operation
    /// that is deferred concurrently is either launched here, or detects that the block is exposed and is executed
    /// eagerly. Returns whether no operation on the block is pending any more.
    #[inline]
    fn flush_exposed(&self) -> bool {
        !flush_points::is_used() || self.flush_exposed_now()
    }

    #[cold]
    fn flush_exposed_now(&self) -> bool {
        flush_points::await_push();
        if !flush_points::has_pending() || self.device().is_cpu() {
            return true;
        }
        self.flush(Access::Write, FlushReason::Values);
        // A flush launches nothing within a host function that a stream calls, so operations may still be pending.
        self.pending_before(Access::Write).is_none()
    }

    /// Ends an export to a library that used the block on the stream `consumer`. Later uses and the free are ordered
    /// after the work enqueued on `consumer`. If this stream is unknown or may be destroyed, the free waits for the
    /// device.
    ///
    /// # Errors
    /// Driver errors.
    #[inline]
    pub fn end_export(&self, access: Access, consumer: Option<&Stream>) -> Result<()> {
        self.exports.fetch_sub(1, Ordering::Relaxed);
        if stream_captures::observes_work()
            && let Some(stream) = consumer
        {
            stream_check::end_hand_over(self, stream.handle());
        }
        match consumer {
            _ if self.device().is_cpu() || !self.is_alive() => Ok(()),
            Some(stream) if !stream.is_foreign() => self.hazards.record(access, stream),
            _ => {
                self.mark_untracked();
                Ok(())
            }
        }
    }

    /// Returns the streams with work on the block for which an access on `stream` would wait. Streams that are not
    /// persistent, i.e. that may be destroyed at any time, are omitted.
    pub(crate) fn unordered_streams(&self, access: Access, stream: &Stream) -> Vec<Stream> {
        self.hazards.queues_before(access, stream)
    }

    /// Returns the stream of the latest write, if the stream belongs to PyGPU and has pending work.
    pub fn pending_writer(&self) -> Option<Stream> {
        self.hazards.latest_writer().filter(|stream| matches!(stream.query(), Ok(false)))
    }

    /// Returns the number of exports of the block that have not ended.
    pub fn exports(&self) -> u32 {
        self.exports.load(Ordering::Relaxed)
    }

    /// Marks the block's address as escaped.
    #[inline]
    pub fn mark_escaped(&self) {
        self.escaped.escape(|| self.flush_exposed());
    }

    /// Returns whether only PyGPU can currently access the block.
    #[inline]
    pub fn is_private(&self) -> bool {
        self.is_from_pool() && !self.escaped.is_begun() && !self.untracked.is_begun() && self.exports() == 0
    }
}
