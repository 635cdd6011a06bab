//! Marks that link a block to the deferred operations using it, and the counts by which pending operations are
//! recognized.
//!
//! Readers take no lock. Required memory orderings, each verified by the model checker in `tests/hazard_model`:
//!
//! 1. An operation is launched and its result has its address before [`Landing::land`] is called. That store releases
//!    and [`Landing::is_pending`] acquires, so a thread that sees an operation as landed also sees the address and
//!    the fault of its result.
//! 2. The count is lowered after that. Its store releases and [`Landing::is_any`] acquires, so a thread that finds
//!    nothing pending sees all addresses.
//! 3. Marks, the queue and the privacy of blocks change only under the queues' lock. A thread that reads a mark
//!    without the lock either received the array from the thread that queued the operation, or has held the lock
//!    since. Marks themselves therefore need no ordering.
//! 4. While no operation was ever deferred, an escape takes no lock: see [`Usage`].
//! 5. A thread that finds the escape of a block complete finds all earlier pending operations launched: see [`Escape`].

use crate::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};

/// Number of queues; further threads share them.
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

    /// Queue of the operation.
    #[inline]
    pub fn queue(self) -> usize {
        (self.0 >> Self::NUMBER) as usize % QUEUES
    }

    /// Number within its queue.
    #[inline]
    pub fn number(self) -> u64 {
        self.0 & ((1 << Self::NUMBER) - 1)
    }
}

/// Last operation that uses a block in one way. A mark is never cleared: it expires when its operation lands.
pub struct PendingMark(pub(crate) AtomicU64);

/// Pending operations of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pending {
    /// One operation, and possibly earlier ones of the same queue.
    One(NodeId),
    /// Possibly operations of several queues.
    Many,
}

impl PendingMark {
    const MANY: u64 = u64::MAX;

    /// Latest operation, pending or not. `None` without an operation, and with operations of several queues.
    #[inline]
    pub fn latest(&self) -> Option<NodeId> {
        Some(self.0.load(Ordering::Relaxed)).filter(|id| *id != 0 && *id != Self::MANY).map(NodeId)
    }

    /// Stores the operation. The caller holds the queues' lock.
    #[inline]
    pub fn set(&self, id: NodeId) {
        self.0.store(id.0, Ordering::Relaxed);
    }
}

/// Progress of all queues.
pub struct Landing {
    /// Number of operations that are queued or being launched, plus the number of blocks with a fault.
    pub(crate) count: AtomicUsize,
    /// Number up to which all operations of a queue have landed.
    pub(crate) landed: [AtomicU64; QUEUES],
}

impl Landing {
    /// Returns whether the count is not zero.
    #[inline(always)]
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    /// Stores the count. The caller holds the queues' lock.
    #[inline]
    pub fn set_count(&self, count: usize) {
        self.count.store(count, Ordering::Release);
    }

    /// Marks all operations of a queue up to a number as landed. The caller holds the queues' lock.
    #[inline]
    pub fn land(&self, queue: usize, number: u64) {
        self.landed[queue % QUEUES].store(number, Ordering::Release);
    }

    /// Returns whether an operation has not landed.
    #[inline]
    pub fn is_pending(&self, id: NodeId) -> bool {
        id.number() > self.landed[id.queue()].load(Ordering::Acquire)
    }

    /// Returns the pending operations of a mark.
    #[inline]
    pub fn pending(&self, mark: &PendingMark) -> Option<Pending> {
        match mark.0.load(Ordering::Relaxed) {
            0 => None,
            PendingMark::MANY => Some(Pending::Many),
            id => Some(NodeId(id)).filter(|id| self.is_pending(*id)).map(Pending::One),
        }
    }

    /// Adds a reader to a mark, which can have several. The caller holds the queues' lock.
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

/// Whether operations are deferred in this process: while none ever was, an escape takes no lock.
///
/// A thread that gives a block out changes who reaches it and then calls [`Self::is_begun`]. A thread that defers calls [`Self::begin`]
/// and then looks at who reaches its operands. Each has a sequentially consistent fence in between, so one of them finds the change of
/// the other. A thread that finds the beginning of another one acquires the fence of that thread.
pub struct Usage(pub(crate) AtomicUsize);

impl Usage {
    const NONE: usize = 0;
    /// The store precedes the fence: a thread that gives a block out finds it, and one that defers makes its own fence.
    const BEGINNING: usize = 1;
    const BEGUN: usize = 2;

    /// Records that operations are deferred from now on.
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

    /// Whether operations may have been deferred.
    #[inline]
    pub fn is_begun(&self) -> bool {
        if self.0.load(Ordering::Relaxed) == Self::BEGUN {
            return true;
        }
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) != Self::NONE
    }
}

/// Whether a block's address is known outside of PyGPU. An escape begins, launches the operations that use the block, and ends.
///
/// A thread that comes between the beginning and the end launches too, or waits: its caller may write to the address at once.
pub struct Escape(pub(crate) AtomicU8);

impl Escape {
    const NONE: u8 = 0;
    const BEGUN: u8 = 1;
    const ENDED: u8 = 2;

    /// No escape.
    #[inline(always)]
    pub fn new() -> Self {
        Self(AtomicU8::new(Self::NONE))
    }

    /// Lets the address out. `flush` launches the operations that use the block, and returns whether none of them is left.
    #[inline]
    pub fn escape(&self, flush: impl FnOnce() -> bool) {
        if self.0.load(Ordering::Acquire) != Self::ENDED {
            self.0.store(Self::BEGUN, Ordering::Relaxed);
            if flush() {
                self.0.store(Self::ENDED, Ordering::Release);
            }
        }
    }

    /// Whether the address is known outside, or will be at once.
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
