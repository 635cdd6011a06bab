//! Blocks driver calls at process exit.
//!
//! A driver shuts itself down while the process exits, and a thread that is still in a driver call would access freed
//! data. Python stops its daemon threads when they request the GIL, so it does not stop threads inside a driver call.
//! Therefore every driver call passes through this module. After [`close`], threads that begin a driver call block
//! forever. Before the driver's exit handler runs, the process waits for active driver calls, for a limited time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pygpu_base::ffi_guard::catch_panic;
#[cfg(debug_assertions)]
use pygpu_base::fork_safe;
use pygpu_base::fork_safe::ForkSafeOnce;

/// Maximum time for which the exiting process waits for active driver calls.
const PATIENCE: Duration = Duration::from_secs(1);

static CLOSED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process. This thread may continue to make driver calls.
static ENDING: ForkSafeOnce<ThreadId> = ForkSafeOnce::new();

/// Guard of an active driver call.
pub struct DriverCallGuard(());

impl DriverCallGuard {
    /// Begins a driver call. Once the process is exiting, this function never returns, except on the thread that ends
    /// the process.
    #[inline]
    pub fn begin() -> Self {
        #[cfg(debug_assertions)]
        assert!(fork_safe::locks_held() == 0, "a driver is called under a lock of the process");
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if CLOSED.load(Ordering::SeqCst) {
            stay_outside();
        }
        Self(())
    }
}

impl Drop for DriverCallGuard {
    #[inline]
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cold]
fn stay_outside() {
    if ENDING.get() == Some(&thread::current().id()) {
        return;
    }
    INSIDE.fetch_sub(1, Ordering::SeqCst);
    loop {
        thread::park();
    }
}

/// Blocks driver calls of all other threads. The thread that is about to end the process calls this function.
pub fn close() {
    ENDING.get_or_init(|| thread::current().id());
    if !CLOSED.swap(true, Ordering::SeqCst) {
        // Exit handlers run in reverse order of registration. This handler is registered after the driver's handler, so
        // it runs before that one.
        // SAFETY: the function is static and does not unwind.
        unsafe { libc::atexit(wait_for_those_inside) };
    }
}

extern "C" fn wait_for_those_inside() {
    catch_panic((), || {
        let start = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(200));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_call_guard_is_counted_while_alive() {
        // Other tests of the process may make driver calls at the same time, so the count is a lower bound.
        let passage = DriverCallGuard::begin();
        assert!(INSIDE.load(Ordering::SeqCst) >= 1);
        drop(passage);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "under a lock")]
    fn driver_call_guard_panics_while_thread_holds_global_lock() {
        static LOCK: fork_safe::ForkSafeMutex<()> = fork_safe::ForkSafeMutex::new(());
        let _held = LOCK.lock();
        let _passage = DriverCallGuard::begin();
    }
}
