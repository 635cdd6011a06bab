//! Counts calls, and makes them fail when a test requests it.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Known {
    calls: u64,
    /// Number of calls until one fails, and its code.
    fault: Option<(u64, u32)>,
}

static KNOWN: Mutex<Option<HashMap<String, Known>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashMap<String, Known>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call; returns the code of an injected fault.
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
/// The name is a C string.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: guaranteed by the caller.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// Makes the nth call from now of a function in this file fail with the code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_mathematics_fault(name: *const c_char, nth: u64, code: u32) {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { text(name) };
    known().get_or_insert_default().entry(name).or_default().fault = Some((nth, code));
}

/// Returns the number of calls of a function in this file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_mathematics_calls(name: *const c_char) -> u64 {
    // SAFETY: guaranteed by the caller.
    let name = unsafe { text(name) };
    known().get_or_insert_default().get(&name).map_or(0, |known| known.calls)
}
