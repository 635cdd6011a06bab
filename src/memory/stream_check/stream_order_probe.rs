//! Tests by events whether two streams are ordered.
//!
//! The test waits until all work of the first stream is complete. If work that was then already enqueued on the second
//! stream is still pending, the first stream did not wait for this work, so no synchronization of any kind orders the
//! two streams. The test misses unordered work that is complete by chance.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::stream_captures;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;
use pygpu_device::Device;
use pygpu_device::stream::{PooledEvent, Stream};

/// Maximum time for which the test waits for the first stream. Without a limit, the test would wait forever for a
/// stream whose work waits for the calling thread.
const PATIENCE: Duration = Duration::from_secs(1);
const INTERVAL: Duration = Duration::from_micros(20);
/// Number of polling intervals after which incomplete work of the second stream counts as pending. The driver may
/// report the end of work on one stream earlier than the end of the work before it on another stream.
const GRACE: u32 = 3;

/// End of the latest work of PyGPU on each stream that PyGPU has used since the check was enabled, by backend, device
/// and handle.
static OWN_WORK: ForkSafeMutex<BTreeMap<(u8, i32, usize), Arc<PooledEvent>>> = ForkSafeMutex::new(BTreeMap::new());

fn key_of(stream: &Stream) -> (u8, i32, usize) {
    let device = stream.device();
    (device.kind() as u8, device.index(), stream.handle().0)
}

/// Records that PyGPU has enqueued work on a stream, so that the check does not take it for work of another library.
pub(crate) fn note_own_work(stream: &Stream) {
    if stream.device().is_cpu() || !matches!(stream_captures::is_capturing(stream), Ok(false)) {
        return;
    }
    if let Ok(mark) = PooledEvent::record(stream) {
        let replaced = OWN_WORK.lock().insert(key_of(stream), Arc::new(mark));
        drop(replaced);
    }
}

/// Prepares the check of a device's streams: earlier work on its default stream counts as work of PyGPU.
#[cold]
pub fn prepare(device: Device) {
    if super::is_on() {
        note_own_work(&Stream::default_of(device));
    }
}

/// Returns whether pending work of other libraries on the stream `worker` is not ordered before new work on the stream
/// `waiter`. The result is `false` if this is not certain.
pub fn is_unordered(waiter: &Stream, worker: &Stream) -> bool {
    if !is_of_others(worker) || !are_comparable(waiter, worker).unwrap_or(false) {
        return false;
    }
    let own = own_work_before(worker);
    remains_after(waiter, &own, || worker.query()).unwrap_or(false)
}

/// Returns whether a stream may contain work of other libraries. Returns `false` for streams that PyGPU created: their
/// pending work may be a wait or a free, which PyGPU does not record as its own.
fn is_of_others(stream: &Stream) -> bool {
    let same = Stream::foreign(stream.device(), stream.handle(), None);
    same.is_foreign() || same == Stream::default_of(stream.device())
}

/// Returns the ends of PyGPU's earlier work for which PyGPU's work on a stream may wait: the work on the same stream
/// or, for the default stream, on each stream of the device.
fn own_work_before(worker: &Stream) -> Vec<Arc<PooledEvent>> {
    let key = key_of(worker);
    let is_default = *worker == Stream::default_of(worker.device());
    let concerns = |other: &(u8, i32, usize)| *other == key || (is_default && (other.0, other.1) == (key.0, key.1));
    OWN_WORK.lock().iter().filter(|(other, _)| concerns(other)).map(|(_, mark)| Arc::clone(mark)).collect()
}

/// Returns whether pending work on the stream `worker`, also work of PyGPU, is not ordered before new work on the stream
/// `waiter`.
pub(super) fn is_any_work_unordered(waiter: &Stream, worker: &Stream) -> bool {
    are_comparable(waiter, worker).unwrap_or(false) && remains_after(waiter, &[], || worker.query()).unwrap_or(false)
}

/// Returns whether work before an event of the stream `worker` is not ordered before new work on the stream `waiter`.
pub(super) fn is_event_unordered(waiter: &Stream, worker: &Stream, end: &PooledEvent) -> bool {
    are_comparable(waiter, worker).unwrap_or(false)
        && remains_after(waiter, &[], || end.event().query()).unwrap_or(false)
}

/// Returns whether the order of two streams can be tested, and must be tested because the kinds of the streams imply
/// none.
fn are_comparable(waiter: &Stream, worker: &Stream) -> Result<bool> {
    if waiter.device() != worker.device() || waiter.device().is_cpu() || waiter.has_handle_of(worker) {
        return Ok(false);
    }
    // A query of a capturing stream would invalidate the capture.
    if stream_captures::is_any()
        || stream_captures::number_of(waiter)?.is_some()
        || stream_captures::number_of(worker)?.is_some()
    {
        return Ok(false);
    }
    let default = Stream::default_of(waiter.device());
    let other = if waiter.has_handle_of(&default) { worker } else { waiter };
    let is_implied = (waiter.has_handle_of(&default) || worker.has_handle_of(&default)) && !other.flags()?.non_blocking;
    Ok(!is_implied)
}

/// Waits until all work on `waiter` and the events `own` are complete, and returns whether the work that `is_complete`
/// queries is still pending. No event is recorded after the queried work, because the event would be pending longer
/// than the work.
fn remains_after(waiter: &Stream, own: &[Arc<PooledEvent>], is_complete: impl Fn() -> Result<bool>) -> Result<bool> {
    if is_complete()? {
        return Ok(false);
    }
    let begin = PooledEvent::record(waiter)?;
    let deadline = Instant::now() + PATIENCE;
    for mark in std::iter::once(&begin).chain(own.iter().map(|mark| &**mark)) {
        while !mark.event().query()? {
            if is_complete()? || Instant::now() > deadline {
                return Ok(false);
            }
            thread::sleep(INTERVAL);
        }
    }
    for _ in 0..GRACE {
        if is_complete()? {
            return Ok(false);
        }
        thread::sleep(INTERVAL);
    }
    Ok(!is_complete()?)
}
