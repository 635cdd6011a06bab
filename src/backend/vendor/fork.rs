//! Knows whether this process was forked after a GPU driver was opened.
//!
//! A driver does not survive `fork()`: its threads are gone and its file descriptors are shared with the parent. Calls in
//! the child would crash or hang, so every GPU backend asks here first. The CPU backend goes on working.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::BackendKind;
use crate::callback::caught;
use crate::error::{Error, Result};
use crate::global::Once;

static FORKED: AtomicBool = AtomicBool::new(false);
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
    caught((), || FORKED.store(true, Ordering::Relaxed));
}

/// Whether this is a child that was forked after a GPU driver was opened.
#[inline]
pub fn is_forked() -> bool {
    // Relaxed: a child begins with one thread, the one that ran the handler.
    FORKED.load(Ordering::Relaxed)
}

/// Refuses a GPU call in a forked child.
///
/// # Errors
/// `Error::Forked` there.
#[inline]
pub fn refuse(backend: BackendKind, operation: &'static str) -> Result<()> {
    if is_forked() {
        return Err(Error::Forked { operation, backend: backend.name() });
    }
    Ok(())
}
