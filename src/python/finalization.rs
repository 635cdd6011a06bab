//! Safe GIL requests during interpreter finalization.
//!
//! From finalization on, up to Python 3.13, a daemon thread that requests the GIL is terminated by `pthread_exit` inside the call.
//! That unwinds the Rust frames below it and aborts the process. From `atexit` on, a thread that returns from a driver therefore
//! blocks forever. `atexit` first waits for threads that already request the GIL. The same applies to threads that run Python code,
//! because these request the GIL every few milliseconds: use `run_python`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// The thread that finalizes the process.
static FINALIZING_THREAD: ForkSafeOnce<ThreadId> = ForkSafeOnce::new();
/// Number of user functions in progress on threads of drivers. Their duration is unbounded.
static USER_FUNCTIONS: AtomicUsize = AtomicUsize::new(0);

/// Records the calling thread as the one that finalizes the process.
pub(crate) fn begin() {
    FINALIZING_THREAD.get_or_init(|| thread::current().id());
}

/// Runs Python code, not merely a C function, below which the stack has Rust frames.
#[inline]
pub(crate) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _request = ForeignCallGuard::begin();
    if shutdown::exiting() && !is_finalizing_thread() {
        py.detach(block_forever);
    }
    call()
}

/// Runs a user's function like [`run_python`], on a thread of a driver. Process exit waits longer for it.
pub(crate) fn run_user_function<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    struct UserFunctionGuard;
    impl Drop for UserFunctionGuard {
        fn drop(&mut self) {
            USER_FUNCTIONS.fetch_sub(1, Ordering::SeqCst);
        }
    }
    USER_FUNCTIONS.fetch_add(1, Ordering::SeqCst);
    let _guard = UserFunctionGuard;
    run_python(py, call)
}

/// Whether any such function is in progress.
pub(crate) fn has_user_functions() -> bool {
    USER_FUNCTIONS.load(Ordering::SeqCst) > 0
}

/// Permits GIL requests in a function that foreign code calls, until the guard is dropped.
///
/// Returns `None` during process exit, except on the finalizing thread.
pub(crate) fn try_gil_request() -> Option<ForeignCallGuard> {
    let request = ForeignCallGuard::begin();
    (!shutdown::exiting() || is_finalizing_thread()).then_some(request)
}

pub(crate) fn is_finalizing_thread() -> bool {
    FINALIZING_THREAD.get() == Some(&thread::current().id())
}

/// Blocks the thread forever. Process exit no longer waits for it.
#[cold]
pub(crate) fn block_forever() {
    ForeignCallGuard::give_up();
    loop {
        thread::park();
    }
}
