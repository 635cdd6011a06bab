//! Thread that bounds the age of pending operations, so that a device does not idle while its host does something else.
//!
//! It sleeps without wake-ups while nothing is pending. A push wakes it only then; otherwise it looks at the queues once each interval,
//! and launches those whose first operation was there at its last look, hence in one to two intervals. It needs no interpreter,
//! compiles nothing and counts no use of a structure: the kernels of a program do not depend on its pace.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::flight;
use super::window;
use pygpu_device::shutdown;

/// Microseconds between two looks; 0 without a bound.
static INTERVAL: AtomicU64 = AtomicU64::new(USUAL);
const USUAL: u64 = 100;
/// Interval between checks while a queue must wait for its own thread, e.g. for a compilation.
const SLOW: Duration = Duration::from_millis(2);
/// Stack size in bytes; a driver's launch is the deepest call.
const STACK: usize = 1 << 20;

/// Process in which the thread runs: a forked child has none, and no driver either.
static RUNS_IN: AtomicU32 = AtomicU32::new(0);

/// Sets the time between two looks; 0 for no bound. The usual one without a value.
pub fn set_interval(microseconds: Option<u64>) {
    INTERVAL.store(microseconds.unwrap_or(USUAL), Ordering::Relaxed);
    window::wake_helper();
}

/// Starts the thread, once in a process: before the first operation is queued, and from then on asleep.
pub fn start() {
    let process = std::process::id();
    if RUNS_IN.swap(process, Ordering::Relaxed) == process {
        return;
    }
    let before = block_signals();
    // Without the thread operations stay pending until their results are needed, which is allowed.
    let started = thread::Builder::new().name("PyGPU flush".to_owned()).stack_size(STACK).spawn(run);
    drop(started);
    if let Some(before) = before {
        // SAFETY: the set was filled by the call that blocked the signals.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    }
}

/// Blocks all signals, for threads started by this one: signals must interrupt a thread of the program. Returns the
/// previously blocked signals.
fn block_signals() -> Option<libc::sigset_t> {
    let (mut all, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: both sets are writable; the first one is filled before it is read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let code = libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        (code == 0).then(|| before.assume_init())
    }
}

fn run() {
    loop {
        let mut queues = window::lock();
        while INTERVAL.load(Ordering::Relaxed) == 0 || queues.is_idle() {
            queues.is_helper_asleep = true;
            queues = queues.wait(&window::HELPER_WOKEN);
        }
        queues.is_helper_asleep = false;
        let aged = queues.aged();
        drop(queues);
        if shutdown::exiting() {
            return;
        }
        let mut is_stuck = false;
        for queue in aged {
            is_stuck |= !flight::flush_aged(queue);
        }
        let interval = Duration::from_micros(INTERVAL.load(Ordering::Relaxed));
        thread::sleep(if is_stuck { SLOW.max(interval) } else { interval });
    }
}
