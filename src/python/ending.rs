//! Asking for the GIL while the process may be ending.
//!
//! When an interpreter ends, a daemon thread that asks for the GIL is ended inside that call (`pthread_exit`, up to Python
//! 3.13), which unwinds through the Rust frames below it and aborts the process. So from `atexit` on a thread that comes
//! back from a driver stays where it is, for ever; and `atexit` lets those that are asking already have the GIL first.
//! The same happens to a thread that we let run Python code, which asks for the GIL every few milliseconds: `run_python`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// The thread that ends the process.
static ENDING: ForkSafeOnce<ThreadId> = ForkSafeOnce::new();
/// Functions of a user's own that are under way on threads of others, and may take as long as they like.
static USERS: AtomicUsize = AtomicUsize::new(0);

/// From here on this thread is the one that ends the process.
pub(crate) fn begin() {
    ENDING.get_or_init(|| thread::current().id());
}

/// Runs Python code, not merely a function of C, below which there are frames of ours.
#[inline]
pub(crate) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _asking = ForeignCallGuard::begin();
    if shutdown::exiting() && !is_ending_thread() {
        py.detach(stay);
    }
    call()
}

/// As [`run_python`], for a function of a user's own on a thread of others, which the end of the process waits for longer.
pub(crate) fn run_users<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            USERS.fetch_sub(1, Ordering::SeqCst);
        }
    }
    USERS.fetch_add(1, Ordering::SeqCst);
    let _counted = Counted;
    run_python(py, call)
}

/// Whether any such function is under way.
pub(crate) fn is_any_users() -> bool {
    USERS.load(Ordering::SeqCst) > 0
}

/// Leave to ask for the GIL in a function that others call, for as long as the answer lives. None once the process ends, except for
/// the thread that ends it.
pub(crate) fn leave_to_ask() -> Option<ForeignCallGuard> {
    let asking = ForeignCallGuard::begin();
    (!shutdown::exiting() || is_ending_thread()).then_some(asking)
}

pub(crate) fn is_ending_thread() -> bool {
    ENDING.get() == Some(&thread::current().id())
}

/// Stays where it is for ever; nobody is to wait for it any more.
#[cold]
pub(crate) fn stay() {
    ForeignCallGuard::give_up();
    loop {
        thread::park();
    }
}
