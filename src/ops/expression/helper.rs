//! Thread that bounds the age of pending operations, so that a device does not idle while its host does something else.
//!
//! While it is awake it looks at the queues once each interval, and launches those whose first operation was there at its last look,
//! hence in one to two intervals. After [`CALM`] looks that found nothing new it sleeps without wake-ups. A push wakes it then if the
//! queue would keep a device busy for longer than the wake-up takes the host: [`Limits::is_worth_waking`](super::limits::Limits). It needs no interpreter, compiles
//! nothing and counts no use of a structure: the kernels of a program do not depend on its pace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::flight;
use super::limits::limit;
use super::window;
use pygpu_device::shutdown;

/// Looks that find nothing new before the thread sleeps: a program that computes in a loop does not wake it in each turn.
const CALM: u32 = 50;
/// Looks after which a queue that waits for its thread, as for a compiler, is looked at less often.
const SLOW: Duration = Duration::from_millis(2);
/// Bytes of its stack: a driver's launch is the deepest call.
const STACK: usize = 1 << 20;

/// Whether the thread was started. A forked child has no thread, and no driver either.
static IS_STARTED: AtomicBool = AtomicBool::new(false);

/// Sets the time between two looks; 0 for no bound. Any amount of work wakes the thread then. The usual bounds without a value.
pub fn set_interval(microseconds: Option<u64>) {
    limit().set_age(microseconds);
    window::lock().wake_helper();
}

fn interval() -> u64 {
    limit().interval.load(Ordering::Relaxed)
}

/// Starts the thread, once in a process: before the first operation is queued.
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
    // Without the thread operations wait until they are needed, as they may.
    let started = thread::Builder::new().name("PyGPU flush".to_owned()).stack_size(STACK).spawn(run);
    drop(started);
    if let Some(before) = before {
        // SAFETY: the set was filled by the call that blocked signals.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
    }
}

/// Blocks all signals for threads that this one starts: a signal is to interrupt a thread of the program. Returns those blocked before.
fn block_signals() -> Option<libc::sigset_t> {
    let (mut all, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: both sets may be written; the first one is filled before it is read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        let code = libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
        (code == 0).then(|| before.assume_init())
    }
}

fn run() {
    let (mut calm, mut deferred) = (0, 0);
    loop {
        let mut queues = window::lock();
        let before = std::mem::replace(&mut deferred, queues.deferred());
        calm = if queues.is_idle() && before == deferred { calm + 1 } else { 0 };
        while interval() == 0 || calm >= CALM {
            queues = window::sleep(queues);
            calm = 0;
        }
        let aged = queues.aged();
        drop(queues);
        if shutdown::exiting() {
            return;
        }
        let mut is_stuck = false;
        for queue in aged {
            is_stuck |= !flight::flush_aged(queue);
        }
        let interval = Duration::from_micros(interval());
        thread::sleep(if is_stuck { SLOW.max(interval) } else { interval });
    }
}
