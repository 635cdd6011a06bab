//! `PYGPU_STRICT=1`: arrays in host memory behave as those of a GPU also where the standards allow more.
//!
//! PyGPU's own functions never let NumPy read an array of theirs in place, so that they are the same everywhere
//! ([`as_on_a_gpu`]). What the variable takes away: NumPy's reading of an array in place (`numpy.asarray`, `__array_interface__`), and `asarray` sharing an ndarray's
//! memory where no device is named. DLPack stays, which says of itself that the memory is the host's.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;

use crate::names::names;

use pygpu_base::settings::{self, Variable};

/// 0 and 1 are answers; anything else means that nobody has asked yet.
static STRICT: AtomicU8 = AtomicU8::new(u8::MAX);
thread_local! {
    /// How many conversions for functions of ours go on.
    static CONVERSIONS: Cell<u32> = const { Cell::new(0) };
}

/// Whether host memory is to be treated as a GPU's.
#[inline]
pub(crate) fn is_strict() -> bool {
    match STRICT.load(Ordering::Relaxed) {
        answer @ (0 | 1) => answer == 1,
        _ => ask(),
    }
}

#[cold]
fn ask() -> bool {
    let strict = settings::get().filled(Variable::STRICT).is_some_and(|value| value != "0");
    STRICT.store(u8::from(strict), Ordering::Relaxed);
    strict
}

/// Whether NumPy may read an array in host memory where it is.
pub(crate) fn allows_reading() -> bool {
    !is_strict() && CONVERSIONS.get() == 0
}

/// Runs NumPy's conversion of what a function of ours was given: it refuses an array in host memory as one of a GPU.
pub(crate) fn as_on_a_gpu<T>(convert: impl FnOnce() -> T) -> T {
    struct Conversion;
    impl Drop for Conversion {
        fn drop(&mut self) {
            CONVERSIONS.set(CONVERSIONS.get() - 1);
        }
    }
    CONVERSIONS.set(CONVERSIONS.get() + 1);
    let _conversion = Conversion;
    convert()
}

/// Sets what `PYGPU_STRICT` says, for the tests of what is allowed without.
///
/// Parameters
/// ----------
/// strict : bool
///     Whether host memory is to be treated as a GPU's.
///
/// Returns
/// -------
/// bool
///     What held before.
///
/// Examples
/// --------
/// >>> from PyGPU import _core
/// >>> before = _core._set_strict(False)
/// >>> _core._set_strict(before)
/// False
#[pyfunction]
#[pyo3(signature = (strict: "bool") -> "bool")]
fn _set_strict(strict: bool) -> bool {
    let before = is_strict();
    STRICT.store(u8::from(strict), Ordering::Relaxed);
    before
}

names! {
    internal_functions: _set_strict;
}
