//! Contains the marks that link a memory block to the deferred operations using it, and the counts by which pending
//! operations are recognized.
//!
//! Readers take no lock. Required memory orderings, each verified by the model checker in `tests/hazard_model`:
//!
//! 1. An operation is launched, and its result receives an address, before [`Landing::land`] is called. `land` stores
//!    with release ordering and [`Landing::is_pending`] loads with acquire ordering, so a thread that finds that an
//!    operation is no longer pending also sees the address of its result, or the error (fault) that the result has.
//! 2. The count of pending operations is lowered after `land`. The count is stored with release ordering and
//!    [`Landing::is_any`] loads it with acquire ordering, so a thread that finds nothing pending sees the addresses of
//!    all results.
//! 3. Marks, the queue and the privacy of blocks change only under the queues' lock. A thread that reads a mark without
//!    the lock either received the array from the thread that queued the operation, or has acquired the lock
//!    after the operation was queued. Marks themselves therefore need no ordering.
//! 4. Until the first operation of the process is deferred, an escape takes no lock: see [`Usage`]. (In an escape, the
//!    address of a block becomes visible outside of PyGPU.)
//! 5. A thread that finds the escape of a block complete finds all earlier pending operations launched: see [`Escape`].

use crate::locks_and_atomics::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};

/// Maximum number of queues of deferred operations. If there are more threads, several threads share a queue.
pub const QUEUES: usize = 256;

/// Identifies a deferred operation by its queue and its number within the queue, starting at 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NodeId(u64);

impl NodeId {
    const NUMBER: u32 = 48;

    /// Creates the id of operation `number` of a queue.
    #[inline]
    pub fn new(queue: usize, number: u64) -> Self {
        Self((queue as u64 % QUEUES as u64) << Self::NUMBER | number)
    }

    /// Returns the index of the operation's queue.
    #[inline]
    pub fn queue(self) -> usize {
        (self.0 >> Self::NUMBER) as usize % QUEUES
    }

    /// Returns the operation's number within its queue.
    #[inline]
    pub fn number(self) -> u64 {
        self.0 & ((1 << Self::NUMBER) - 1)
    }
}

/// Refers to the last operation that reads a memory block, or to the last operation that writes it. A mark is never
/// cleared: it expires when its operation lands, i.e. is launched or fails.
pub struct PendingMark(pub(crate) AtomicU64);

/// The pending operations that a memory block's mark refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// The mark refers to one operation, and possibly to earlier operations of the same queue.
    One(NodeId),
    /// The mark refers to operations that may be in several queues.
    Many,
}

impl PendingMark {
    const MANY: u64 = u64::MAX;

    /// Returns the latest operation of the mark, even if it is not pending. Returns `None` if the mark refers to no
    /// operation, or to operations in several queues.
    #[inline]
    pub fn latest(&self) -> Option<NodeId> {
        Some(self.0.load(Ordering::Relaxed)).filter(|id| *id != 0 && *id != Self::MANY).map(NodeId)
    }

    /// Makes the mark refer to another operation. The caller holds the queues' lock.
    #[inline]
    pub fn set(&self, id: NodeId) {
        self.0.store(id.0, Ordering::Relaxed);
    }
}

/// Records, for all queues, the operations that have landed, i.e. were launched or have failed.
pub struct Landing {
    /// Number of operations that are queued or being launched, plus the number of memory blocks with a fault, i.e. with
    /// the error of a failed operation.
    pub(crate) count: AtomicUsize,
    /// For each queue, the number of the last operation such that it and all earlier operations were launched or have
    /// failed.
    pub(crate) landed: [AtomicU64; QUEUES],
}

impl Landing {
    /// Returns whether any operation is pending or any memory block has a fault, i.e. the error of a failed operation.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Stores the number of pending operations and of memory blocks with a fault, i.e. the error of a failed operation.
    /// The caller holds the queues' lock.
    #[inline]
    pub fn set_count(&self, count: usize) {
        self.count.store(count, Ordering::Release);
    }

    /// Records that all operations of a queue up to `number` have landed, i.e. were launched or have failed. The caller
    /// holds the queues' lock.
    #[inline]
    pub fn land(&self, queue: usize, number: u64) {
        self.landed[queue % QUEUES].store(number, Ordering::Release);
    }

    /// Returns whether an operation is pending, i.e. was neither launched nor has failed.
    #[inline]
    pub fn is_pending(&self, id: NodeId) -> bool {
        id.number() > self.landed[id.queue()].load(Ordering::Acquire)
    }

    /// Returns the operations of a mark that are pending.
    #[inline]
    pub fn pending(&self, mark: &PendingMark) -> Option<Pending> {
        match mark.0.load(Ordering::Relaxed) {
            0 => None,
            PendingMark::MANY => Some(Pending::Many),
            id => Some(NodeId(id)).filter(|id| self.is_pending(*id)).map(Pending::One),
        }
    }

    /// Adds an operation that reads a memory block to the mark of this block. A mark can refer to several readers. The
    /// caller holds the queues' lock.
    #[inline]
    pub fn add(&self, mark: &PendingMark, id: NodeId) {
        let is_shared = match self.pending(mark) {
            None => false,
            Some(Pending::Many) => true,
            Some(Pending::One(other)) => other.queue() != id.queue(),
        };
        mark.0.store(if is_shared { PendingMark::MANY } else { id.0 }, Ordering::Relaxed);
    }
}

/// Whether operations were ever deferred in this process. Until then, no lock is taken when the address of a memory
/// block becomes visible outside PyGPU (escapes).
///
/// A thread that lets a block's address escape first changes the block's visibility, and then calls [`Self::is_begun`].
/// A thread that defers an operation first calls [`Self::begin`], and then checks the visibility of its operands. Each
/// of these threads executes a sequentially consistent fence between its two steps, so at least one thread finds the
/// change of the other. Only the first thread that defers needs the fence: a later thread finds that `begin` is
/// finished, and thereby synchronizes with the first thread.
pub struct Usage(pub(crate) AtomicUsize);

impl Usage {
    const NONE: usize = 0;
    /// The state between the start of `begin` and its fence. In this state a thread that lets an address escape already
    /// assumes that operations were deferred. A second thread that defers still executes its own fence.
    const BEGINNING: usize = 1;
    const BEGUN: usize = 2;

    /// Records that operations of this process may be deferred from now on.
    #[inline]
    pub fn begin(&self) {
        if self.0.load(Ordering::Acquire) != Self::BEGUN {
            self.begin_now();
        }
    }

    #[cold]
    fn begin_now(&self) {
        self.0.store(Self::BEGINNING, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        self.0.store(Self::BEGUN, Ordering::Release);
    }

    /// Returns whether operations of this process may have been deferred.
    #[inline]
    pub fn is_begun(&self) -> bool {
        if self.0.load(Ordering::Relaxed) == Self::BEGUN {
            return true;
        }
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) != Self::NONE
    }
}

/// Whether the address of a memory block is visible to code outside of PyGPU. An escape has a begin, the launch of the
/// operations that use the block, and an end.
///
/// A thread that finds an escape begun but not ended launches these operations too, or waits for their launch, because
/// the caller of that thread may write to the address immediately.
pub struct Escape(pub(crate) AtomicU8);

impl Escape {
    const NONE: u8 = 0;
    const BEGUN: u8 = 1;
    const ENDED: u8 = 2;

    /// Creates the state of a memory block whose address has not escaped, i.e. is not visible outside PyGPU.
    #[inline(always)]
    pub fn new() -> Self {
        Self(AtomicU8::new(Self::NONE))
    }

    /// Marks the address of the memory block as escaped, i.e. visible outside PyGPU. `flush` launches the operations
    /// that use the block, and returns whether all of them are launched.
    #[inline]
    pub fn escape(&self, flush: impl FnOnce() -> bool) {
        if self.0.load(Ordering::Acquire) != Self::ENDED {
            self.0.store(Self::BEGUN, Ordering::Relaxed);
            if flush() {
                self.0.store(Self::ENDED, Ordering::Release);
            }
        }
    }

    /// Returns whether the address of the memory block has escaped (is visible outside PyGPU), or is about to escape.
    #[inline]
    pub fn is_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed) != Self::NONE
    }
}

impl Default for Escape {
    fn default() -> Self {
        Self::new()
    }
}
