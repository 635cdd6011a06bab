//! Who must not call a driver: a process that was forked after it was opened, and a function that a stream calls.
//!
//! A driver does not survive `fork()`: its threads are gone and its file descriptors are shared with the parent. Calls in
//! the child would crash or hang, so every GPU backend asks here first. The CPU backend goes on working.
//!
//! While a function of the host runs in the order of a stream, the driver waits for it: a call on its thread is refused by the
//! driver, or waits for itself for ever.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::caught;
use pygpu_base::fork_safe::Once;

/// Whether there is a reason to look further, in one word, since every call of a driver asks: the lowest bit says that this is
/// a forked child, the others count the functions of the host that run in the order of a stream.
static REASONS: AtomicUsize = AtomicUsize::new(0);
const FORKED: usize = 1;
const HOST_CALL: usize = 2;
thread_local! {
    static IS_HOST_CALL: Cell<bool> = const { Cell::new(false) };
}

static WATCH: Once<()> = Once::new();

/// Starts watching; called before a GPU driver is initialised.
pub fn watch() {
    #[cfg(unix)]
    WATCH.get_or_init(|| {
        // The only failure is a lack of memory for the entry; the child is then not recognised, which is no worse than
        // not watching.
        // SAFETY: the handler only stores to an atomic, which is safe between fork and exec.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    #[cfg(not(unix))]
    WATCH.get_or_init(|| {});
}

#[cfg(unix)]
extern "C" fn in_child() {
    caught((), || {
        REASONS.fetch_or(FORKED, Ordering::Relaxed);
    });
}

/// Whether this is a child that was forked after a GPU driver was opened.
#[inline]
pub fn is_forked() -> bool {
    // Relaxed: a child begins with one thread, the one that ran the handler.
    REASONS.load(Ordering::Relaxed) & FORKED != 0
}

/// Whether this thread is one of a driver's, which waits for what it runs.
#[inline]
pub fn is_host_call() -> bool {
    REASONS.load(Ordering::Relaxed) >= HOST_CALL && IS_HOST_CALL.get()
}

/// Runs a function of the host that a driver's stream has called.
pub fn as_host_call<T>(work: impl FnOnce() -> T) -> T {
    struct Under(bool);
    impl Drop for Under {
        fn drop(&mut self) {
            IS_HOST_CALL.set(self.0);
            REASONS.fetch_sub(HOST_CALL, Ordering::Relaxed);
        }
    }
    REASONS.fetch_add(HOST_CALL, Ordering::Relaxed);
    let _under = Under(IS_HOST_CALL.replace(true));
    work()
}

/// Refuses a GPU call in a forked child, and in a function that a stream calls.
///
/// # Errors
/// `Error::Forked` and `NotSupported` there.
#[inline]
pub fn refuse(backend: BackendKind, operation: &'static str) -> Result<()> {
    if REASONS.load(Ordering::Relaxed) == 0 { Ok(()) } else { refuse_for_a_reason(backend, operation) }
}

#[cold]
fn refuse_for_a_reason(backend: BackendKind, operation: &'static str) -> Result<()> {
    if is_forked() {
        return Err(Error::Forked { operation, backend: backend.name() });
    }
    if is_host_call() {
        return Err(Error::not_supported(format!(
            "{operation}: a function that a stream calls (launch_host_function) cannot use the GPU, since the driver waits for \
             it; let it tell another thread, which does"
        )));
    }
    Ok(())
}
