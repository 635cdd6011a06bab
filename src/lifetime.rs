//! What a destructor may do: nothing at process exit, and never raise.
//!
//! At interpreter exit the driver may be half gone and memory is left to the process. A driver's refusal inside a `Drop`
//! is kept here and reported by the next call that can raise.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::backend;
use crate::error::{Error, Result};

static EXITING: AtomicBool = AtomicBool::new(false);
static HAS_DEFERRED: AtomicBool = AtomicBool::new(false);
static DEFERRED: Mutex<Option<Error>> = Mutex::new(None);

/// From now on nothing is given back, and only the calling thread reaches a driver: it is about to end the process.
pub fn leave_to_process() {
    // Sequentially consistent: who ends the process next looks for threads that have not seen it.
    EXITING.store(true, Ordering::SeqCst);
    backend::close_drivers();
}

/// Whether the process is about to end.
#[inline]
pub fn exiting() -> bool {
    EXITING.load(Ordering::SeqCst)
}

/// Keeps a destructor's error for the next call; the first of several is kept. A forked child's refusals are not errors:
/// the parent owns what the child's copies name.
pub fn defer(result: Result<()>) {
    let Err(error) = result else { return };
    if matches!(error, Error::Forked { .. }) {
        return;
    }
    DEFERRED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    HAS_DEFERRED.store(true, Ordering::Release);
}

/// Raises what a destructor could not.
///
/// # Errors
/// The kept one, once.
#[inline]
pub fn report_deferred() -> Result<()> {
    if HAS_DEFERRED.load(Ordering::Acquire) { take_deferred() } else { Ok(()) }
}

#[cold]
fn take_deferred() -> Result<()> {
    HAS_DEFERRED.store(false, Ordering::Release);
    match DEFERRED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destructors_error_is_reported_once_by_the_next_call() {
        defer(Err(Error::value("first")));
        defer(Err(Error::value("second")));
        assert!(matches!(report_deferred(), Err(Error::Value(text)) if text == "first"));
        assert!(report_deferred().is_ok());
        defer(Err(Error::Forked { operation: "free", backend: "cuda" }));
        assert!(report_deferred().is_ok());
    }
}
