//! CPython functions outside the limited API of 3.11, the only one that a wheel for all versions may link against. They are looked
//! up in the process, with a fallback if missing. `make check` verifies the wheel (`abi3audit`).

use std::ffi::{CStr, c_int, c_void};

use pyo3::ffi;

use pygpu_base::fork_safe::ForkSafeOnce;

/// In the limited API from 3.12 on, in every CPython from 3.9 on: its replacement costs as much as the whole import of an array.
pub(super) type VectorcallMethod = unsafe extern "C" fn(
    name: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// In the limited API from 3.12 on, in every CPython from 3.9 on: without it each call creates a tuple of its arguments.
pub(super) type Vectorcall = unsafe extern "C" fn(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// `PyGILState_Check`. No limited API contains it, or another way to query whether this thread holds the GIL.
type GilStateCheck = unsafe extern "C" fn() -> c_int;

fn address(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a C string; the interpreter that imports this module is visible to it.
    #[cfg(unix)]
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    #[cfg(not(unix))]
    let symbol: *mut c_void = {
        let _ = name;
        std::ptr::null_mut()
    };
    (!symbol.is_null()).then_some(symbol)
}

/// `PyObject_VectorcallMethod`.
#[inline]
pub(super) fn vectorcall_method() -> Option<VectorcallMethod> {
    static SYMBOL: ForkSafeOnce<Option<VectorcallMethod>> = ForkSafeOnce::new();
    // SAFETY: CPython's function of that name has this type in every version that has it.
    *SYMBOL.get_or_init(|| address(c"PyObject_VectorcallMethod").map(|symbol| unsafe { std::mem::transmute(symbol) }))
}

/// `PyObject_Vectorcall`.
#[inline]
pub(super) fn vectorcall() -> Option<Vectorcall> {
    static SYMBOL: ForkSafeOnce<Option<Vectorcall>> = ForkSafeOnce::new();
    // SAFETY: as in `vectorcall_method`.
    *SYMBOL.get_or_init(|| address(c"PyObject_Vectorcall").map(|symbol| unsafe { std::mem::transmute(symbol) }))
}

/// Whether this thread holds the GIL, by `PyGILState_Check`; false if that is missing.
///
/// # Safety
/// The interpreter is initialized, and has a state for the thread.
pub(super) unsafe fn holds_gil() -> bool {
    static SYMBOL: ForkSafeOnce<Option<GilStateCheck>> = ForkSafeOnce::new();
    // SAFETY: as above.
    let symbol =
        SYMBOL.get_or_init(|| address(c"PyGILState_Check").map(|symbol| unsafe { std::mem::transmute(symbol) }));
    // SAFETY: guaranteed by the caller.
    symbol.is_some_and(|check| unsafe { check() } == 1)
}
