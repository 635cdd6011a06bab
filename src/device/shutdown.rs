//! What a destructor may do: nothing at process exit, and never raise.
//!
//! At interpreter exit the driver may be half gone and memory is left to the process. A driver's refusal inside a `Drop`
//! is kept here and reported by the next call that waits for the host's sake, whose own work is done by then. A call that has
//! nothing to do with what failed, such as another thread's launch, never fails for it.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pygpu_backend as backend;
use pygpu_base::error::{Error, Result};
use pygpu_base::flush;
use pygpu_base::fork_safe::Global;

static EXITING: AtomicBool = AtomicBool::new(false);
static HAS_DEFERRED: AtomicBool = AtomicBool::new(false);
static DEFERRED: Global<Option<Error>> = Global::new(None);
/// What ended where no driver may be called; it ends with the next report.
static PUT_OFF: Global<Vec<Box<dyn Any + Send>>> = Global::new(Vec::new());
/// Calls of others' code that are under way.
static ASKING: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// Those of this thread.
    static OWN_ASKING: Cell<usize> = const { Cell::new(0) };
}

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
    drop(keep(error)); // not under the lock: it may be somebody else's object
}

/// Keeps an error for the next report, and gives it back if there is one already.
pub fn keep(error: Error) -> Option<Error> {
    let mut deferred = DEFERRED.lock();
    if deferred.is_some() {
        return Some(error);
    }
    *deferred = Some(error);
    drop(deferred);
    HAS_DEFERRED.store(true, Ordering::Release);
    None
}

/// Keeps what ends in a function that a stream calls, whose end would call the driver which waits for that function.
#[cold]
pub fn put_off(thing: Box<dyn Any + Send>) {
    PUT_OFF.lock().push(thing);
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
    if HAS_DEFERRED.load(Ordering::Acquire) { take_deferred() } else { Ok(()) }?;
    flush::take_error().map_or(Ok(()), Err)
}

#[cold]
fn take_deferred() -> Result<()> {
    HAS_DEFERRED.store(false, Ordering::Release);
    let put_off = std::mem::take(&mut *PUT_OFF.lock());
    drop(put_off); // without the lock: here the driver is called
    let deferred = DEFERRED.lock().take();
    match deferred {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Code of others that runs below frames of ours, and may ask for an interpreter's lock. When an interpreter ends it stops threads
/// that ask, which takes frames of ours apart; so the end of the process waits for those that are under way, and who begins one
/// looks at [`exiting`] first, with this in hand.
pub struct Asking(());

impl Asking {
    /// Counts this thread. Whoever ends the process says so before it looks at the count.
    #[inline]
    pub fn begin() -> Self {
        OWN_ASKING.set(OWN_ASKING.get() + 1);
        ASKING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// How many are under way, of all threads.
    pub fn count() -> usize {
        ASKING.load(Ordering::SeqCst)
    }

    /// Says that those of this thread never end, which the end of the process is not to wait for.
    pub fn give_up() {
        ASKING.fetch_sub(OWN_ASKING.replace(0), Ordering::SeqCst);
    }
}

impl Drop for Asking {
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
