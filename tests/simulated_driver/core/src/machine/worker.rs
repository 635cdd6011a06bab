//! Executes operations asynchronously: the operations of each stream run one after another on a thread of that stream.

use std::cell::Cell;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error_codes::{OPERATING_SYSTEM, Outcome};
use crate::event::Record;
use crate::state::{Locked, Point, Shared, State};

/// Work of an operation. A worker thread executes the work without holding the lock.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// Actions after an operation is complete. A worker thread executes the actions while it holds the lock.
pub(crate) enum Then {
    Nothing,
    /// Records the time of an event.
    Stamp(Arc<Record>),
    /// Returns the addresses of a freed block to the free ranges.
    Return {
        device: usize,
        start: u64,
        bytes: u64,
    },
}

/// Operation of a stream.
pub(crate) struct Operation {
    pub(crate) number: u64,
    submitted: Instant,
    pub(crate) waits_for: Vec<Point>,
    work: Option<Work>,
    then: Then,
    /// Error code with which the operation fails when a worker executes it.
    fails: Option<u32>,
}

thread_local! {
    /// Error code with which the thread's next submitted operation will fail.
    static FAILURE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Makes the next operation that the calling thread submits fail with `code` when it is executed. `None` cancels this
/// request.
pub fn fail_next(code: Option<u32>) {
    // While a thread terminates, its thread-local value is unavailable. Such a thread submits no operations.
    let _ = FAILURE.try_with(|failure| failure.set(code));
}

impl State {
    /// Appends an operation that waits for the points in `waits_for` to a stream; returns its number.
    pub(crate) fn push(
        &mut self,
        stream: u64,
        mut waits_for: Vec<Point>,
        work: Option<Work>,
        then: Then,
    ) -> Outcome<u64> {
        waits_for.retain(|&point| !self.has_passed(point));
        let fails = FAILURE.try_with(Cell::take).ok().flatten();
        let Some(target) = self.streams.get(&stream) else { return Err(crate::error_codes::INVALID_HANDLE) };
        let number = target.submitted + 1;
        let delayed =
            self.delays.get(&stream).copied().unwrap_or(self.delay).most > 0 || self.is_held_back((stream, number));
        let Some(target) = self.streams.get_mut(&stream) else { return Err(crate::error_codes::INVALID_HANDLE) };
        let is_next = target.completed + 1 == number;
        if is_next && work.is_none() && waits_for.is_empty() && fails.is_none() && !delayed {
            // An operation without work that waits for nothing completes immediately, without waking the stream's
            // thread.
            (target.submitted, target.completed) = (number, number);
            self.finish(then);
            return Ok(number);
        }
        self.start_worker(stream)?;
        let Some(target) = self.streams.get_mut(&stream) else { return Err(crate::error_codes::INVALID_HANDLE) };
        target.submitted = number;
        target.queue.push_back(Operation { number, submitted: Instant::now(), waits_for, work, then, fails });
        target.wake.notify_one();
        Ok(number)
    }

    fn start_worker(&mut self, handle: u64) -> Outcome<()> {
        let Some(stream) = self.streams.get_mut(&handle) else { return Ok(()) };
        if stream.has_worker {
            return Ok(());
        }
        let Some(shared) = self.shared.upgrade() else { return Ok(()) };
        let builder = thread::Builder::new().name("simulated stream".to_owned()).stack_size(256 << 10);
        builder.spawn(move || run(&shared, handle)).map_err(|_| OPERATING_SYSTEM)?;
        stream.has_worker = true;
        Ok(())
    }

    fn finish(&mut self, then: Then) {
        match then {
            Then::Nothing => {}
            Then::Stamp(record) => drop(record.time.set(Instant::now())),
            Then::Return { device, start, bytes } => self.devices[device].ranges.give(start, bytes),
        }
    }
}

/// Main loop of the thread of a stream.
fn run(shared: &Shared, handle: u64) {
    let mut state = shared.lock();
    loop {
        if state.ended {
            return;
        }
        let Some(stream) = state.streams.get(&handle) else { return };
        let Some(next) = stream.queue.front() else {
            if stream.destroyed {
                return;
            }
            let wake = stream.wake.clone();
            state = wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        if next.waits_for.iter().all(|&point| state.has_passed(point)) {
            let (number, submitted) = (next.number, next.submitted);
            state = State::hold_back(state, (handle, number), submitted);
            if !state.ended {
                state = run_next(shared, state, handle);
            }
        } else {
            state = shared.await_progress(state);
        }
    }
}

fn run_next<'a>(shared: &'a Shared, mut state: Locked<'a>, handle: u64) -> Locked<'a> {
    let delay = state.draw_delay(handle);
    let Some(stream) = state.streams.get_mut(&handle) else { return state };
    let (device, Some(operation)) = (stream.device, stream.queue.pop_front()) else { return state };
    if let Some(code) = operation.fails {
        state.devices[device].sticky.get_or_insert(code);
    }
    let failed = state.devices[device].sticky.is_some();
    drop(state);
    if delay > 0 {
        thread::sleep(Duration::from_micros(delay));
    }
    match operation.work {
        Some(work) if !failed => work(),
        // After a failure on the device, no further work is executed.
        _ => {}
    }
    let mut state = shared.lock();
    state.finish(operation.then);
    if let Some(stream) = state.streams.get_mut(&handle) {
        stream.completed = operation.number;
    }
    if state.waiting > 0 {
        shared.progress.notify_all();
    }
    state
}
