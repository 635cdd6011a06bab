//! Manages queues of pending operations, one for each thread, in the order in which they were deferred.

mod limit_checks;
mod push;

use std::cell::Cell;
use std::sync::{Arc, Condvar};

use smallvec::SmallVec;

use super::node::DeferredNode;
use super::report::{self, FusionCounts};
use pygpu_array::DeferredArray;
use pygpu_base::error::Error;
use pygpu_base::flush_points::{self, FlushHooks, FlushReason, NodeId, Pending, QUEUES, Scope};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex, ForkSafeOnce};
use pygpu_device::shutdown;
use pygpu_memory::Allocation;

pub use self::limit_checks::holds_too_much;
pub use self::push::{Obstacle, Visibility, push};

/// All queues, protected by one lock. A thread that holds this lock neither calls a driver nor drops nodes, arrays or
/// errors.
pub(super) struct PendingQueues {
    queues: Vec<PendingQueue>,
    /// Number of operations that are queued or being launched, plus the number of memory blocks for which an error is
    /// stored.
    count: usize,
    /// Number of operations deferred since the process began, and the number of those discarded before their launch.
    deferred: u64,
    dropped: u64,
    /// Whether the helper thread, which bounds the age of operations, sleeps until it is woken.
    is_helper_asleep: bool,
    /// Number of threads that wait until another thread has launched its batch.
    waiting: usize,
}

/// The pending operations of one thread.
pub(super) struct PendingQueue {
    /// Sequence number of the first node in `nodes`.
    first: u64,
    /// Highest sequence number assigned so far. Discarded operations at the end are removed from `nodes`, but the
    /// pending marks of memory blocks still contain the numbers of these operations.
    highest: u64,
    /// The pending operations in the order in which they were deferred; `None` for a discarded operation.
    nodes: Vec<Option<Box<DeferredNode>>>,
    /// Number of operations in `nodes` that were not discarded.
    live: usize,
    /// Whether the last operation is an in-place barrier: it writes into an existing array, which the next operation
    /// may read, so that operation flushes first.
    has_barrier: bool,
    /// Total size in bytes of the pending results.
    results: usize,
    /// Total size in bytes of large operands, counted once for each use.
    operands: usize,
    /// Whether a thread is launching a batch of this queue.
    is_in_flight: bool,
    /// Number of threads to which this queue is assigned, i.e. which defer operations into it. Threads that only flush
    /// the queue are not counted.
    owners: usize,
    /// The first launch error that has not been reported to the queue's thread yet, and the first operation of the
    /// batch in which the error occurred.
    error: Option<(NodeId, Error)>,
    /// Sequence number of the first node when the helper thread last checked the queue.
    seen: u64,
}

/// Operations that one flush took from a queue.
pub(super) struct TakenNodes {
    pub(super) queue: usize,
    /// Sequence number of the first node.
    pub(super) first: u64,
    pub(super) nodes: Vec<Option<Box<DeferredNode>>>,
    /// Number of operations in this batch that were not discarded.
    pub(super) live: usize,
    has_barrier: bool,
    results: usize,
    operands: usize,
}

impl TakenNodes {
    /// Returns the id of the operation at index `place` of the batch.
    #[inline]
    pub(super) fn id(&self, place: usize) -> NodeId {
        NodeId::new(self.queue, self.first + place as u64)
    }
}

static QUEUES_OF_ALL: ForkSafeMutex<PendingQueues> = ForkSafeMutex::new(PendingQueues {
    queues: Vec::new(),
    count: 0,
    deferred: 0,
    dropped: 0,
    is_helper_asleep: false,
    waiting: 0,
});
static LANDED: Condvar = Condvar::new();
/// Signals the helper thread, which bounds the age of operations, to wake up.
static HELPER_WOKEN: Condvar = Condvar::new();

/// Acquires the lock over all queues.
pub(super) fn lock() -> ForkSafeGuard<PendingQueues> {
    QUEUES_OF_ALL.lock()
}

/// Maximum number of nodes in a batch. A discarded operation counts as long as a later operation is pending.
const PLACES: usize = 128;
/// Minimum size in bytes of an operand that counts for [`FlushReason::OperandLimit`].
const LARGE: usize = 1 << 20;

/// The calling thread's registration with its queue. Dropping the registration leaves the queue's pending operations to
/// other threads.
struct OwnQueue(usize);

impl Drop for OwnQueue {
    fn drop(&mut self) {
        let mut queues = lock();
        let queue = &mut queues.queues[self.0];
        queue.owners -= 1;
        let error = if queue.owners == 0 { queue.error.take() } else { None };
        drop(queues);
        error.into_iter().for_each(|(_, error)| shutdown::defer(Err(error)));
        let _ = NUMBER.try_with(|number| number.set(usize::MAX));
    }
}

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) };
    static OWN: OwnQueue = OwnQueue(lock().register());
}

/// Returns the index of the calling thread's queue; 0 for a thread that is ending.
#[inline]
pub(super) fn own() -> usize {
    match NUMBER.try_with(Cell::get) {
        Ok(number) if number != usize::MAX => number,
        _ => register(),
    }
}

#[cold]
fn register() -> usize {
    let number = OWN.try_with(|own| own.0).unwrap_or(0);
    let _ = NUMBER.try_with(|own| own.set(number));
    number
}

impl PendingQueue {
    const fn new() -> Self {
        Self {
            first: 1,
            highest: 0,
            nodes: Vec::new(),
            live: 0,
            has_barrier: false,
            results: 0,
            operands: 0,
            is_in_flight: false,
            owners: 0,
            error: None,
            seen: 0,
        }
    }

    fn is_idle(&self) -> bool {
        self.nodes.is_empty() && !self.is_in_flight
    }

    /// Stores an error that occurred when a batch was launched, for the queue's thread, unless an earlier error is
    /// still unreported. Returns the error if the queue has no thread that would retrieve it.
    fn remember(&mut self, batch: NodeId, error: Option<Error>) -> Option<Error> {
        match (error, &self.error) {
            (Some(error), None) if self.owners > 0 => {
                self.error = Some((batch, error));
                flush_points::store_error();
                None
            }
            (error, _) => error.filter(|_| self.owners == 0),
        }
    }

    fn node(&self, number: u64) -> Option<&DeferredNode> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.nodes.get(place)?.as_deref()
    }

    /// If the queue is empty, records all sequence numbers up to `highest` as complete, including the numbers of
    /// discarded operations. Otherwise these numbers are recorded when the last batch ends, or when a later operation
    /// completes that reuses the number of a discarded operation.
    ///
    /// Without this record the result block of a discarded operation would stay marked as pending, and a push that
    /// waits for this operation would never end.
    #[inline]
    fn land_discarded(&mut self, number: usize) {
        if self.is_idle() && self.first <= self.highest {
            self.first = self.highest + 1;
            flush_points::land(number, self.highest);
        }
    }

    /// Removes a node from the queue and returns it. Also removes discarded nodes at the end of the queue, so that a
    /// loop that drops its results never fills the queue.
    fn take(&mut self, number: u64) -> Option<Box<DeferredNode>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let node = self.nodes.get_mut(place)?.take()?;
        self.live -= 1;
        self.results = self.results.saturating_sub(node.layout.nbytes() as usize);
        self.operands = self.operands.saturating_sub(large_operands(&node));
        while let Some(None) = self.nodes.last() {
            self.nodes.pop();
        }
        Some(node)
    }
}

impl PendingQueues {
    /// Assigns a queue to the calling thread: an empty queue that belongs to no thread, if one exists; otherwise a new
    /// queue; or, if the maximum number of queues exists, a queue that it shares with other threads.
    fn register(&mut self) -> usize {
        let free = self.queues.iter().position(|queue| queue.owners == 0 && queue.is_idle());
        let number = free.unwrap_or_else(|| {
            if self.queues.len() < QUEUES {
                self.queues.push(PendingQueue::new());
                return self.queues.len() - 1;
            }
            (0..QUEUES).min_by_key(|number| self.queues[*number].owners).unwrap_or(0)
        });
        self.queues[number].owners += 1;
        number
    }

    fn add(&mut self, count: isize) {
        self.count = self.count.saturating_add_signed(count);
        flush_points::set_pending_count(self.count);
    }

    /// Takes all operations out of the queue with this index; returns `None` if the queue is empty.
    fn take_all(&mut self, number: usize) -> Option<TakenNodes> {
        let queue = self.queues.get_mut(number)?;
        if queue.nodes.is_empty() {
            return None;
        }
        let taken = TakenNodes {
            queue: number,
            first: queue.first,
            nodes: std::mem::take(&mut queue.nodes),
            live: queue.live,
            has_barrier: queue.has_barrier,
            results: queue.results,
            operands: queue.operands,
        };
        queue.first += taken.nodes.len() as u64;
        (queue.live, queue.results, queue.operands, queue.has_barrier) = (0, 0, 0, false);
        Some(taken)
    }

    /// Whether a queue other than `own` has a pending operation that reads a memory block. Also returns true if a batch
    /// of another queue is being launched, because the operations of such batches are not searched.
    fn is_read_beside(&self, own: usize, block: &Arc<Allocation>) -> bool {
        let reads = |node: &DeferredNode| node.arrays().iter().any(|array| Arc::ptr_eq(array.allocation(), block));
        let others = self.queues.iter().enumerate().filter(|(number, _)| *number != own);
        let is_any = |queue: &PendingQueue| queue.is_in_flight || queue.nodes.iter().flatten().any(|node| reads(node));
        block.read_by().pending() == Some(Pending::Many) && others.map(|(_, queue)| queue).any(is_any)
    }

    /// Returns the number of operations deferred since the process began.
    pub(super) fn deferred(&self) -> u64 {
        self.deferred
    }

    /// Whether no operation is queued. Operations that are being launched are not counted.
    pub(super) fn is_idle(&self) -> bool {
        self.queues.iter().all(|queue| queue.nodes.is_empty())
    }

    /// Wakes the helper thread, which bounds the age of operations.
    #[cold]
    pub(super) fn wake_helper(&mut self) {
        self.is_helper_asleep = false;
        HELPER_WOKEN.notify_all();
    }

    /// Returns the queues whose first operation was already pending at the helper thread's previous check.
    pub(super) fn aged(&mut self) -> SmallVec<[usize; 8]> {
        let mut aged = SmallVec::new();
        for (number, queue) in self.queues.iter_mut().enumerate() {
            if !queue.nodes.is_empty() && std::mem::replace(&mut queue.seen, queue.first) == queue.first {
                aged.push(number);
            }
        }
        aged
    }
}

/// Blocks the calling helper thread, which bounds the age of operations, until another thread wakes it.
pub(super) fn sleep(mut queues: ForkSafeGuard<PendingQueues>) -> ForkSafeGuard<PendingQueues> {
    queues.is_helper_asleep = true;
    while queues.is_helper_asleep {
        queues = queues.wait(&HELPER_WOKEN);
    }
    queues
}

/// Waits until no thread is launching a batch of a queue, then takes all operations of the queue. Must be called
/// without the GIL.
pub(super) fn take(number: usize) -> Option<TakenNodes> {
    let mut queues = lock();
    while queues.queues.get(number).is_some_and(|queue| queue.is_in_flight) {
        queues.waiting += 1;
        queues = queues.wait(&LANDED);
        queues.waiting -= 1;
    }
    let taken = queues.take_all(number)?;
    queues.queues[number].is_in_flight = true;
    Some(taken)
}

/// Takes all operations of a queue, unless another thread is launching a batch of this queue.
pub(super) fn take_if_free(number: usize) -> Option<TakenNodes> {
    let mut queues = lock();
    if queues.queues.get(number)?.is_in_flight {
        return None;
    }
    let taken = queues.take_all(number)?;
    queues.queues[number].is_in_flight = true;
    Some(taken)
}

/// Takes the operations of all queues in a forked child, where the parent's launching threads do not exist.
pub(super) fn take_all_forked() -> Vec<TakenNodes> {
    let mut queues = lock();
    let all = 0..queues.queues.len();
    all.filter_map(|number| queues.take_all(number)).collect()
}

/// Finishes a batch, all of whose operations were launched or failed. Returns `error` if the queue has no thread that
/// would retrieve it.
pub(super) fn land(mut taken: TakenNodes, error: Option<Error>, faults: usize) -> Option<Error> {
    let batch = taken.id(0);
    taken.nodes.iter_mut().for_each(|node| *node = None); // dropped before the lock is acquired, because the drop may free operands
    let mut queues = lock();
    flush_points::land(taken.queue, taken.first + taken.nodes.len() as u64 - 1);
    let queue = &mut queues.queues[taken.queue];
    queue.is_in_flight = false;
    queue.land_discarded(taken.queue);
    if queue.nodes.capacity() == 0 {
        taken.nodes.clear();
        queue.nodes = taken.nodes; // the next batch reuses the memory of this vector
    }
    let orphan = queue.remember(batch, error);
    queues.add(faults as isize - taken.live as isize);
    let is_waited_for = queues.waiting > 0;
    drop(queues);
    if is_waited_for {
        LANDED.notify_all();
    }
    orphan
}

/// Puts operations that were not launched back into their queue, before the operations queued meanwhile.
pub(super) fn put_back(mut taken: TakenNodes, error: Option<Error>, faults: usize) {
    let batch = taken.id(0);
    let mut queues = lock();
    let left = taken.nodes.iter().flatten().count();
    let queue = &mut queues.queues[taken.queue];
    queue.first = taken.first;
    taken.nodes.append(&mut queue.nodes);
    queue.nodes = taken.nodes;
    queue.live += left;
    queue.results += taken.results;
    queue.operands += taken.operands;
    queue.has_barrier |= taken.has_barrier;
    queue.is_in_flight = false;
    let orphan = queue.remember(batch, error);
    queues.add(faults as isize + left as isize - taken.live as isize);
    let is_waited_for = queues.waiting > 0;
    drop(queues);
    drop(orphan);
    if is_waited_for {
        LANDED.notify_all();
    }
}

/// Total size in bytes of a node's large operands, counted once for each use.
#[inline]
fn large_operands(node: &DeferredNode) -> usize {
    let bytes = node.arrays().iter().map(|array| array.allocation().bytes()).filter(|bytes| *bytes >= LARGE);
    bytes.fold(0, usize::saturating_add)
}

/// Installs the flush hooks. Lower layers request a flush by the hook `flush`: it releases the GIL and then calls the
/// function `flush` in `batch.rs`.
pub fn install_hooks(flush: fn(Scope, FlushReason)) {
    static HOOKS: ForkSafeOnce<FlushHooks> = ForkSafeOnce::new();
    let await_push = || drop(lock());
    let pending_bytes = || lock().results();
    let count_faults = |change: isize| lock().add(change);
    let take_error = || {
        let number = own();
        lock().queues.get_mut(number).and_then(|queue| queue.error.take()).map(|(_, error)| error)
    };
    let report = |batch: NodeId| {
        let mut queues = lock();
        let queue = queues.queues.get_mut(batch.queue());
        let error = queue.and_then(|queue| queue.error.take_if(|(other, _)| *other == batch));
        drop(queues);
        drop(error); // dropped after the lock is released, because the error may own an object of another library
    };
    flush_points::register(HOOKS.get_or_init(|| FlushHooks {
        flush,
        discard_result,
        await_push,
        count_faults,
        pending_bytes,
        take_error,
        report,
    }));
}

/// Returns the number of pending operations of all queues.
pub fn pending_count() -> usize {
    lock().queues.iter().map(|queue| queue.live).sum()
}

/// Returns the indices of the queues that a flush with the given scope empties.
pub(super) fn numbers(scope: Scope) -> std::ops::Range<usize> {
    match scope {
        Scope::Own => own()..own() + 1,
        Scope::One(number) => number..number + 1,
        Scope::All => 0..lock().queues.len(),
    }
}

/// Returns the current fusion statistics.
pub fn figures() -> FusionCounts {
    let (deferred, dropped) = {
        let queues = lock();
        (queues.deferred, queues.dropped)
    };
    report::figures(deferred, dropped)
}

/// Discards a pending operation whose result is no longer referenced.
pub fn discard_result(id: NodeId) {
    let mut queues = lock();
    let node = drop_one(&mut queues, id);
    drop(queues);
    drop(node); // dropped after the lock is released, because the drop may free operands
}

fn drop_one(queues: &mut PendingQueues, id: NodeId) -> Option<Box<DeferredNode>> {
    let queue = queues.queues.get_mut(id.queue())?;
    let node = queue.take(id.number())?;
    queue.land_discarded(id.queue());
    queues.add(-1);
    queues.dropped += 1;
    Some(node)
}

/// Discards a pending operation whose result is no longer referenced, unless this would free an operand, because
/// freeing may call a driver. Returns `false` if nothing was discarded.
pub fn discard_result_without_error(id: NodeId) -> bool {
    let mut queues = lock();
    let is_quiet = |node: &DeferredNode| {
        node.arrays().iter().all(|array: &DeferredArray| Arc::strong_count(array.allocation()) > 1)
    };
    if !queues.queues.get(id.queue()).and_then(|queue| queue.node(id.number())).is_some_and(is_quiet) {
        return false;
    }
    let node = drop_one(&mut queues, id);
    drop(queues);
    drop(node);
    true
}
