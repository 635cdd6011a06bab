//! Things that must outlive a stream's work, such as the host array of an asynchronous copy, and things whose end makes the host
//! wait for the device, such as a module.

use std::any::Any;
use std::collections::VecDeque;

use crate::capture;
use pygpu_backend::StreamHandle;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{Global, Guard};
use pygpu_device::stream::{Mark, Stream};
use pygpu_device::{Device, PerDevice, per_device};

type Kept = (Mark, Box<dyn Any + Send>);

/// The things behind one stream, oldest first: as long as the first one waits, the driver is not asked about the others.
struct Queue {
    handle: StreamHandle,
    kept: VecDeque<Kept>,
}

type Lists<T> = PerDevice<Global<Vec<T>>>;

static PENDING: Lists<Queue> = per_device!(Global::new(Vec::new()));
static WAITING_FOR_IDLE: Lists<Box<dyn Any + Send>> = per_device!(Global::new(Vec::new()));
/// Things that wait for an idle device before the host is stopped for their sake. A module takes some hundred KB.
const MOST_WAITING: usize = 64;

/// Keeps `thing` until the stream has passed its present end.
///
/// # Errors
/// The driver's; then the stream was waited for and `thing` is not needed any more.
pub fn keep_until_passed(stream: &Stream, thing: Box<dyn Any + Send>) -> Result<()> {
    let device = stream.device();
    if let Some(capture) = capture::of(stream)? {
        capture.keep(thing);
        return Ok(());
    }
    if stream.is_foreign() && capture::number_of(stream)?.is_some() {
        // It is somebody else's capture, whose graph may be launched at any time: nobody will know that it is over.
        std::mem::forget(thing);
        return Ok(());
    }
    sweep(device);
    match Mark::record(stream) {
        Ok(mark) => {
            let handle = stream.handle();
            let mut queues = list(device);
            match queues.iter_mut().find(|queue| queue.handle == handle) {
                Some(queue) => queue.kept.push_back((mark, thing)),
                None => queues.push(Queue { handle, kept: VecDeque::from([(mark, thing)]) }),
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

/// Keeps `thing`, whose end stops the host until the device is idle, until the host waits for that anyway; or until too many
/// such things are kept.
///
/// # Errors
/// The driver's, when there are too many; they are all kept then.
pub fn keep_until_idle(device: Device, thing: Box<dyn Any + Send>) -> Result<()> {
    if device.is_cpu() {
        return Ok(()); // nothing is ever under way
    }
    let mut waiting = lock(WAITING_FOR_IDLE.of(device));
    waiting.push(thing);
    let are_too_many = waiting.len() > MOST_WAITING;
    drop(waiting);
    // A wait for the device would make a capture invalid.
    if are_too_many && !capture::is_any() { synchronize(device) } else { Ok(()) }
}

/// Stops the host until the device is idle, and lets go of all that was kept until now.
///
/// # Errors
/// The driver's; everything is kept then.
pub fn synchronize(device: Device) -> Result<()> {
    let slot = WAITING_FOR_IDLE.of(device);
    // What is let go of may have been the last to hold a module: then once more.
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

/// Lets go of everything whose stream has passed or was reset. What cannot be asked for is kept: better leaked than torn
/// away.
pub fn sweep(device: Device) {
    let is_over = |mark: &Mark| !mark.event().is_alive() || mark.event().query().unwrap_or(false);
    // The lock is free while the driver is asked and while things are dropped.
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

/// The oldest thing behind each stream that is asked for.
fn pop_fronts(queues: &mut Vec<Queue>, is_asked: impl Fn(StreamHandle) -> bool) -> Vec<(StreamHandle, Kept)> {
    let pop = |queue: &mut Queue| Some((queue.handle, queue.kept.pop_front()?));
    let fronts = queues.iter_mut().filter(|queue| is_asked(queue.handle)).filter_map(pop).collect();
    queues.retain(|queue| !queue.kept.is_empty());
    fronts
}

fn put_back(queues: &mut Vec<Queue>, handle: StreamHandle, kept: Kept) {
    match queues.iter_mut().find(|queue| queue.handle == handle) {
        Some(queue) => queue.kept.push_front(kept),
        None => queues.push(Queue { handle, kept: VecDeque::from([kept]) }),
    }
}

fn list(device: Device) -> Guard<Vec<Queue>> {
    lock(PENDING.of(device))
}

fn lock<T: Send>(list: &'static Global<Vec<T>>) -> Guard<Vec<T>> {
    list.lock()
}
