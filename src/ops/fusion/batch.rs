//! Flushes queues: a flush takes one launch batch from each queue and launches this batch. If the batch needs kernels
//! that are not compiled yet, the flush compiles them and then makes another attempt.

use super::launch::{self, Policy};
use super::queue;
use super::report;
use pygpu_backend as backend;
use pygpu_base::error::Error;
use pygpu_base::flush_points::{self, FlushReason, FlushToken, Scope};
use pygpu_codegen::variant_cache::{self, Postponed};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// Launches the pending operations of the queues in `scope`. Waits for other threads that are launching a batch of
/// these queues. Must be called without the GIL.
///
/// Never fails: driver errors are stored in the affected blocks. The first error is also stored for the thread that
/// deferred the operations, which takes it by `flush_points::take_error`.
pub fn flush(scope: Scope, cause: FlushReason) {
    // Nothing is flushed in a host function that a stream calls, because such a function must not call the driver.
    if flush_points::is_in_batch() || shutdown::exiting() || backend::is_host_call() {
        return;
    }
    if backend::is_forked() {
        return discard_after_fork();
    }
    for queue in queue::numbers(scope) {
        flush_queue(queue, cause);
    }
}

/// Launches the operations of a queue. If some of their kernels are not compiled yet, compiles these kernels and tries
/// again. During the compilation the operations are back in the queue, which other threads may flush meanwhile.
fn flush_queue(queue: usize, cause: FlushReason) {
    let mut policy = Policy::of_owner();
    while let Some(taken) = queue::take(queue) {
        let postponed = launch(taken, cause, policy);
        if postponed.is_empty() {
            return;
        }
        policy = Policy { counts: false, is_first: false, ..policy };
        postponed.into_iter().for_each(Postponed::compile);
    }
}

/// Launches the operations of a queue, because they have been pending for a full interval of the helper thread. Runs on
/// the helper thread, so it compiles nothing and does not count uses of kernel structures. Returns `false` if
/// operations are left that only the queue's own thread may launch.
pub(super) fn flush_aged(queue: usize) -> bool {
    let Some(taken) = queue::take_if_free(queue) else { return true };
    if !may_launch(&taken) {
        queue::put_back(taken, None, 0);
        return false;
    }
    launch(taken, FlushReason::Age, Policy::of_helper()).is_empty()
}

/// Whether the helper thread may launch a batch. It may not if a stream of the batch is capturing, or if work on such a
/// stream would invalidate another capture: the legacy default stream must not be used while a blocking stream of any
/// library is capturing.
fn may_launch(taken: &queue::TakenNodes) -> bool {
    let streams = || taken.nodes.iter().flatten().map(|node| &node.stream);
    let is_free = |stream: &Stream| match stream.device().backend().graphs() {
        // SAFETY: the node owns a reference to the stream, which keeps the handle valid.
        Ok(graphs) => matches!(unsafe { graphs.capture_of(stream.device().index(), stream.handle()) }, Ok(None)),
        Err(_) => true,
    };
    let mut before: Option<&Stream> = None;
    streams().all(|stream| before.replace(stream).is_some_and(|other| other == stream) || is_free(stream))
}

/// Launches a batch. Returns the kernels that must be compiled first; the operations that need them are put back into
/// the queue.
///
/// Another library may be capturing at the same time. Therefore the backend selects the relaxed capture mode for each
/// call that a capture would forbid.
fn launch(mut taken: queue::TakenNodes, cause: FlushReason, policy: Policy) -> Vec<Postponed> {
    let (outcome, postponed) = {
        let token = FlushToken::begin();
        (launch::all(&mut taken, policy, &token), variant_cache::take_postponed())
    };
    // The helper thread tries again in each interval while the kernels of a batch are being compiled.
    let is_launched = !matches!(cause, FlushReason::Age) || outcome.counts.computed + outcome.counts.failures > 0;
    report::record_flush(Some(cause).filter(|_| policy.is_first && is_launched), taken.live, &outcome.counts);
    if taken.nodes.iter().all(Option::is_none) {
        variant_cache::forget_refused();
        if let Some(orphan) = queue::land(taken, outcome.error, outcome.faults) {
            shutdown::defer(Err(orphan));
        }
        return Vec::new();
    }
    queue::put_back(taken, outcome.error, outcome.faults);
    postponed
}

/// Drops pending operations in a forked child, which cannot use the driver. The parent process launches these
/// operations from its own copy of the queues.
#[cold]
fn discard_after_fork() {
    for mut taken in queue::take_all_forked() {
        let token = FlushToken::begin();
        let (batch, mut faults) = (taken.id(0), 0);
        for node in taken.nodes.iter().flatten() {
            let forked = Error::Forked { operation: "the launch of a deferred operation", backend: "GPU" };
            let block = node.result.upgrade().filter(|_| node.target.is_none());
            faults += usize::from(block.is_some_and(|block| block.lose(forked, batch, &token)));
        }
        taken.nodes.iter_mut().for_each(|node| *node = None);
        drop(token);
        _ = queue::land(taken, None, faults);
    }
}
