//! Holds the location of a memory block: its address, the marks of the pending operations that use the block, and the
//! error of a failed operation. The address of a deferred result is set when its operation is launched.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use crate::pool::BlockSource;
use pygpu_backend::Address;
use pygpu_base::error::Error;
use pygpu_base::flush_points::{self, NodeId, PendingMark};
use pygpu_base::fork_safe::ForkSafeMutex;

/// Error of a failed operation that should have written the block.
struct BlockFault {
    error: Error,
    /// First operation of the launch batch in which the operation failed. The operation's id identifies the batch, so
    /// that a thread reports only one error per batch.
    batch: NodeId,
}

/// Errors of blocks, keyed by the address of the [`BlockLocation`] in memory. They are not stored in the block, because
/// few blocks have an error and every field must be initialized for each new array.
static FAULTS: ForkSafeMutex<BTreeMap<usize, BlockFault>> = ForkSafeMutex::new(BTreeMap::new());

/// Values of the field that stores whether a block has an error, and of which kind.
mod state {
    pub(super) const SOUND: u8 = 0;
    /// A write to the block failed, and the block still has its old values. The first thread that retrieves the error
    /// also clears it.
    pub(super) const WRITE_REFUSED: u8 = 1;
    /// The block's values are never computed. The error stays until the block is freed.
    pub(super) const LOST: u8 = 2;
}

/// Address of a block, and the way in which the block must be freed. If the allocation is deferred, both values are set
/// later, once.
pub(super) struct BlockLocation {
    address: AtomicUsize,
    pub(super) written_by: PendingMark,
    pub(super) read_by: PendingMark,
    source: AtomicU8,
    state: AtomicU8,
}

impl BlockLocation {
    /// Creates the location of memory that is already allocated.
    #[inline(always)]
    pub(super) fn new(address: Address, source: BlockSource) -> Self {
        let (address, source) = (AtomicUsize::new(address), AtomicU8::new(source as u8));
        Self {
            address,
            written_by: PendingMark::new(),
            read_by: PendingMark::new(),
            source,
            state: AtomicU8::new(state::SOUND),
        }
    }

    #[inline(always)]
    pub(super) fn address(&self) -> Address {
        self.address.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn source(&self) -> BlockSource {
        const SOURCES: [BlockSource; 3] = [BlockSource::Plain, BlockSource::Pool, BlockSource::Recyclable];
        SOURCES[usize::from(self.source.load(Ordering::Relaxed)) % SOURCES.len()]
    }

    pub(super) fn settle(&self, address: Address, source: BlockSource) {
        self.source.store(source as u8, Ordering::Relaxed);
        self.address.store(address, Ordering::Release);
    }

    /// Stores the error of a failed operation, unless the block already has an error. Returns whether `error` was
    /// stored.
    #[cold]
    pub(super) fn set_fault(&self, error: Error, batch: NodeId, is_lost: bool) -> bool {
        let mut faults = FAULTS.lock();
        if self.has_fault() {
            return false;
        }
        faults.insert(ptr::from_ref(self).addr(), BlockFault { error, batch });
        self.state.store(if is_lost { state::LOST } else { state::WRITE_REFUSED }, Ordering::Release);
        true
    }

    /// Returns whether the block has an error.
    #[inline]
    pub(super) fn has_fault(&self) -> bool {
        self.state.load(Ordering::Acquire) != state::SOUND
    }

    /// Returns the block's error. The error of a lost block is returned on every call; the error of a failed write is
    /// returned only once, and only if `may_take` is set.
    #[cold]
    pub(super) fn fault(&self, may_take: bool) -> Option<(Error, NodeId)> {
        let mut faults = FAULTS.lock();
        let key = ptr::from_ref(self).addr();
        match self.state.load(Ordering::Relaxed) {
            state::LOST => faults.get(&key).map(|fault| (fault.error.clone(), fault.batch)),
            state::WRITE_REFUSED if may_take => {
                let fault = faults.remove(&key);
                self.state.store(state::SOUND, Ordering::Relaxed);
                drop(faults); // releases the lock of `FAULTS` first, because the count of faults has its own lock
                flush_points::count_faults(-1);
                fault.map(|BlockFault { error, batch }| (error, batch))
            }
            _ => None,
        }
    }

    /// Moves the address, and the way in which the block must be freed, into a new value for the free. The block's
    /// error stays in `self`.
    pub(super) fn take(&mut self) -> Self {
        Self::new(self.address(), self.source())
    }

    #[cold]
    fn end_fault(&self) {
        let fault = FAULTS.lock().remove(&ptr::from_ref(self).addr());
        flush_points::count_faults(-1);
        // The error is dropped after the lock is released, because it may contain another library's object.
        drop(fault);
    }
}

impl Drop for BlockLocation {
    #[inline]
    fn drop(&mut self) {
        if *self.state.get_mut() != state::SOUND {
            self.end_fault();
        }
    }
}
