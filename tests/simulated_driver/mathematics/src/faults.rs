//! Calls that are counted, and made to fail when a test asks for it.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Known {
    calls: u64,
    /// Calls until one fails, and its code.
    fault: Option<(u64, u32)>,
}

static KNOWN: Mutex<Option<HashMap<String, Known>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashMap<String, Known>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts a call; the code that it fails with, if a test asked for that.
pub fn begin(name: &str) -> Option<u32> {
    let mut known = known();
    let own = known.get_or_insert_default().entry(name.to_owned()).or_default();
    own.calls += 1;
    let (left, code) = own.fault?;
    own.fault = (left > 1).then_some((left - 1, code));
    (left <= 1).then_some(code)
}

/// # Safety
/// The name is a text of C's.
unsafe fn text(name: *const c_char) -> String {
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// The nth call from now of this file's function returns the code.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_mathematics_fault(name: *const c_char, nth: u64, code: u32) {
    // SAFETY: promised by the caller.
    let name = unsafe { text(name) };
    known().get_or_insert_default().entry(name).or_default().fault = Some((nth, code));
}

/// Calls of this file's function so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sim_mathematics_calls(name: *const c_char) -> u64 {
    // SAFETY: promised by the caller.
    let name = unsafe { text(name) };
    known().get_or_insert_default().get(&name).map_or(0, |known| known.calls)
}
