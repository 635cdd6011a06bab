#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
//! Tests the stages before a kernel runs. The results of kernels are tested with the backend, in
//! `src/backend/cpu/programs/tests`.

mod precompiled;
mod source_rewriter;
mod thread_loops;
