//! One flush: a launch batch for each queue, and the compilations between two attempts.

use super::report;
use super::run::{self, Policy};
use super::window;
use pygpu_backend as backend;
use pygpu_base::error::Error;
use pygpu_base::flush::{self, Cause, FlushToken, Scope};
use pygpu_codegen::store::{self, Postponed};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// Launches the pending operations of some queues, and waits for threads that launch some of them. The caller has no GIL.
///
/// Never fails: what a driver refuses is a fault of the blocks concerned, and the queue's thread is told when it asks.
pub fn flush(scope: Scope, cause: Cause) {
    // A function that a driver's stream calls may call no driver.
    if flush::is_in_batch() || shutdown::exiting() || backend::is_host_call() {
        return;
    }
    if backend::is_forked() {
        return abandon();
    }
    for queue in window::numbers(scope) {
        flush_queue(queue, cause);
    }
}

/// Launches a queue. What is not compiled yet is compiled with nothing taken out and without the token, and then the rest is tried again.
fn flush_queue(queue: usize, cause: Cause) {
    let mut policy = Policy::of_owner();
    while let Some(taken) = window::take(queue) {
        let postponed = launch(taken, cause, policy);
        if postponed.is_empty() {
            return;
        }
        policy = Policy { counts: false, is_first: false, ..policy };
        postponed.into_iter().for_each(Postponed::compile);
    }
}

/// Launches a queue for its age, from the helper thread: nothing is compiled or counted. `false` if some of it waits for its thread.
pub(super) fn flush_aged(queue: usize) -> bool {
    let Some(taken) = window::take_if_free(queue) else { return true };
    if !may_launch(&taken) {
        window::put_back(taken, None, 0);
        return false;
    }
    launch(taken, Cause::Age, Policy::of_helper()).is_empty()
}

/// Whether no stream of a batch takes part in a capture, nor would spoil one: the legacy default stream may not be used while a blocking
/// stream captures, of whatever library. Then the operations wait for their thread.
fn may_launch(taken: &window::Taken) -> bool {
    let streams = || taken.nodes.iter().flatten().map(|node| &node.stream);
    let is_free = |stream: &Stream| match stream.device().backend().graphs() {
        // SAFETY: the node keeps the stream alive.
        Ok(graphs) => matches!(unsafe { graphs.capture_of(stream.device().index(), stream.handle()) }, Ok(None)),
        Err(_) => true,
    };
    let mut before: Option<&Stream> = None;
    streams().all(|stream| before.replace(stream).is_some_and(|other| other == stream) || is_free(stream))
}

/// Launches a batch; returns the kernels for which the rest of it is put back.
///
/// Another library may have a capture under way: the backend makes each call that such a capture forbids in the relaxed mode of captures.
fn launch(mut taken: window::Taken, cause: Cause, policy: Policy) -> Vec<Postponed> {
    let (outcome, postponed) = {
        let token = FlushToken::begin();
        (run::all(&mut taken, policy, &token), store::take_postponed())
    };
    report::flushed(Some(cause).filter(|_| policy.is_first), taken.live, &outcome.counts);
    if taken.nodes.iter().all(Option::is_none) {
        store::forget_refused();
        if let Some(orphan) = window::land(taken, outcome.error, outcome.faults) {
            shutdown::defer(Err(orphan));
        }
        return Vec::new();
    }
    window::put_back(taken, outcome.error, outcome.faults);
    postponed
}

/// Drops pending operations in a forked child, which has no driver: the parent launches its own.
#[cold]
fn abandon() {
    for mut taken in window::take_all_forked() {
        let token = FlushToken::begin();
        let (batch, mut faults) = (taken.id(0), 0);
        for node in taken.nodes.iter().flatten() {
            let forked = Error::Forked { operation: "the launch of a deferred operation", backend: "GPU" };
            let block = node.result.upgrade().filter(|_| node.target.is_none());
            faults += usize::from(block.is_some_and(|block| block.lose(forked, batch, &token)));
        }
        taken.nodes.iter_mut().for_each(|node| *node = None);
        drop(token);
        _ = window::land(taken, None, faults);
    }
}
