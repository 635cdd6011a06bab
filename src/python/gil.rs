//! Releases the GIL around calls that may reach a driver. Its return is guarded during process exit: see `finalization`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::callback;
use crate::finalization::{self, block_forever, is_finalizing_thread};
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// Number of threads that run without the GIL or return from such work.
static RELEASED: AtomicUsize = AtomicUsize::new(0);
/// Number of these threads that request the GIL. Other requests are counted by `shutdown::ForeignCallGuard`.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

/// `Python::detach` that is safe during process exit.
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

/// Counts this thread as one without the GIL until it holds the GIL again, also if its work panics.
struct GilReleased;

impl GilReleased {
    #[inline]
    fn begin() -> Self {
        // Changed only by threads that hold the GIL, which orders the changes.
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

/// Counts this thread in `RETURNING` when its work without the GIL ends. `GilReleased` reverses that.
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

/// Whether a thread works without the GIL.
///
/// The result stays valid while the caller holds the GIL. Without a GIL the world must be stopped.
pub(crate) fn has_released_threads() -> bool {
    RELEASED.load(Ordering::Relaxed) > 0
}

/// Stops freeing memory. From here on no other thread takes the GIL after a driver call.
pub(crate) fn begin_process_exit(py: Python<'_>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    /// Limit with user functions in progress: a shorter one would end them midway, and the process with them.
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
