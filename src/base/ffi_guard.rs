//! What code of other libraries calls: a panic of ours ends here, since a frame of C cannot carry it further.
//!
//! Every `extern "C"` function of the crate hands its work to [`caught`] at once; `tests/exchange/test_callbacks.py` holds it. Those that
//! touch Python go through `python::callback` besides.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`; `otherwise` is the answer if it panics. What it held is then lost, which is the lesser harm.
#[inline]
pub fn caught<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    // Nothing that a panic leaves half done is looked at again: locks of ours are taken whether poisoned or not, and what was
    // taken out is leaked.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    #[test]
    fn a_panic_is_answered_and_goes_no_further() {
        assert_eq!(caught(7, || 3), 3);
        assert_eq!(caught(7, || panic!("of a test")), 7);
    }
}
