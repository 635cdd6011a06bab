//! Leaving the GIL around what may reach a driver, and taking it again, which a thread must not do while the process ends: `ending`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::callback;
use crate::ending::{self, is_ending_thread, stay};
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// Threads that are at work without the GIL, or come back from it.
static AWAY: AtomicUsize = AtomicUsize::new(0);
/// Threads that come back from there and are asking for the GIL. Who asks in other ways is in `shutdown::ForeignCallGuard`.
static RETURNING: AtomicUsize = AtomicUsize::new(0);

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
        if shutdown::exiting() && !is_ending_thread() {
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

/// Leaves memory to the process, and lets no other thread take the GIL behind a driver call from here on.
pub(crate) fn end(py: Python<'_>) {
    const PATIENCE: Duration = Duration::from_secs(1);
    /// With what a user has written: it would be ended in the middle, and the process with it.
    const LONG_PATIENCE: Duration = Duration::from_secs(10);
    ending::begin();
    shutdown::begin_exit();
    let start = Instant::now();
    let is_waited_for = || {
        let patience = if ending::is_any_users() { LONG_PATIENCE } else { PATIENCE };
        RETURNING.load(Ordering::SeqCst) + ForeignCallGuard::count() > 0 && start.elapsed() < patience
    };
    while is_waited_for() {
        py.detach(|| thread::sleep(Duration::from_micros(200)));
    }
}
