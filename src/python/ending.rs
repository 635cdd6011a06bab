//! Asking for the GIL while the process may be ending.
//!
//! When an interpreter ends, a daemon thread that asks for the GIL is ended inside that call (`pthread_exit`, up to Python
//! 3.13), which unwinds through the Rust frames below it and aborts the process. So from `atexit` on a thread that comes
//! back from a driver stays where it is, for ever; and `atexit` lets those that are asking already have the GIL first.
//! The same happens to a thread that we let run Python code, which asks for the GIL every few milliseconds: `run_python`.

use std::thread::{self, ThreadId};

use pyo3::prelude::*;

use crate::global::Once;
use crate::lifetime::{self, Asking};

/// The thread that ends the process.
static ENDING: Once<ThreadId> = Once::new();

/// From here on this thread is the one that ends the process.
pub(crate) fn begin() {
    ENDING.get_or_init(|| thread::current().id());
}

/// Runs Python code, not merely a function of C, below which there are frames of ours.
#[inline]
pub(crate) fn run_python<T>(py: Python<'_>, call: impl FnOnce() -> T) -> T {
    let _asking = Asking::begin();
    if lifetime::exiting() && !is_ending_thread() {
        py.detach(stay);
    }
    call()
}

/// Leave to ask for the GIL in a function that others call, for as long as the answer lives. None once the process ends, except for
/// the thread that ends it.
pub(crate) fn leave_to_ask() -> Option<Asking> {
    let asking = Asking::begin();
    (!lifetime::exiting() || is_ending_thread()).then_some(asking)
}

pub(crate) fn is_ending_thread() -> bool {
    ENDING.get() == Some(&thread::current().id())
}

/// Stays where it is for ever; nobody is to wait for it any more.
#[cold]
pub(crate) fn stay() {
    Asking::give_up();
    loop {
        thread::park();
    }
}
