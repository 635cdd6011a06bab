//! Makes GIL requests safe during interpreter finalization.
//!
//! Up to Python 3.13, a finalizing interpreter terminates each daemon thread that requests the GIL, by `pthread_exit`
//! inside the request. `pthread_exit` unwinds the Rust frames below the request, which aborts the process. From
//! `atexit` on, a thread that returns from a driver therefore blocks forever instead of requesting the GIL. `atexit`
//! first waits for threads that already request the GIL. Threads that run Python code are treated in the same way,
//! because they request the GIL every few milliseconds: PyGPU calls Python code through `run_python`.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::shutdown::{self, ForeignCallGuard};

/// The thread that finalizes the process.
static FINALIZING_THREAD: ForkSafeOnce<ThreadId> = ForkSafeOnce::new();
/// Number of user functions in progress on threads of drivers. Their duration is unbounded.
static USER_FUNCTIONS: AtomicUsize = AtomicUsize::new(0);

/// Records the calling thread as the thread that finalizes the process.
pub(crate) fn begin() {
    FINALIZING_THREAD.get_or_init(|| thread::current().id());
}

/// Runs Python code that Rust code calls. During process exit, any thread but the finalizing thread blocks forever
/// instead. Calls of functions that are implemented in C need not be wrapped.
#[inline]
pub(crate) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _request = ForeignCallGuard::begin();
    if shutdown::exiting() && !is_finalizing_thread() {
        py.detach(block_forever);
    }
    call()
}

/// Runs a user's function like [`run_python`], on a thread of a driver. Process exit waits longer for such functions
/// than for other Python code: see `begin_process_exit`.
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

/// Whether a user function is in progress in [`run_user_function`].
pub(crate) fn has_user_functions() -> bool {
    USER_FUNCTIONS.load(Ordering::SeqCst) > 0
}

/// Returns a guard under which a function called by foreign code, such as a driver, may request the GIL. Process exit
/// waits until the guard is dropped.
///
/// Returns `None` during process exit, except on the finalizing thread. In that case the caller must not request the
/// GIL, because the finalizing interpreter may terminate threads that request it.
pub(crate) fn try_gil_request() -> Option<ForeignCallGuard> {
    let request = ForeignCallGuard::begin();
    (!shutdown::exiting() || is_finalizing_thread()).then_some(request)
}

pub(crate) fn is_finalizing_thread() -> bool {
    FINALIZING_THREAD.get() == Some(&thread::current().id())
}

/// Blocks the thread forever. Process exit no longer waits for this thread.
#[cold]
pub(crate) fn block_forever() {
    ForeignCallGuard::give_up();
    loop {
        thread::park();
    }
}
