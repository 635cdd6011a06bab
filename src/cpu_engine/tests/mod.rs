#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
//! Tests the stages of compilation. The tests of the CPU backend in `src/backend/cpu/device_code/tests` check the
//! results of kernels.

mod precompiled;
mod source_rewriter;
mod thread_loops;
