//! Implements two rules for destructors: they free nothing at process exit, and never raise an error.
//!
//! At interpreter exit the driver may be partly shut down, and the operating system frees the memory. A driver error
//! inside a `Drop` is stored here. The next call that blocks the host until work is complete reports this error after
//! its own work. Unrelated calls, such as a launch on another thread, never fail because of a stored error.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush_points;
use pygpu_base::fork_safe::ForkSafeMutex;

static EXITING: AtomicBool = AtomicBool::new(false);
static HAS_DEFERRED: AtomicBool = AtomicBool::new(false);
static DEFERRED: ForkSafeMutex<Option<Error>> = ForkSafeMutex::new(None);
/// Values whose drop was postponed, because they were dropped in code that must not call the driver. The next call of
/// `report_deferred` drops them.
static PUT_OFF: ForkSafeMutex<Vec<Box<dyn Any + Send>>> = ForkSafeMutex::new(Vec::new());
/// Number of active calls, over all threads, into code of other libraries that may request an interpreter lock.
static ASKING: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// Number of this thread's active calls into code of other libraries. The count `ASKING` includes these calls.
    static OWN_ASKING: Cell<usize> = const { Cell::new(0) };
}

/// Stops all driver calls except those of the calling thread, because the process is about to end. Nothing is freed
/// from now on.
pub fn begin_exit() {
    // The store is sequentially consistent, because this thread reads the count `ASKING` afterwards. A thread that is
    // not yet counted then sees the exit flag.
    EXITING.store(true, Ordering::SeqCst);
    backend::close_drivers();
}

/// Returns whether the process is about to end.
#[inline]
pub fn exiting() -> bool {
    EXITING.load(Ordering::SeqCst)
}

thread_local! {
    /// Results of destructors on this thread, one for each enclosing `collect_errors` call, innermost last.
    static CAUGHT: RefCell<Vec<Result<()>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work`, which drops objects deliberately, and returns the first error of their destructors.
///
/// # Errors
/// The first error of a destructor.
pub fn collect_errors(work: impl FnOnce()) -> Result<()> {
    CAUGHT.with_borrow_mut(|caught| caught.push(Ok(())));
    work();
    CAUGHT.with_borrow_mut(|caught| caught.pop().unwrap_or(Ok(())))
}

/// Stores a destructor's error, which the next call of `report_deferred` returns. Of several errors, only the first is
/// stored. In a forked child errors are ignored, because the objects belong to the parent.
pub fn defer(result: Result<()>) {
    let Err(error) = result else { return };
    if matches!(error, Error::Forked { .. }) {
        return;
    }
    let Some(error) = uncaught(error) else { return };
    drop(store_error(error)); // dropped after the lock is released, because the error may run foreign code when dropped
}

/// Stores an error, which the next call of `report_deferred` returns. If another error is already stored, returns
/// `error` to the caller instead.
pub fn store_error(error: Error) -> Option<Error> {
    let mut deferred = DEFERRED.lock();
    if deferred.is_some() {
        return Some(error);
    }
    *deferred = Some(error);
    drop(deferred);
    HAS_DEFERRED.store(true, Ordering::Release);
    None
}

/// Postpones the drop of a value in a host function that a stream calls. An immediate drop would call the driver, and
/// the driver would wait for the host function to return.
#[cold]
pub fn defer_drop(thing: Box<dyn Any + Send>) {
    PUT_OFF.lock().push(thing);
    HAS_DEFERRED.store(true, Ordering::Release);
}

/// Passes an error to the innermost active `collect_errors` call of this thread. If no such call is active, returns the
/// error.
fn uncaught(error: Error) -> Option<Error> {
    let mut error = Some(error);
    // The access to the thread-local variable fails only on a terminating thread, on which no `collect_errors` call is
    // active.
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

/// Returns the stored error of a destructor, and drops postponed values.
///
/// # Errors
/// The stored error, once.
#[inline]
pub fn report_deferred() -> Result<()> {
    if HAS_DEFERRED.load(Ordering::Acquire) { take_deferred() } else { Ok(()) }?;
    flush_points::take_error().map_or(Ok(()), Err)
}

#[cold]
fn take_deferred() -> Result<()> {
    HAS_DEFERRED.store(false, Ordering::Release);
    let put_off = std::mem::take(&mut *PUT_OFF.lock());
    drop(put_off); // the values are dropped after the lock is released, because their drops call the driver
    let deferred = DEFERRED.lock().take();
    match deferred {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Marks a call into code of another library that may request an interpreter lock. A finalizing interpreter terminates
/// threads that request its lock, which would unwind Rust frames. The end of the process therefore waits for such
/// calls. A caller creates this value first and checks [`exiting`] afterwards.
pub struct ForeignCallGuard(());

impl ForeignCallGuard {
    /// Counts a call into code of another library, which the calling thread begins. The thread that ends the process
    /// sets the exit flag before it reads the count. Thus either the calling thread sees the flag, or the thread that
    /// ends the process sees the call and waits for its end.
    #[inline]
    pub fn begin() -> Self {
        OWN_ASKING.set(OWN_ASKING.get() + 1);
        ASKING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Returns the number of active calls into code of other libraries, over all threads.
    pub fn count() -> usize {
        ASKING.load(Ordering::SeqCst)
    }

    /// Removes the calling thread's calls from the count, because these calls never return, and the process must not
    /// wait for them at its end.
    pub fn give_up() {
        ASKING.fetch_sub(OWN_ASKING.replace(0), Ordering::SeqCst);
    }
}

impl Drop for ForeignCallGuard {
    #[inline]
    fn drop(&mut self) {
        OWN_ASKING.set(OWN_ASKING.get() - 1);
        ASKING.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destructor_error_is_returned_by_innermost_collect_errors_only() {
        let result = collect_errors(|| {
            defer(Err(Error::value("inner")));
            assert!(collect_errors(|| defer(Err(Error::value("innermost")))).is_err());
            defer(Err(Error::value("later")));
        });
        assert!(matches!(result, Err(Error::Value(text)) if text == "inner"));
        assert!(collect_errors(|| ()).is_ok());
    }

    #[test]
    fn destructor_error_is_reported_once_by_next_call() {
        defer(Err(Error::value("first")));
        defer(Err(Error::value("second")));
        assert!(matches!(report_deferred(), Err(Error::Value(text)) if text == "first"));
        assert!(report_deferred().is_ok());
        defer(Err(Error::Forked { operation: "free", backend: "cuda" }));
        assert!(report_deferred().is_ok());
    }
}
