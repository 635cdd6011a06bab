//! Leaving the GIL around what may reach a driver, and taking it again while the process may be ending.
//!
//! When an interpreter ends, a daemon thread that asks for the GIL is ended inside that call (`pthread_exit`, up to Python
//! 3.13), which unwinds through the Rust frames below it and aborts the process. So from `atexit` on a thread that comes
//! back from a driver stays where it is, for ever; and `atexit` lets those that are asking already have the GIL first.
//! The same happens to a thread that we let run Python code, which asks for the GIL every few milliseconds: `run_python`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::global::Once;
use crate::lifetime::{self, Asking};
use crate::python::callback;

/// Threads that are at work without the GIL, or come back from it.
static AWAY: AtomicUsize = AtomicUsize::new(0);
/// Threads that come back from there and are asking for the GIL. Who asks in other ways is in `lifetime::Asking`.
static RETURNING: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process.
static ENDING: Once<ThreadId> = Once::new();

/// `Python::detach`, safe at the end of the process.
pub(crate) trait WithoutGil {
    /// Runs `work` with the GIL released.
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T;
}

impl WithoutGil for Python<'_> {
    #[inline]
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T {
        let away = Away::begin();
        let result = self.detach(|| {
            let _coming = Coming;
            work()
        });
        drop(away);
        callback::pick_up(self);
        result
    }
}

/// Counts this thread among those without the GIL, until it has it again; also if its work panics.
struct Away;

impl Away {
    #[inline]
    fn begin() -> Self {
        // Only ever changed by who holds the GIL, which orders it.
        AWAY.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for Away {
    #[inline]
    fn drop(&mut self) {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        AWAY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Its end is that of the work without the GIL: what comes next is to ask for it. `Away` takes it back.
struct Coming;

impl Drop for Coming {
    #[inline]
    fn drop(&mut self) {
        RETURNING.fetch_add(1, Ordering::SeqCst);
        if lifetime::exiting() && !is_ending_thread() {
            RETURNING.fetch_sub(1, Ordering::SeqCst);
            stay();
        }
    }
}

/// Whether some thread is at work without the GIL. The answer stays the same for as long as the asking thread keeps the
/// GIL, or, where there is none, the world is stopped.
pub(crate) fn is_anyone_away() -> bool {
    AWAY.load(Ordering::Relaxed) > 0
}

/// Runs Python code, not merely a function of C, below which there are frames of ours.
#[inline]
pub(crate) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _asking = Asking::begin();
    if lifetime::exiting() && !is_ending_thread() {
        py.detach(stay);
    }
    call()
}

/// Leave to ask for the GIL in a function that others call, for as long as the answer lives. None once the process ends, except for
/// the thread that ends it.
pub(crate) fn leave_to_ask() -> Option<Asking> {
    let asking = Asking::begin();
    (!lifetime::exiting() || is_ending_thread()).then_some(asking)
}

fn is_ending_thread() -> bool {
    ENDING.get() == Some(&thread::current().id())
}

/// Stays where it is for ever; nobody is to wait for it any more.
#[cold]
fn stay() {
    Asking::give_up();
    loop {
        thread::park();
    }
}

/// Leaves memory to the process, and lets no other thread take the GIL behind a driver call from here on.
pub(crate) fn end(py: Python<'_>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    ENDING.get_or_init(|| thread::current().id());
    lifetime::leave_to_process();
    let start = Instant::now();
    while RETURNING.load(Ordering::SeqCst) + Asking::count() > 0 && start.elapsed() < PATIENCE {
        py.detach(|| thread::sleep(Duration::from_micros(200)));
    }
}
