//! Implements strict mode, which `PYGPU_STRICT=1` enables. In strict mode, PyGPU arrays in host memory reject the
//! accesses that GPU arrays reject. A program that runs on the CPU in strict mode therefore also runs on a GPU.
//!
//! Strict mode disables two accesses to host memory. First, NumPy cannot read a PyGPU array in place (`numpy.asarray`,
//! `__array_interface__`). Second, PyGPU's `asarray` without a device argument does not share the memory of an ndarray.
//! DLPack stays enabled, because DLPack reports that the memory is on the host. Even without strict mode, NumPy cannot
//! read a PyGPU array in place while a PyGPU function converts its arguments ([`without_host_arrays`]). Therefore
//! PyGPU's functions behave alike on all devices.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering};

use pyo3::prelude::*;

use crate::exported_names::names;

use pygpu_base::settings::{self, Variable};

/// Whether strict mode is enabled: 0 or 1. Any other number means that the environment variable `PYGPU_STRICT` was not
/// read yet.
static STRICT: AtomicU8 = AtomicU8::new(u8::MAX);
thread_local! {
    /// Number of active calls of [`without_host_arrays`] on this thread.
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
    let strict = settings::get().is_on(Variable::STRICT, false);
    STRICT.store(u8::from(strict), Ordering::Relaxed);
    strict
}

/// Returns whether NumPy may read an array in host memory in place.
pub(crate) fn allows_reading() -> bool {
    !is_strict() && CONVERSIONS.get() == 0
}

/// Runs NumPy's conversion of an argument of a PyGPU function. The conversion rejects a PyGPU array in host memory like
/// an array on a GPU.
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

/// Sets the value of `PYGPU_STRICT`, for tests of features that strict mode disables.
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
