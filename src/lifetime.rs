//! What a destructor may do: nothing at process exit, and never raise.
//!
//! At interpreter exit the driver may be half gone and memory is left to the process. A driver's refusal inside a `Drop`
//! is kept here and reported by the next call that waits for the host's sake, whose own work is done by then. A call that has
//! nothing to do with what failed, such as another thread's launch, never fails for it.

use std::cell::RefCell;
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

thread_local! {
    /// What destructors of this thread report to `caught`, innermost last.
    static CAUGHT: RefCell<Vec<Result<()>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`, which ends something on purpose, and gives out what destructors inside it could not say.
///
/// # Errors
/// The first of them.
pub fn caught(work: impl FnOnce()) -> Result<()> {
    CAUGHT.with_borrow_mut(|caught| caught.push(Ok(())));
    work();
    CAUGHT.with_borrow_mut(|caught| caught.pop().unwrap_or(Ok(())))
}

/// Keeps a destructor's error for the next report; the first of several is kept. A forked child's refusals are not errors:
/// the parent owns what the child's copies name.
pub fn defer(result: Result<()>) {
    let Err(error) = result else { return };
    if matches!(error, Error::Forked { .. }) {
        return;
    }
    let Some(error) = uncaught(error) else { return };
    DEFERRED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    HAS_DEFERRED.store(true, Ordering::Release);
}

/// The error, unless somebody up this thread's calls catches it.
fn uncaught(error: Error) -> Option<Error> {
    let mut error = Some(error);
    // A thread that is ending catches nothing any more.
    let _ = CAUGHT.try_with(|caught| {
        if let Ok(mut caught) = caught.try_borrow_mut()
            && let Some(first) = caught.last_mut()
            && let Some(error) = error.take()
            && first.is_ok()
        {
            *first = Err(error);
        }
    });
    error
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
    fn who_ends_something_on_purpose_is_told_and_nobody_else() {
        let result = caught(|| {
            defer(Err(Error::value("inner")));
            assert!(caught(|| defer(Err(Error::value("innermost")))).is_err());
            defer(Err(Error::value("later")));
        });
        assert!(matches!(result, Err(Error::Value(text)) if text == "inner"));
        assert!(caught(|| ()).is_ok());
    }

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
