//! Leaving the GIL around what may reach a driver, and taking it again while the process may be ending.
//!
//! When an interpreter ends, a daemon thread that asks for the GIL is ended inside that call (`pthread_exit`, up to Python
//! 3.13), which unwinds through the Rust frames below it and aborts the process. So from `atexit` on a thread that comes
//! back from a driver stays where it is, for ever; and `atexit` lets those that are asking already have the GIL first.
//! The same happens to a thread that we let run Python code, which asks for the GIL every few milliseconds: `run_python`.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::lifetime;

/// Threads that are at work without the GIL, or come back from it.
static AWAY: AtomicUsize = AtomicUsize::new(0);
/// Threads that are asking for the GIL, or may be at any moment.
static RETURNING: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// How often this thread is inside `run_python`.
    static RUNNING: Cell<usize> = const { Cell::new(0) };
}
/// The thread that ends the process.
static ENDING: OnceLock<ThreadId> = OnceLock::new();

/// `Python::detach`, safe at the end of the process.
pub(super) trait WithoutGil {
    /// Runs `work` with the GIL released.
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T;
}

impl WithoutGil for Python<'_> {
    #[inline]
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T {
        // Only ever changed by who holds the GIL, which orders it.
        AWAY.fetch_add(1, Ordering::Relaxed);
        let result = self.detach(|| {
            let result = work();
            RETURNING.fetch_add(1, Ordering::SeqCst);
            if lifetime::exiting() {
                stay_unless_ending(1 + RUNNING.get());
            }
            result
        });
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        AWAY.fetch_sub(1, Ordering::Relaxed);
        result
    }
}

/// Whether some thread is at work without the GIL. The answer stays the same for as long as the asking thread keeps the
/// GIL, or, where there is none, the world is stopped.
pub(super) fn is_anyone_away() -> bool {
    AWAY.load(Ordering::Relaxed) > 0
}

/// Runs Python code, not merely a function of C, below which there are frames of ours.
#[inline]
pub(super) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _running = Running::new();
    if lifetime::exiting() {
        py.detach(|| stay_unless_ending(RUNNING.get()));
    }
    call()
}

/// Runs Python code from below `without_gil`, and from nowhere else: a thread that has the GIL must not stay with it.
pub(super) fn with_gil<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    let _running = Running::new();
    if lifetime::exiting() {
        stay_unless_ending(RUNNING.get());
    }
    Python::attach(call)
}

/// Counts this thread among those that may be asking for the GIL.
struct Running;

impl Running {
    fn new() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        RETURNING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get() - 1);
        RETURNING.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cold]
fn stay_unless_ending(counted: usize) {
    if ENDING.get() == Some(&thread::current().id()) {
        return;
    }
    // Nobody is to wait for it any more, however often it was counted.
    RETURNING.fetch_sub(counted, Ordering::SeqCst);
    loop {
        thread::park();
    }
}

/// Leaves memory to the process, and lets no other thread take the GIL behind a driver call from here on.
pub(super) fn end(py: Python<'_>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    ENDING.get_or_init(|| thread::current().id());
    lifetime::leave_to_process();
    let start = Instant::now();
    while RETURNING.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
        py.detach(|| thread::sleep(Duration::from_micros(200)));
    }
}
