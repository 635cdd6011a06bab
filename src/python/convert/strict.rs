//! `PYGPU_STRICT=1`: arrays in host memory behave like GPU arrays, even if the standards allow more.
//!
//! PyGPU's own functions never let NumPy read one of its arrays in place, so that they behave the same everywhere
//! ([`without_host_arrays`]). The variable additionally disables reading an array in place by NumPy (`numpy.asarray`,
//! `__array_interface__`), and sharing an ndarray's memory in `asarray` without a device argument. DLPack stays
//! enabled, because it reports that the memory is on the host.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;

use crate::names::names;

use pygpu_base::settings::{self, Variable};

/// 0 and 1 are values; any other number means that the setting was not read yet.
static STRICT: AtomicU8 = AtomicU8::new(u8::MAX);
thread_local! {
    /// Number of active conversions for PyGPU functions.
    static CONVERSIONS: Cell<u32> = const { Cell::new(0) };
}

/// Returns whether host memory is treated like GPU memory.
#[inline]
pub(crate) fn is_strict() -> bool {
    match STRICT.load(Ordering::Relaxed) {
        value @ (0 | 1) => value == 1,
        _ => read_setting(),
    }
}

#[cold]
fn read_setting() -> bool {
    let strict = settings::get().filled(Variable::STRICT).is_some_and(|value| value != "0");
    STRICT.store(u8::from(strict), Ordering::Relaxed);
    strict
}

/// Returns whether NumPy may read an array in host memory in place.
pub(crate) fn allows_reading() -> bool {
    !is_strict() && CONVERSIONS.get() == 0
}

/// Runs NumPy's conversion of an argument of a PyGPU function: it rejects an array in host memory like one on a GPU.
pub(crate) fn without_host_arrays<T>(convert: impl FnOnce() -> T) -> T {
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

/// Sets the value of `PYGPU_STRICT`, for tests of features that it disables.
///
/// Parameters
/// ----------
/// strict : bool
///     Whether host memory is treated like GPU memory.
///
/// Returns
/// -------
/// bool
///     Previous value.
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
    let previous = is_strict();
    STRICT.store(u8::from(strict), Ordering::Relaxed);
    previous
}

names! {
    internal_functions: _set_strict;
}
