//! Rejects driver calls in a forked child, and in a host function called by a stream.
//!
//! A driver does not survive `fork()`: its threads are gone and its file descriptors are shared with the parent. Driver
//! calls in the child would crash or hang, so every GPU backend first calls [`refuse`]. The CPU backend continues to
//! work.
//!
//! The driver waits for the return of a host function that a stream has called. A driver call inside the host function
//! fails, or waits forever for the host function itself.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::BackendKind;
use pygpu_base::error::{Error, Result};
use pygpu_base::ffi_guard::catch_panic;
use pygpu_base::fork_safe::ForkSafeOnce;

/// Both reasons to reject a driver call, in one word, because every driver call checks them. The lowest bit is set in a
/// forked child. The higher bits count the host functions that streams are calling at present.
static REASONS: AtomicUsize = AtomicUsize::new(0);
const FORKED: usize = 1;
const HOST_CALL: usize = 2;
thread_local! {
    static IS_HOST_CALL: Cell<bool> = const { Cell::new(false) };
}

static WATCH: ForkSafeOnce<()> = ForkSafeOnce::new();

/// Installs the fork handler. A backend calls this function before it initialises a GPU driver.
pub fn watch() {
    #[cfg(unix)]
    WATCH.get_or_init(|| {
        // The registration of the handler fails only if memory is exhausted. Driver calls in a forked child are then
        // not rejected.
        // SAFETY: the handler only stores to an atomic, which is safe between fork and exec.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
    #[cfg(not(unix))]
    WATCH.get_or_init(|| {});
}

#[cfg(unix)]
extern "C" fn in_child() {
    catch_panic((), || {
        REASONS.fetch_or(FORKED, Ordering::Relaxed);
    });
}

/// Returns whether this process was forked after a GPU driver was opened.
#[inline]
pub fn is_forked() -> bool {
    // Relaxed ordering suffices: a forked child begins with one thread, and this thread has run the fork handler.
    REASONS.load(Ordering::Relaxed) & FORKED != 0
}

/// Returns whether this thread is executing a host function that a stream has called.
#[inline]
pub fn is_host_call() -> bool {
    REASONS.load(Ordering::Relaxed) >= HOST_CALL && IS_HOST_CALL.get()
}

/// Runs a host function on behalf of a driver's stream, and counts it as running meanwhile.
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

/// Returns an error if the calling thread is in a forked child, or in a host function that a stream has called.
///
/// # Errors
/// `Error::Forked` in a forked child; `NotSupported` in a host function.
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
