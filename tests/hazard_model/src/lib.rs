//! Runs hazard tracking and the marks of deferred operations under the model checker loom. This crate compiles the code
//! of the library's files `src/memory/hazards.rs` and `src/base/pending_marks.rs`. Loom executes every interleaving of
//! two or three threads, and the tests check that every use waits for all earlier uses with which it conflicts.
//!
//! `mutations.py` in this folder removes the waits and the records of uses from the code one by one. After each removal
//! at least one test must fail.

#[path = "../../../src/memory/hazards.rs"]
#[allow(dead_code)]
pub mod hazards;

#[path = "../../../src/base/pending_marks.rs"]
#[allow(dead_code)]
pub mod pending_marks;

/// Locks that loom checks, which replace the locks of `src/base/locks_and_atomics.rs`.
pub mod locks_and_atomics;

/// Alias of this crate under the name `pygpu_base`, from which `hazards.rs` imports its locks.
extern crate self as pygpu_base;

#[cfg(test)]
mod deferred;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod scenarios;
