//! Runs the helper thread, which bounds the age of pending operations, so that a device does not idle while the thread
//! that deferred them does something else.
//!
//! While awake, the helper checks the queues once per interval. It launches the operations of a queue whose first
//! operation was already pending at the previous check, i.e. one to two intervals after that operation was deferred.
//! After [`CALM`] checks without a new operation, the helper sleeps until a push wakes it. A push wakes the helper only
//! if the queue's operations keep a device busy for longer than the wake-up takes:
//! [`FusionLimits::is_worth_waking`](super::limits::FusionLimits).
//!
//! The helper needs no Python interpreter. It compiles nothing and does not count uses of kernel structures, so that
//! timing does not influence which kernels a program compiles.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::batch;
use super::limits::limit;
use super::queue;
use pygpu_device::shutdown;

/// Number of checks without a new operation after which the helper thread sleeps, so that an idle process has no
/// periodic wake-ups.
const CALM: u32 = 50;
/// Minimum interval between checks while a queue has operations that only the queue's own thread may launch, e.g.
/// because a kernel must be compiled.
const SLOW: Duration = Duration::from_millis(2);
/// Stack size of the helper thread in bytes. The thread needs most stack when it calls the driver to launch a kernel.
const STACK: usize = 1 << 20;

/// Whether the helper thread was started. In a forked child the value is meaningless, because the child has neither
/// this thread nor a usable driver.
static IS_STARTED: AtomicBool = AtomicBool::new(false);

/// Sets the interval in microseconds between two checks; 0 leaves the age of operations unbounded. After a call with an
/// interval, operations of any size wake the thread. `None` restores the defaults.
pub fn set_interval(microseconds: Option<u64>) {
    limit().set_age(microseconds);
    queue::lock().wake_helper();
}

fn interval() -> u64 {
    limit().interval.load(Ordering::Relaxed)
}

/// Starts the helper thread, before the first operation of the process is queued.
#[inline]
pub fn start() {
    if !IS_STARTED.load(Ordering::Relaxed) {
        start_now();
    }
}

#[cold]
fn start_now() {
    if IS_STARTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let before = block_signals();
    // If the helper thread cannot be started, no error is reported: operations then stay pending until their results
    // are needed, which is allowed.
    let started = thread::Builder::new().name("PyGPU flush".to_owned()).stack_size(STACK).spawn(run);
    drop(started);
    if let Some(before) = before {
        // SAFETY: `before` contains the signal mask that `block_signals` returned.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    }
}

/// Blocks all signals in the calling thread, so that a thread which it then starts inherits the blocked signals. A
/// signal must interrupt one of the program's own threads, not the helper thread. Returns the previous signal mask.
fn block_signals() -> Option<libc::sigset_t> {
    let (mut all, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: both signal sets are local variables, and `sigfillset` fills the first set before `pthread_sigmask` reads
    // it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let code = libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        (code == 0).then(|| before.assume_init())
    }
}

fn run() {
    let (mut calm, mut deferred) = (0, 0);
    loop {
        let mut queues = queue::lock();
        let before = std::mem::replace(&mut deferred, queues.deferred());
        calm = if queues.is_idle() && before == deferred { calm + 1 } else { 0 };
        while interval() == 0 || calm >= CALM {
            queues = queue::sleep(queues);
            calm = 0;
        }
        let aged = queues.aged();
        drop(queues);
        if shutdown::exiting() {
            return;
        }
        let mut is_stuck = false;
        for queue in aged {
            is_stuck |= !batch::flush_aged(queue);
        }
        let interval = Duration::from_micros(interval());
        thread::sleep(if is_stuck { SLOW.max(interval) } else { interval });
    }
}
