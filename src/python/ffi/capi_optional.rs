//! Looks up CPython functions outside the limited API of Python 3.11. A wheel for all versions may link against that
//! API only. Therefore these functions are looked up in the process, with a fallback for missing functions. `make
//! check` verifies the wheel (`abi3audit`).

use std::ffi::{CStr, c_int, c_void};

use pyo3::ffi;

use pygpu_base::fork_safe::ForkSafeOnce;

/// `PyObject_VectorcallMethod`: in the limited API since 3.12, and in every CPython since 3.9. Without this function, a
/// method call with keywords costs as much as the whole import of an array.
pub(super) type VectorcallMethod = unsafe extern "C" fn(
    name: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// `PyObject_Vectorcall`: in the limited API since 3.12, and in every CPython since 3.9. Without this function each
/// call creates a tuple of its arguments.
pub(super) type Vectorcall = unsafe extern "C" fn(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject;

/// `PyGILState_Check`: in no limited API. A limited API has no other function that reports whether this thread holds
/// the GIL.
type GilStateCheck = unsafe extern "C" fn() -> c_int;

fn address(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `name` is a null-terminated C string, and the interpreter that imported this module makes its symbols
    // visible in the process.
    #[cfg(unix)]
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    #[cfg(not(unix))]
    let symbol: *mut c_void = {
        let _ = name;
        std::ptr::null_mut()
    };
    (!symbol.is_null()).then_some(symbol)
}

/// Returns `PyObject_VectorcallMethod`; `None` if the interpreter lacks it.
#[inline]
pub(super) fn vectorcall_method() -> Option<VectorcallMethod> {
    static SYMBOL: ForkSafeOnce<Option<VectorcallMethod>> = ForkSafeOnce::new();
    // SAFETY: the symbol is `PyObject_VectorcallMethod`, which has this type in every CPython version that contains it.
    *SYMBOL.get_or_init(|| address(c"PyObject_VectorcallMethod").map(|symbol| unsafe { std::mem::transmute(symbol) }))
}

/// Returns `PyObject_Vectorcall`; `None` if the interpreter lacks it.
#[inline]
pub(super) fn vectorcall() -> Option<Vectorcall> {
    static SYMBOL: ForkSafeOnce<Option<Vectorcall>> = ForkSafeOnce::new();
    // SAFETY: the symbol is `PyObject_Vectorcall`, which has this type in every CPython version that contains it.
    *SYMBOL.get_or_init(|| address(c"PyObject_Vectorcall").map(|symbol| unsafe { std::mem::transmute(symbol) }))
}

/// Returns whether `PyGILState_Check` reports that this thread holds the GIL; false if the interpreter lacks that
/// function.
///
/// # Safety
/// The interpreter is initialized, and has a state for the thread.
pub(super) unsafe fn holds_gil() -> bool {
    static SYMBOL: ForkSafeOnce<Option<GilStateCheck>> = ForkSafeOnce::new();
    // SAFETY: the symbol is `PyGILState_Check`, which has this type in every CPython version that contains it.
    let symbol =
        SYMBOL.get_or_init(|| address(c"PyGILState_Check").map(|symbol| unsafe { std::mem::transmute(symbol) }));
    // SAFETY: the caller guarantees an initialized interpreter with a state for the thread.
    symbol.is_some_and(|check| unsafe { check() } == 1)
}
