//! The functions of the fuzz targets, which take bytes and panic if they find a defect.
//!
//! `fuzz_targets/` calls the functions from libFuzzer; `tests/rust/fuzz_corpus.rs` calls them with the corpus on a stable
//! compiler. The functions must not keep state between runs, because an input could then not reproduce its defect.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

pub mod description;
pub mod dlpack;
pub mod layout;
mod source;
