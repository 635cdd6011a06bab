//! Releases the GIL around calls that may reach a driver. During process exit a thread does not acquire the GIL again:
//! see `finalization`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::callback;
use crate::finalization::{self, block_forever, is_finalizing_thread};
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// Number of threads that have released the GIL in `without_gil` and have not acquired it again yet.
static RELEASED: AtomicUsize = AtomicUsize::new(0);
/// Number of the threads counted in `RELEASED` that have finished their work without the GIL and now request the GIL
/// again. `shutdown::ForeignCallGuard` counts other GIL requests.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// A variant of `Python::detach` that is safe during process exit.
pub(crate) trait WithoutGil {
    /// Runs `work` with the GIL released.
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T;
}

impl WithoutGil for Python<'_> {
    #[inline]
    fn without_gil<T: Send, F: Send + FnOnce() -> T>(self, work: F) -> T {
        let released = GilReleased::begin();
        let result = self.detach(|| {
            let _reacquire = GilReacquire;
            work()
        });
        drop(released);
        callback::deliver_queued(self);
        result
    }
}

/// Guard that counts this thread in `RELEASED`. Its drop, which also follows a panic, ends the count after the thread
/// has acquired the GIL again.
struct GilReleased;

impl GilReleased {
    #[inline]
    fn begin() -> Self {
        // Relaxed memory ordering suffices, because only threads that hold the GIL change the count.
        RELEASED.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for GilReleased {
    #[inline]
    fn drop(&mut self) {
        RETURNING.fetch_sub(1, Ordering::SeqCst);
        RELEASED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Guard whose drop, at the end of the work without the GIL, counts this thread in `RETURNING`. The drop of
/// `GilReleased` ends the count.
struct GilReacquire;

impl Drop for GilReacquire {
    #[inline]
    fn drop(&mut self) {
        RETURNING.fetch_add(1, Ordering::SeqCst);
        if shutdown::exiting() && !is_finalizing_thread() {
            RETURNING.fetch_sub(1, Ordering::SeqCst);
            block_forever();
        }
    }
}

/// Whether any thread runs work in `without_gil`.
///
/// The result stays valid while the caller holds the GIL. In an interpreter without a GIL, it stays valid only while
/// all other threads are stopped.
pub(crate) fn has_released_threads() -> bool {
    RELEASED.load(Ordering::Relaxed) > 0
}

/// Begins process exit: memory is no longer freed, and no other thread acquires the GIL after a driver call.
pub(crate) fn begin_process_exit(py: Python<'_>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    /// Maximum time that process exit waits for user functions in progress. A shorter limit would terminate these
    /// functions midway, which aborts the process.
    const LONG_PATIENCE: Duration = Duration::from_secs(10);
    finalization::begin();
    shutdown::begin_exit();
    let start = Instant::now();
    let must_wait = || {
        let patience = if finalization::has_user_functions() { LONG_PATIENCE } else { PATIENCE };
        RETURNING.load(Ordering::SeqCst) + ForeignCallGuard::count() > 0 && start.elapsed() < patience
    };
    while must_wait() {
        py.detach(|| thread::sleep(Duration::from_micros(200)));
    }
}
