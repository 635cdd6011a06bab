//! Runs hazard tracking (`src/memory/hazards.rs`, the library's file) and the marks of deferred operations
//! (`src/base/marks.rs`, likewise) under a model checker. It executes every interleaving of two or three threads, and
//! the tests check that every use waited for the uses it had to wait for.
//!
//! `mutations.py` in this folder removes the waits and the records from the code one by one: each time a test here
//! must fail.

#[path = "../../../src/memory/hazards.rs"]
#[allow(dead_code)]
pub mod hazards;

#[path = "../../../src/base/marks.rs"]
#[allow(dead_code)]
pub mod marks;

/// Locks of the model checker, in place of those in `src/base/sync.rs`.
pub mod sync;

/// The crate from which `hazards.rs` imports its locks.
extern crate self as pygpu_base;

#[cfg(test)]
mod deferred;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod scenarios;
