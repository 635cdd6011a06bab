//! What the fuzz targets do with their bytes: plain functions that panic when something is wrong.
//!
//! `fuzz_targets/` feeds them from libFuzzer; `tests/rust/fuzz_corpus.rs` runs them over the corpus on a stable compiler.
//! They must never keep state from one run to the next, or an input would not repeat what it found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

pub mod description;
pub mod dlpack;
pub mod layout;
mod source;
