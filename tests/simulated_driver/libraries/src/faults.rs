//! Counts the calls of the mathematical libraries, and makes a call fail if a test requests it.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Known {
    calls: u64,
    /// The number of the future call that fails (1 is the next call), and its error code.
    fault: Option<(u64, u32)>,
}

static KNOWN: Mutex<Option<HashMap<String, Known>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashMap<String, Known>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call of a function; returns an error code if the test requested that this call fails.
pub fn begin(name: &str) -> Option<u32> {
    let mut known = known();
    let own = known.get_or_insert_default().entry(name.to_owned()).or_default();
    own.calls += 1;
    let (left, code) = own.fault?;
    own.fault = (left > 1).then_some((left - 1, code));
    (left <= 1).then_some(code)
}

/// Copies a C string.
///
/// # Safety
/// `name` must refer to a C string.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: the caller of this function guarantees that `name` refers to a C string.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Makes one future call of a mathematical function fail with `code`: the `nth` call from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_library_fault(name: *const c_char, nth: u64, code: u32) {
    // SAFETY: the caller of the C function guarantees that `name` refers to a C string.
    let name = unsafe { text(name) };
    known().get_or_insert_default().entry(name).or_default().fault = Some((nth, code));
}

/// Returns how often a mathematical function was called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_library_calls(name: *const c_char) -> u64 {
    // SAFETY: the caller of the C function guarantees that `name` refers to a C string.
    let name = unsafe { text(name) };
    known().get_or_insert_default().get(&name).map_or(0, |known| known.calls)
}
