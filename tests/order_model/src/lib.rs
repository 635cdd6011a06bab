//! The bookkeeping of order (`src/memory/order.rs`, the very file), and the marks of deferred operations (`src/base/marks.rs`, as well), under a model checker: every interleaving of two or
//! three threads, and for each the question whether every use that had to wait did.
//!
//! `mutations.py` beside this takes the waits and the notes out of the code one by one: each time a test here must fail.

#[path = "../../../src/memory/order.rs"]
#[allow(dead_code)]
pub mod order;

#[path = "../../../src/base/marks.rs"]
#[allow(dead_code)]
pub mod marks;

/// The locks of the model checker, in place of those of `src/base/sync.rs`.
pub mod sync;

/// The crate that `order.rs` takes its locks from.
extern crate self as pygpu_base;

#[cfg(test)]
mod deferred;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod scenarios;
