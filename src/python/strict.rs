//! `PYGPU_STRICT=1`: arrays in host memory behave as those of a GPU also where the standards allow more.
//!
//! PyGPU's own functions never let NumPy read an array of theirs in place, so that they are the same everywhere
//! ([`as_on_a_gpu`]). What the variable takes away: NumPy's reading of an array in place (`numpy.asarray`, `__array_interface__`), and `asarray` sharing an ndarray's
//! memory where no device is named. DLPack stays, which says of itself that the memory is the host's.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

const VARIABLE: &str = "PYGPU_STRICT";

static STRICT: AtomicBool = AtomicBool::new(false);
thread_local! {
    /// How many conversions for functions of ours go on.
    static CONVERSIONS: Cell<u32> = const { Cell::new(0) };
}

/// Whether host memory is to be treated as a GPU's.
#[inline]
pub(super) fn is_strict() -> bool {
    STRICT.load(Ordering::Relaxed)
}

/// Whether NumPy may read an array in host memory where it is.
pub(super) fn allows_reading() -> bool {
    !is_strict() && CONVERSIONS.get() == 0
}

/// Runs NumPy's conversion of what a function of ours was given: it refuses an array in host memory as one of a GPU.
pub(super) fn as_on_a_gpu<T>(convert: impl FnOnce() -> T) -> T {
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
fn _set_strict(strict: bool) -> bool {
    STRICT.swap(strict, Ordering::Relaxed)
}

/// Reads the variable, and puts the function into the module.
pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let asked = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    STRICT.store(asked, Ordering::Relaxed);
    module.add_function(wrap_pyfunction!(_set_strict, module)?)
}
