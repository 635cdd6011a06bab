//! Queues findings of unordered work on memory blocks for the Python layer, because the thread that detects a finding
//! may not hold the GIL.

use super::Origin;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_base::log_queue;
use pygpu_device::stream::Stream;

/// The kind of unordered work that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindingKind {
    /// PyGPU enqueues work on a memory block that pending work of another stream may still use.
    Use,
    /// A memory block is freed that pending work of another stream may still use.
    Release,
    /// A kernel launch receives the address of a memory block while other work on the block is pending.
    Address,
}

/// A finding: two uses of a memory block that no synchronization orders.
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The stream that does not wait.
    pub waiter: Stream,
    /// The stream with pending work.
    pub worker: Stream,
    /// The position in the program at which the memory block was passed to code outside PyGPU, if known.
    pub origin: Option<Origin>,
    /// Identifier of the thread, as Python's `threading.get_ident` returns it.
    pub thread: u64,
}

/// Maximum number of queued findings; further findings are dropped.
const MOST: usize = 1000;

static FOUND: ForkSafeMutex<Vec<Finding>> = ForkSafeMutex::new(Vec::new());

/// Queues a finding, with the id of the calling thread.
pub(super) fn push(kind: FindingKind, waiter: &Stream, worker: &Stream, origin: Option<Origin>) {
    // SAFETY: the function has no preconditions.
    let thread = unsafe { libc::pthread_self() } as u64;
    let finding = Finding { kind, waiter: waiter.clone(), worker: worker.clone(), origin, thread };
    let mut found = FOUND.lock();
    let dropped = if found.len() < MOST {
        found.push(finding);
        None
    } else {
        Some(finding)
    };
    drop(found);
    // The finding is dropped after the lock is released, because its origin may own a Python object.
    drop(dropped);
    log_queue::wake();
}

/// Takes all queued findings, oldest first.
pub fn take() -> Vec<Finding> {
    std::mem::take(&mut *FOUND.lock())
}
