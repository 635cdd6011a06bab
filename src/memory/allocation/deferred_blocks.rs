//! Manages memory blocks that deferred operations read or write: marks of pending uses, allocation of the memory at
//! launch, and errors of failed operations.

use super::block_location::BlockLocation;
use super::{Allocation, BlockOrigin};
use crate::hazards::Access;
use crate::pool::BlockSource;
use crate::{custom_allocator, pool, stream_captures};
use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points::{self, FlushReason, FlushToken, NodeId, Pending, PendingMark};
use pygpu_device::stream::Stream;

impl Allocation {
    /// Creates a block of `bytes` bytes, not 0, whose memory is allocated when the operation that computes the block's
    /// values is launched. `stream` must be a stream of PyGPU.
    #[inline]
    pub fn deferred(bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(BlockLocation::new(0, BlockSource::Pool), bytes, epoch, BlockOrigin::Pool, stream)
    }

    /// Returns whether the memory of a new array may be allocated only when its operation is launched. The conditions:
    /// the stream is PyGPU's own on a GPU, this thread uses no custom allocator, no capture is active, and this thread
    /// may call the driver.
    #[inline]
    pub fn is_deferrable(stream: &Stream) -> bool {
        let is_allocators = custom_allocator::is_in_use() && custom_allocator::current().is_some();
        let is_ours = !stream.device().is_cpu() && !stream.is_foreign() && !is_allocators;
        is_ours && !stream_captures::is_any() && !backend::is_forked() && !backend::is_host_call()
    }

    /// Returns the mark that identifies the last deferred operation that writes the block.
    #[inline]
    pub fn written_by(&self) -> &PendingMark {
        &self.location.written_by
    }

    /// Returns the mark that identifies the deferred operations that read the block.
    #[inline]
    pub fn read_by(&self) -> &PendingMark {
        &self.location.read_by
    }

    /// Returns the last deferred operation that writes the block, even if this operation has been launched already. The
    /// launch of this operation allocates the block's memory if the block has none.
    #[inline]
    pub fn producer(&self) -> Option<NodeId> {
        self.location.written_by.latest()
    }

    /// Returns whether an operation that writes the block is pending.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.location.written_by.pending().is_some()
    }

    /// Returns whether the block's memory is allocated. If not, the launch of a deferred operation allocates it.
    #[inline]
    pub fn has_memory(&self) -> bool {
        self.location.address() != 0
    }

    /// Returns the pending operations that must be launched before other work accesses the block.
    #[inline]
    pub fn pending_before(&self, access: Access) -> Option<Pending> {
        let written = self.location.written_by.pending();
        match access {
            Access::Read => written,
            Access::Write => written.or_else(|| self.location.read_by.pending()),
        }
    }

    /// Flushes the operations that must be launched before other work accesses the block. Other threads may defer
    /// further operations meanwhile.
    pub fn flush(&self, access: Access, cause: FlushReason) {
        // The flush of a pending writer's queue launches the readers too: they are in the same queue, because an
        // operation is queued only after a flush of other queues that use its operands.
        if let Some(pending) = self.pending_before(access) {
            flush_points::flush_pending(pending, cause);
        }
    }

    /// Returns the error of a failed operation on the block. If only a write failed and the block keeps its previous
    /// values, the error is returned once. If the block is lost, because its values will never be computed, the error
    /// is returned on every call.
    ///
    /// # Errors
    /// The error of the failed operation.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.fault(true)
    }

    /// Returns the error of a lost block, whose values will never be computed because its operation failed.
    ///
    /// # Errors
    /// The error of the failed operation.
    #[inline]
    pub fn check_lost(&self) -> Result<()> {
        self.fault(false)
    }

    #[inline]
    fn fault(&self, may_take: bool) -> Result<()> {
        if !self.location.has_fault() {
            return Ok(());
        }
        let Some((error, batch)) = self.location.fault(may_take) else { return Ok(()) };
        if may_take {
            flush_points::report(batch);
        }
        Err(error)
    }

    /// Marks the block as lost, because the operation that should compute it failed. Each later use of the block
    /// returns `error`. Returns `false` if the block already had an error.
    pub fn lose(&self, error: Error, batch: NodeId, _: &FlushToken) -> bool {
        self.location.set_fault(error, batch, true)
    }

    /// Records that a write into the block failed and the previous values stay. Only the next use of the block returns
    /// `error`. Returns `false` if the block already had an error.
    pub fn refuse_write(&self, error: Error, batch: NodeId, _: &FlushToken) -> bool {
        self.location.set_fault(error, batch, false)
    }

    /// If the operation that computes the block is pending and the block has no memory, calls `forget`, which removes
    /// the operation from its queue. Returns the result of `forget`, or `false`. If the result is `true`, the block
    /// owns nothing that must be freed.
    #[inline]
    pub fn drop_unproduced(&self, forget: impl FnOnce(NodeId) -> bool) -> bool {
        !self.has_memory() && self.bytes > 0 && self.producer().filter(|id| id.is_pending()).is_some_and(forget)
    }

    /// Allocates the block's memory.
    ///
    /// # Errors
    /// `OutOfMemory`; driver errors.
    pub fn materialize(&self, _: &FlushToken) -> Result<()> {
        let (address, source) = pool::allocate(self.bytes, self.hazards.alloc_stream())?;
        self.location.settle(address, source);
        Ok(())
    }
}
