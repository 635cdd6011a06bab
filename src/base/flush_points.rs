//! Launches deferred operations at flush points, i.e. before any code that could observe that an operation was not
//! launched yet.
//!
//! `ops::fusion` owns the queues of deferred operations, one per thread. This module contains the parts that lower
//! layers need: the count of pending operations, the marks that link a block to the operations using it, and the flush
//! functions. While no operation is pending, a flush point costs one atomic load.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::error::Error;
use crate::fork_safe::ForkSafeOnce;

/// The reason for which deferred operations were flushed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FlushReason {
    /// The program requests the values or the address of an array.
    Values,
    /// Other work is enqueued on a stream: a copy, a fill, a kernel, or a graph.
    OtherWork,
    /// The program waits, records an event, changes the current stream, or begins a capture.
    StreamSync,
    /// An eager operation uses a pending result, or follows a pending write into an existing array.
    EagerOperation,
    /// The queue of pending operations reached its maximum length.
    NodeLimit,
    /// The results of pending operations reached their maximum total size.
    ResultLimit,
    /// Operands that only pending operations still refer to reached their maximum total size.
    OperandLimit,
    /// A device has too little free memory.
    OutOfMemory,
    /// The program called `flush` or changed the fusion mode.
    Explicit,
    /// The oldest pending operation reached its maximum age.
    Age,
}

impl FlushReason {
    /// All reasons for a flush, in the order in which reports list them.
    pub const ALL: [Self; 10] = [
        Self::Values,
        Self::OtherWork,
        Self::StreamSync,
        Self::EagerOperation,
        Self::NodeLimit,
        Self::ResultLimit,
        Self::OperandLimit,
        Self::OutOfMemory,
        Self::Explicit,
        Self::Age,
    ];

    /// Returns the reason's name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::OtherWork => "work",
            Self::StreamSync => "order",
            Self::EagerOperation => "operation",
            Self::NodeLimit => "nodes",
            Self::ResultLimit => "bytes",
            Self::OperandLimit => "held",
            Self::OutOfMemory => "memory",
            Self::Explicit => "asked",
            Self::Age => "age",
        }
    }
}

use crate::pending_marks::Usage;
pub use crate::pending_marks::{Escape, Landing, NodeId, Pending, PendingMark, QUEUES};

static LANDING: Landing = Landing { count: AtomicUsize::new(0), landed: [const { AtomicU64::new(0) }; QUEUES] };

impl NodeId {
    /// Returns whether the operation with this id is queued or being launched.
    #[inline]
    pub fn is_pending(self) -> bool {
        LANDING.is_pending(self)
    }
}

impl Default for PendingMark {
    fn default() -> Self {
        Self::new()
    }
}

impl PendingMark {
    /// Creates a mark that refers to no operation.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Returns those operations recorded in this mark that are still pending.
    #[inline]
    pub fn pending(&self) -> Option<Pending> {
        LANDING.pending(self)
    }

    /// Adds an operation that reads a memory block to the mark of this block. A mark can refer to several readers. The
    /// caller holds the queues' lock.
    #[inline]
    pub fn add(&self, id: NodeId) {
        LANDING.add(self, id);
    }
}

/// Selects the queues of deferred operations to flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The queue of the calling thread.
    Own,
    /// The queue of deferred operations with this index.
    One(usize),
    /// All queues.
    All,
}

/// Functions that the owner of the queues of deferred operations provides to lower layers.
pub struct FlushHooks {
    /// Launches the pending operations of the queues in the scope, and waits for other threads that are launching
    /// operations of these queues. Releases the GIL for the whole call.
    pub flush: fn(Scope, FlushReason),
    /// Removes a deferred operation from its queue, because its result was dropped before the launch.
    pub discard_result: fn(NodeId),
    /// Waits until an operation that another thread is adding to its queue is in the queue.
    pub await_push: fn(),
    /// Adds a number, which may be negative, to the count of memory blocks with a fault, i.e. with the stored error of
    /// a failed operation.
    pub count_faults: fn(isize),
    /// Returns the total size in bytes of the results of queued operations.
    pub pending_bytes: fn() -> usize,
    /// Takes the first error of the calling thread's queue that was not reported yet.
    pub take_error: fn() -> Option<Error>,
    /// Marks the error of a launch batch as reported, because the use of an affected memory block has raised this
    /// error. The argument is the id of the batch's first operation.
    pub report: fn(NodeId),
}

static HOOKS: ForkSafeOnce<&'static FlushHooks> = ForkSafeOnce::new();

thread_local! {
    /// Whether the calling thread is launching a batch of deferred operations.
    static IN_BATCH: Cell<bool> = const { Cell::new(false) };
}

/// Registers the functions of the owner of the queues of deferred operations. Later calls have no effect.
pub fn register(hooks: &'static FlushHooks) {
    HOOKS.set(hooks);
}

/// Stores the count of pending operations. The caller holds the queues' lock.
#[inline]
pub fn set_pending_count(count: usize) {
    LANDING.set_count(count);
}

/// Records that all operations of a queue up to `number` have landed: they were launched or have failed. The caller
/// holds the queues' lock.
#[inline]
pub fn land(queue: usize, number: u64) {
    LANDING.land(queue, number);
}

/// Returns whether any operation is pending, or any memory block has a fault (the error of a failed operation).
#[inline(always)]
pub fn has_pending() -> bool {
    LANDING.is_any()
}

/// Launches the calling thread's pending operations; with [`FlushReason::OutOfMemory`], those of all threads.
///
/// Never fails: a driver error is stored as a fault in the affected memory blocks, and raised when a block is used.
#[inline(always)]
pub fn flush(cause: FlushReason) {
    if has_pending() {
        let scope = if cause == FlushReason::OutOfMemory { Scope::All } else { Scope::Own };
        flush_now(scope, cause);
    }
}

/// Launches the pending operations of all threads, before a wait or a capture.
#[inline]
pub fn flush_all(cause: FlushReason) {
    if has_pending() {
        flush_now(Scope::All, cause);
    }
}

/// Launches the pending operations of the queues in `scope`.
#[cold]
#[inline(never)]
pub fn flush_now(scope: Scope, cause: FlushReason) {
    // A thread that is launching a batch of deferred operations flushes nothing, because the launch is already part of
    // a flush.
    if let Some(hooks) = HOOKS.get().filter(|_| !is_in_batch()) {
        (hooks.flush)(scope, cause);
    }
}

/// Launches the pending operations to which the mark of a memory block refers.
#[cold]
pub fn flush_pending(pending: Pending, cause: FlushReason) {
    match pending {
        Pending::One(id) => flush_now(Scope::One(id.queue()), cause),
        Pending::Many => flush_now(Scope::All, cause),
    }
}

/// Removes a deferred operation from its queue, because its result was dropped before the launch.
#[cold]
pub fn discard_result(id: NodeId) {
    if let Some(hooks) = HOOKS.get().filter(|_| id.is_pending()) {
        (hooks.discard_result)(id);
    }
}

static USAGE: Usage = Usage(AtomicUsize::new(0));

/// Records that operations may be deferred from now on. The caller must call this function before it first checks
/// whether an operand is private, i.e. accessible to PyGPU only.
#[inline]
pub fn begin_use() {
    USAGE.begin();
}

/// Returns whether operations may have been deferred in this process. The caller first marks its memory block as
/// escaped, and then calls this function. A thread that defers an operation meanwhile thus finds the mark.
#[inline]
pub fn is_used() -> bool {
    USAGE.is_begun()
}

/// Waits until an operation that another thread is adding to its queue is in the queue.
#[cold]
pub fn await_push() {
    if let Some(hooks) = HOOKS.get() {
        (hooks.await_push)();
    }
}

/// Returns the total size in bytes of the results of queued operations.
#[cold]
pub fn pending_bytes() -> usize {
    HOOKS.get().map_or(0, |hooks| (hooks.pending_bytes)())
}

/// Adds `change`, which may be negative, to the number of memory blocks with a fault, i.e. with the error of a failed
/// operation.
#[cold]
pub fn count_faults(change: isize) {
    if let Some(hooks) = HOOKS.get() {
        (hooks.count_faults)(change);
    }
}

/// Whether a queue has ever stored an error for its thread. The flag is set before the count of pending operations is
/// lowered. Therefore a thread that reads a count of 0 afterwards also finds this flag set.
static HAS_ERRORS: AtomicBool = AtomicBool::new(false);

/// Records that a queue has stored an error for its thread. The caller holds the queues' lock.
#[cold]
pub fn store_error() {
    HAS_ERRORS.store(true, Ordering::Release);
}

/// Takes the first error of the calling thread's deferred operations that was not reported yet.
#[inline]
pub fn take_error() -> Option<Error> {
    if HAS_ERRORS.load(Ordering::Acquire) { HOOKS.get().and_then(|hooks| (hooks.take_error)()) } else { None }
}

/// Marks the error of a launch batch as reported, because the use of an affected memory block has raised this error.
/// `batch` is the id of the batch's first operation.
#[cold]
pub fn report(batch: NodeId) {
    if let Some(hooks) = HOOKS.get() {
        (hooks.report)(batch);
    }
}

/// Returns whether the calling thread is launching a batch of deferred operations. Such a thread runs no Python,
/// compiles nothing and waits for no stream.
#[inline]
pub fn is_in_batch() -> bool {
    IN_BATCH.try_with(Cell::get).unwrap_or(false)
}

/// A token that proves that the calling thread is launching a batch of deferred operations. A token is not `Send`.
pub struct FlushToken(std::marker::PhantomData<*const ()>);

impl FlushToken {
    /// Records that the calling thread begins to launch a batch of deferred operations. Dropping the token ends the
    /// launch.
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

/// Permission to run Python, or to wait for a thread that may run Python. Every path that attaches to the interpreter
/// requires a value of this type.
#[derive(Clone, Copy)]
pub struct PythonAccess(());

impl PythonAccess {
    /// Returns the permission; `None` while the calling thread is launching a batch of deferred operations.
    #[inline]
    pub fn here() -> Option<Self> {
        (!is_in_batch()).then_some(Self(()))
    }

    /// Returns the permission, for code that never runs while a batch is launched. The result `None` shows a defect of
    /// the caller: the calling thread is launching a batch.
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
    fn python_access_is_denied_while_thread_launches_a_batch() {
        assert!(PythonAccess::here().is_some());
        let token = FlushToken::begin();
        assert!(PythonAccess::here().is_none());
        let other = std::thread::spawn(|| PythonAccess::here().is_some());
        assert!(other.join().unwrap_or(false), "other threads may run Python");
        let outcome = std::panic::catch_unwind(|| PythonAccess::expected().is_none());
        assert_eq!(outcome.is_err(), cfg!(debug_assertions));
        drop(token);
        assert!(PythonAccess::expected().is_some());
    }
}
