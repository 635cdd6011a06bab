//! Stops panics at `extern "C"` functions that other libraries call, because a C frame cannot unwind.
//!
//! Every `extern "C"` function immediately passes its work to [`catch_panic`]; `tests/interop/test_callbacks.py`
//! verifies this. Functions that call Python additionally use `python::callback`.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and returns its result. If `work` panics, returns `otherwise`. In that case the values that `work` owned
/// are leaked.
#[inline]
pub fn catch_panic<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // The closure may be treated as unwind-safe, because no caller relies on state that a panic leaves incomplete.
    // PyGPU's locks ignore poisoning, and values moved into `work` are leaked.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[test]
    fn ffi_guard_stops_panic_and_returns_fallback() {
        assert_eq!(catch_panic(7, || 3), 3);
        assert_eq!(catch_panic(7, || panic!("of a test")), 7);
    }
}
