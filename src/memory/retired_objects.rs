//! Keeps retired objects: objects whose drop is postponed until a stream has completed the work enqueued so far (e.g.
//! the host array of an asynchronous copy), or until the device is idle (e.g. a module).

use std::any::Any;
use std::collections::VecDeque;

use crate::stream_captures;
use pygpu_backend::StreamHandle;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_device::{Device, PerDevice, per_device};

type Retired = (PooledEvent, Box<dyn Any + Send>);

/// Retired objects of one stream, oldest first. If the work before the oldest object was retired is incomplete, the
/// driver is not queried for the other objects.
struct RetiredQueue {
    handle: StreamHandle,
    kept: VecDeque<Retired>,
}

type Lists<T> = PerDevice<ForkSafeMutex<Vec<T>>>;

static PENDING: Lists<RetiredQueue> = per_device!(ForkSafeMutex::new(Vec::new()));
static WAITING_FOR_IDLE: Lists<Box<dyn Any + Send>> = per_device!(ForkSafeMutex::new(Vec::new()));
/// Maximum number of objects whose drop waits for an idle device. If there are more, the host waits for the device and
/// then drops these objects. The number is limited because each object may be a compiled module, which takes several
/// hundred KB.
const MOST_WAITING: usize = 64;

/// Keeps `thing` alive until the stream has completed all work enqueued so far.
///
/// # Errors
/// Driver errors. In this case the function has waited for the stream and dropped `thing`.
pub fn keep_until_passed(stream: &Stream, thing: Box<dyn Any + Send>) -> Result<()> {
    let device = stream.device();
    if let Some(capture) = stream_captures::of(stream)? {
        capture.retain(thing);
        return Ok(());
    }
    if stream.is_foreign() && stream_captures::number_of(stream)?.is_some() {
        // The object is leaked: the stream is part of another library's capture, whose graph may be launched at any
        // time, without PyGPU being informed.
        std::mem::forget(thing);
        return Ok(());
    }
    sweep(device);
    match PooledEvent::record(stream) {
        Ok(mark) => {
            let handle = stream.handle();
            let mut queues = list(device);
            match queues.iter_mut().find(|queue| queue.handle == handle) {
                Some(queue) => queue.kept.push_back((mark, thing)),
                None => queues.push(RetiredQueue { handle, kept: VecDeque::from([(mark, thing)]) }),
            }
            Ok(())
        }
        Err(error) => {
            stream.synchronize()?;
            drop(thing);
            Err(error)
        }
    }
}

/// Keeps `thing`, which may be dropped only while the device is idle, until the host waits for the whole device the
/// next time. Waits for the device itself if there are too many such objects.
///
/// # Errors
/// Driver errors while waiting. All objects then stay alive.
pub fn keep_until_idle(device: Device, thing: Box<dyn Any + Send>) -> Result<()> {
    if device.is_cpu() {
        return Ok(()); // `thing` is dropped here, because the CPU backend has no work in progress
    }
    let mut waiting = lock(WAITING_FOR_IDLE.of(device));
    waiting.push(thing);
    let are_too_many = waiting.len() > MOST_WAITING;
    drop(waiting);
    // Waiting for the device during a capture would invalidate the capture.
    if are_too_many && !stream_captures::is_any() { synchronize(device) } else { Ok(()) }
}

/// Waits until the device is idle, and drops all objects that were retired before the call.
///
/// # Errors
/// Driver errors. All objects then stay alive.
pub fn synchronize(device: Device) -> Result<()> {
    let slot = WAITING_FOR_IDLE.of(device);
    // A second wait may be needed, because an object dropped after the first wait may be the last owner of a module,
    // which is then retired.
    for _ in 0..2 {
        let mut waiting = std::mem::take(&mut *lock(slot));
        if let Err(error) = device.synchronize() {
            lock(slot).append(&mut waiting);
            return Err(error);
        }
        drop(waiting);
        sweep(device);
        if lock(slot).is_empty() {
            break;
        }
    }
    Ok(())
}

/// Drops every retired object whose stream has completed the work that was enqueued before the object was retired, and
/// every object whose device was reset. If the query of the driver fails, the object stays alive, because a leak is
/// better than a use after free.
pub fn sweep(device: Device) {
    let is_over = |mark: &PooledEvent| !mark.event().is_alive() || mark.event().query().unwrap_or(false);
    // The lock of the list is released while the driver is queried and while objects are dropped.
    let mut fronts = pop_fronts(&mut list(device), |_| true);
    while !fronts.is_empty() {
        let (passed, waiting): (Vec<_>, Vec<_>) = fronts.into_iter().partition(|(_, (mark, _))| is_over(mark));
        let mut queues = list(device);
        for (handle, kept) in waiting {
            put_back(&mut queues, handle, kept);
        }
        fronts = pop_fronts(&mut queues, |handle| passed.iter().any(|(other, _)| *other == handle));
        drop(queues);
        drop(passed);
    }
}

/// For each stream for which `is_asked` returns `true`, removes the stream's oldest retired object. Returns the removed
/// objects.
fn pop_fronts(queues: &mut Vec<RetiredQueue>, is_asked: impl Fn(StreamHandle) -> bool) -> Vec<(StreamHandle, Retired)> {
    let pop = |queue: &mut RetiredQueue| Some((queue.handle, queue.kept.pop_front()?));
    let fronts = queues.iter_mut().filter(|queue| is_asked(queue.handle)).filter_map(pop).collect();
    queues.retain(|queue| !queue.kept.is_empty());
    fronts
}

fn put_back(queues: &mut Vec<RetiredQueue>, handle: StreamHandle, kept: Retired) {
    match queues.iter_mut().find(|queue| queue.handle == handle) {
        Some(queue) => queue.kept.push_front(kept),
        None => queues.push(RetiredQueue { handle, kept: VecDeque::from([kept]) }),
    }
}

fn list(device: Device) -> ForkSafeGuard<Vec<RetiredQueue>> {
    lock(PENDING.of(device))
}

fn lock<T: Send>(list: &'static ForkSafeMutex<Vec<T>>) -> ForkSafeGuard<Vec<T>> {
    list.lock()
}
