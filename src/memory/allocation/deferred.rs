//! Blocks written or read by deferred operations: marks of pending uses, materialization, and errors of failed
//! operations.

use super::location::BlockLocation;
use super::{Allocation, BlockOrigin};
use crate::hazards::Access;
use crate::pool::BlockSource;
use crate::{capture, custom_allocator, pool};
use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush::{self, FlushReason, FlushToken, NodeId, Pending, PendingMark};
use pygpu_device::stream::Stream;

impl Allocation {
    /// Creates a block of `bytes` bytes, not 0, that gets its memory when its operation is launched, in the order of a
    /// PyGPU stream.
    #[inline]
    pub fn deferred(bytes: usize, stream: Stream) -> Self {
        let epoch = stream.device().epoch();
        Self::with(BlockLocation::new(0, BlockSource::Pool), bytes, epoch, BlockOrigin::Pool, stream)
    }

    /// Whether allocations on a stream may be deferred: it belongs to a GPU, this thread uses no custom allocator, no
    /// capture is active, and driver calls are allowed here.
    #[inline]
    pub fn is_deferrable(stream: &Stream) -> bool {
        let is_allocators = custom_allocator::is_in_use() && custom_allocator::current().is_some();
        let is_ours = !stream.device().is_cpu() && !stream.is_foreign() && !is_allocators;
        is_ours && !capture::is_any() && !backend::is_forked() && !backend::is_host_call()
    }

    /// Last deferred operation that writes the block.
    #[inline]
    pub fn written_by(&self) -> &PendingMark {
        &self.location.written_by
    }

    /// Last deferred operations that read the block.
    #[inline]
    pub fn read_by(&self) -> &PendingMark {
        &self.location.read_by
    }

    /// The operation that gives the block its memory, or last wrote it, whether or not it is pending.
    #[inline]
    pub fn producer(&self) -> Option<NodeId> {
        self.location.written_by.latest()
    }

    /// Whether an operation that writes the block is pending.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.location.written_by.pending().is_some()
    }

    /// Whether the block has memory.
    #[inline]
    pub fn has_memory(&self) -> bool {
        self.location.address() != 0
    }

    /// Operations that must be launched before an access of the block by other work.
    #[inline]
    pub fn pending_before(&self, access: Access) -> Option<Pending> {
        let written = self.location.written_by.pending();
        match access {
            Access::Read => written,
            Access::Write => written.or_else(|| self.location.read_by.pending()),
        }
    }

    /// Flushes the operations that must precede an access by other work. Other threads may defer further ones
    /// meanwhile.
    pub fn flush(&self, access: Access, cause: FlushReason) {
        if let Some(pending) = self.pending_before(access) {
            flush::flush_pending(pending, cause);
        }
        // A flush of the readers' queues does not cover the writer's, nor the reverse.
        if let (Access::Write, Some(readers)) = (access, self.location.read_by.pending()) {
            flush::flush_pending(readers, cause);
        }
    }

    /// Returns the error of a failed operation: for a lost block every time, for one that keeps its previous values
    /// once.
    ///
    /// # Errors
    /// That of the operation.
    #[inline]
    pub fn check(&self) -> Result<()> {
        self.fault(true)
    }

    /// Returns the error of a lost block, whose values will never be computed.
    ///
    /// # Errors
    /// That of the operation.
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
            flush::report(batch);
        }
        Err(error)
    }

    /// Marks the block as lost: the operation that should compute it failed, and each use returns this error. Returns
    /// whether the error is new.
    pub fn lose(&self, error: Error, batch: NodeId, _: &FlushToken) -> bool {
        self.location.set_fault(error, batch, true)
    }

    /// Records that a write into the block failed: one use returns this error, and the old values stay. Returns whether
    /// the error is new.
    pub fn refuse_write(&self, error: Error, batch: NodeId, _: &FlushToken) -> bool {
        self.location.set_fault(error, batch, false)
    }

    /// Discards the block if it has no memory yet and `forget` removes its operation from the queue. Nothing is left of
    /// it then.
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
