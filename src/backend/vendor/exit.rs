//! The door to a driver when the process ends.
//!
//! A driver takes itself down while the process exits, and a thread that is inside it then reads what is gone. Python stops
//! its daemon threads when they ask for the GIL, not when they are in a driver. So every call of a driver passes through
//! here: once the door is closed the threads that come stay outside for ever, and before the driver's own exit handler
//! runs, the process waits for those still inside, but not for one that never comes out.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pygpu_base::ffi_guard::caught;
#[cfg(debug_assertions)]
use pygpu_base::fork_safe;
use pygpu_base::fork_safe::Once;

/// How long the end of the process waits for calls that are under way.
const PATIENCE: Duration = Duration::from_secs(1);

static CLOSED: AtomicBool = AtomicBool::new(false);
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process, which may go on.
static ENDING: Once<ThreadId> = Once::new();

/// A call of a driver that is under way.
pub struct Passage(());

impl Passage {
    /// Goes in; never returns once the process is ending, except to the thread that ends it.
    #[inline]
    pub fn begin() -> Self {
        #[cfg(debug_assertions)]
        assert!(fork_safe::held() == 0, "a driver is called under a lock of the process");
        INSIDE.fetch_add(1, Ordering::SeqCst);
        if CLOSED.load(Ordering::SeqCst) {
            stay_outside();
        }
        Self(())
    }
}

impl Drop for Passage {
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

/// Closes the door behind the calling thread, which is about to end the process.
pub fn close() {
    ENDING.get_or_init(|| thread::current().id());
    if !CLOSED.swap(true, Ordering::SeqCst) {
        // Exit handlers run in the reverse order of their making: this one before the driver's.
        // SAFETY: the function is static and does not unwind.
        unsafe { libc::atexit(wait_for_those_inside) };
    }
}

extern "C" fn wait_for_those_inside() {
    caught((), || {
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
    fn a_passage_is_counted_while_it_lasts() {
        // Other tests of the process may be inside at the same time, never fewer than this one.
        let passage = Passage::begin();
        assert!(INSIDE.load(Ordering::SeqCst) >= 1);
        drop(passage);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "under a lock")]
    fn nobody_calls_a_driver_under_a_lock_of_the_process() {
        static LOCK: fork_safe::Global<()> = fork_safe::Global::new(());
        let _held = LOCK.lock();
        let _passage = Passage::begin();
    }
}
