//! Flush points: every path that could observe a deferred operation flushes it first.
//!
//! `ops::expression` owns the queues of deferred operations, one for each thread. This module holds what lower layers need of
//! them: the count of pending operations, the marks by which a block names the operations that use it, and the functions that
//! flush. While nothing is pending a flush point costs one load.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::error::Error;
use crate::fork_safe::Once;

/// Reason of a flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Values or an address of an array are requested.
    Values,
    /// Work of another kind goes to a stream: a copy, a fill, a kernel, a graph.
    Work,
    /// A wait, a point in a stream, a change of the current stream, or the beginning of a capture.
    Order,
    /// An eager operation uses a pending result, or comes after a barrier.
    Operation,
    /// The queue has its maximum number of operations.
    Nodes,
    /// Pending results have their maximum size.
    Bytes,
    /// Operands that only pending operations hold have their maximum size.
    Held,
    /// A device refused memory.
    Memory,
    /// The program requested it: `flush`, another mode.
    Asked,
    /// The oldest pending operation reached its maximum age.
    Age,
}

impl Cause {
    /// All reasons, in the order of a report.
    pub const ALL: [Self; 10] = [
        Self::Values,
        Self::Work,
        Self::Order,
        Self::Operation,
        Self::Nodes,
        Self::Bytes,
        Self::Held,
        Self::Memory,
        Self::Asked,
        Self::Age,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Work => "work",
            Self::Order => "order",
            Self::Operation => "operation",
            Self::Nodes => "nodes",
            Self::Bytes => "bytes",
            Self::Held => "held",
            Self::Memory => "memory",
            Self::Asked => "asked",
            Self::Age => "age",
        }
    }
}

use crate::marks::Usage;
pub use crate::marks::{Escape, Landing, Mark, NodeId, Pending, QUEUES};

static LANDING: Landing = Landing { count: AtomicUsize::new(0), landed: [const { AtomicU64::new(0) }; QUEUES] };

impl NodeId {
    /// Whether the operation is queued or being launched.
    #[inline]
    pub fn is_pending(self) -> bool {
        LANDING.is_pending(self)
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

impl Mark {
    /// No operation.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Operations that are pending by this mark.
    #[inline]
    pub fn pending(&self) -> Option<Pending> {
        LANDING.pending(self)
    }

    /// Adds a reader, which may be one of several. The caller holds the queues' lock.
    #[inline]
    pub fn add(&self, id: NodeId) {
        LANDING.add(self, id);
    }
}

/// Queues that a flush empties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// That of the calling thread.
    Own,
    /// One queue.
    One(usize),
    /// All queues.
    All,
}

/// Functions of the layer that owns the queues.
pub struct FlushHooks {
    /// Launches pending operations, and waits for a thread that launches some of them. The GIL is released meanwhile.
    pub flush: fn(Scope, Cause),
    /// Takes an operation out of its queue whose result has ended.
    pub forget: fn(NodeId),
    /// Waits until an operation that another thread queues is queued.
    pub await_push: fn(),
    /// Counts blocks that have a fault: more or fewer by so many.
    pub count_faults: fn(isize),
    /// Bytes of the results of queued operations.
    pub pending_bytes: fn() -> usize,
    /// Takes the first error of the calling thread's queue that was not reported.
    pub take_error: fn() -> Option<Error>,
    /// Counts the error of a batch, which begins with this operation, as reported: a use of a block raises it.
    pub report: fn(NodeId),
}

static HOOKS: Once<&'static FlushHooks> = Once::new();

thread_local! {
    /// Whether this thread launches a batch.
    static IN_BATCH: Cell<bool> = const { Cell::new(false) };
}

/// Registers the owner of the queues; the first one stays.
pub fn register(hooks: &'static FlushHooks) {
    HOOKS.set(hooks);
}

/// Stores the count. The caller holds the queues' lock.
#[inline]
pub fn set_count(count: usize) {
    LANDING.set_count(count);
}

/// Marks all operations of a queue up to a number as landed, after they were launched or refused. The caller holds the queues' lock.
#[inline]
pub fn land(queue: usize, number: u64) {
    LANDING.land(queue, number);
}

/// Whether any operation is pending, or any block has a fault.
#[inline(always)]
pub fn is_any() -> bool {
    LANDING.is_any()
}

/// Launches the calling thread's pending operations; if memory is short, those of all threads.
///
/// Never fails: what a driver refuses becomes a fault of the blocks concerned.
#[inline(always)]
pub fn flush(cause: Cause) {
    if is_any() {
        let scope = if cause == Cause::Memory { Scope::All } else { Scope::Own };
        flush_now(scope, cause);
    }
}

/// Launches the pending operations of all threads, for a wait or a capture.
#[inline]
pub fn flush_all(cause: Cause) {
    if is_any() {
        flush_now(Scope::All, cause);
    }
}

/// Launches the pending operations of some queues.
#[cold]
#[inline(never)]
pub fn flush_now(scope: Scope, cause: Cause) {
    // The launching thread's own work is a part of the flush.
    if let Some(hooks) = HOOKS.get().filter(|_| !is_in_batch()) {
        (hooks.flush)(scope, cause);
    }
}

/// Launches the operations that a mark names.
#[cold]
pub fn flush_pending(pending: Pending, cause: Cause) {
    match pending {
        Pending::One(id) => flush_now(Scope::One(id.queue()), cause),
        Pending::Many => flush_now(Scope::All, cause),
    }
}

/// Takes an operation out of its queue, whose result has ended.
#[cold]
pub fn forget(id: NodeId) {
    if let Some(hooks) = HOOKS.get().filter(|_| id.is_pending()) {
        (hooks.forget)(id);
    }
}

static USAGE: Usage = Usage(AtomicUsize::new(0));

/// Records that operations are deferred from now on: before the first check that only PyGPU reaches its operands.
#[inline]
pub fn begin_use() {
    USAGE.begin();
}

/// Whether operations may have been deferred. It is called after a change of who reaches a block.
#[inline]
pub fn is_used() -> bool {
    USAGE.is_begun()
}

/// Waits until an operation that another thread queues is queued.
#[cold]
pub fn await_push() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.await_push)();
    }
}

/// Bytes of the results of queued operations.
#[cold]
pub fn pending_bytes() -> usize {
    HOOKS.get().map_or(0, |hooks| (hooks.pending_bytes)())
}

/// Counts blocks that have a fault: more or fewer by so many.
#[cold]
pub fn count_faults(change: isize) {
    if let Some(hooks) = HOOKS.get() {
        (hooks.count_faults)(change);
    }
}

/// Whether a queue ever kept an error for its thread. It is stored before the count falls, so that a thread that finds nothing pending
/// finds it.
static HAS_ERRORS: AtomicBool = AtomicBool::new(false);

/// Records that a queue keeps an error for its thread. The caller holds the queues' lock.
#[cold]
pub fn keep_error() {
    HAS_ERRORS.store(true, Ordering::Release);
}

/// Takes the first error of the calling thread's deferred operations that was not reported.
#[inline]
pub fn take_error() -> Option<Error> {
    if HAS_ERRORS.load(Ordering::Acquire) { HOOKS.get().and_then(|hooks| (hooks.take_error)()) } else { None }
}

/// Counts the error of a batch, which begins with this operation, as reported: a use of a block raises it.
#[cold]
pub fn report(batch: NodeId) {
    if let Some(hooks) = HOOKS.get() {
        (hooks.report)(batch);
    }
}

/// Whether the calling thread launches a batch: it runs no Python, compiles nothing and waits for no stream.
#[inline]
pub fn is_in_batch() -> bool {
    IN_BATCH.try_with(Cell::get).unwrap_or(false)
}

/// Proof that the calling thread launches a batch. It is not sent to another thread.
pub struct FlushToken(std::marker::PhantomData<*const ()>);

impl FlushToken {
    /// Begins a batch; its end is the end of the batch.
    pub fn begin() -> Self {
        debug_assert!(!is_in_batch(), "a batch is launched within a batch");
        let _ = IN_BATCH.try_with(|flag| flag.set(true));
        Self(std::marker::PhantomData)
    }
}

impl Drop for FlushToken {
    fn drop(&mut self) {
        let _ = IN_BATCH.try_with(|flag| flag.set(false));
    }
}

/// Right to run Python, or to wait for a thread that may: every path that attaches to the interpreter requires one.
#[derive(Clone, Copy)]
pub struct PythonAccess(());

impl PythonAccess {
    /// Right of the calling thread; `None` while it launches a batch.
    #[inline]
    pub fn here() -> Option<Self> {
        (!is_in_batch()).then_some(Self(()))
    }

    /// Right of a thread, which is refused, and is a defect of the caller, while it launches a batch.
    #[inline]
    pub fn expected() -> Option<Self> {
        let access = Self::here();
        debug_assert!(access.is_some(), "a flush attaches to the interpreter");
        access
    }
}

#[cfg(test)]
mod tests {
    use super::{FlushToken, PythonAccess};

    #[test]
    fn python_is_refused_while_the_thread_launches_a_batch() {
        assert!(PythonAccess::here().is_some());
        let token = FlushToken::begin();
        assert!(PythonAccess::here().is_none());
        let other = std::thread::spawn(|| PythonAccess::here().is_some());
        assert!(other.join().unwrap_or(false), "other threads may run Python");
        let asked = std::panic::catch_unwind(|| PythonAccess::expected().is_none());
        assert_eq!(asked.is_err(), cfg!(debug_assertions));
        drop(token);
        assert!(PythonAccess::expected().is_some());
    }
}
