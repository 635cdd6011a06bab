//! Defines the initialization of the HIP runtime, the names of its error codes, and the last error of each thread.

use std::cell::Cell;
use std::ffi::c_char;

use simulated_core::error_codes::{ALL, INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, SUCCESS};

use crate::entry::{Out, export};

/// Reported version of the runtime: HIP 7.2.
const VERSION: i32 = 70_253_211;

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(SUCCESS) };
}

/// Stores a code as the last error of the thread, and returns the code.
pub fn remember(code: u32) -> u32 {
    // Ignore the error of storing the thread-local value, which occurs only while the thread terminates.
    let _ = LAST.try_with(|last| last.set(code));
    code
}

/// HIP's names of the error codes that the simulated GPU returns.
const HIP_NAMES: &[(u32, &str)] = &[
    (0, "hipSuccess\0"),
    (1, "hipErrorInvalidValue\0"),
    (2, "hipErrorOutOfMemory\0"),
    (3, "hipErrorNotInitialized\0"),
    (4, "hipErrorDeinitialized\0"),
    (100, "hipErrorNoDevice\0"),
    (101, "hipErrorInvalidDevice\0"),
    (201, "hipErrorInvalidContext\0"),
    (214, "hipErrorECCNotCorrectable\0"),
    (217, "hipErrorPeerAccessUnsupported\0"),
    (304, "hipErrorOperatingSystem\0"),
    (400, "hipErrorInvalidHandle\0"),
    (401, "hipErrorIllegalState\0"),
    (500, "hipErrorNotFound\0"),
    (600, "hipErrorNotReady\0"),
    (700, "hipErrorIllegalAddress\0"),
    (701, "hipErrorLaunchOutOfResources\0"),
    (702, "hipErrorLaunchTimeOut\0"),
    (704, "hipErrorPeerAccessAlreadyEnabled\0"),
    (705, "hipErrorPeerAccessNotEnabled\0"),
    (709, "hipErrorContextIsDestroyed\0"),
    (710, "hipErrorAssert\0"),
    (712, "hipErrorHostMemoryAlreadyRegistered\0"),
    (713, "hipErrorHostMemoryNotRegistered\0"),
    (719, "hipErrorLaunchFailure\0"),
    (720, "hipErrorCooperativeLaunchTooLarge\0"),
    (801, "hipErrorNotSupported\0"),
    (910, "hipErrorGraphExecUpdateFailure\0"),
];

fn named(code: u32) -> &'static str {
    HIP_NAMES.iter().find(|entry| entry.0 == code).map_or("hipErrorUnknown\0", |entry| entry.1)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: u32) -> *const c_char {
    named(code).as_ptr().cast()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: u32) -> *const c_char {
    let known = ALL.iter().find(|entry| entry.0 == code && code != NO_DEVICE);
    known.map_or(named(code), |entry| entry.2).as_ptr().cast()
}

/// Returns the last error of the calling thread and clears it. The function is not defined by [`export`], because the
/// code that it returns is not its own error.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> u32 {
    LAST.try_with(|last| last.replace(SUCCESS)).unwrap_or(SUCCESS)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> u32 {
    LAST.try_with(Cell::get).unwrap_or(SUCCESS)
}

export! {
    fn hipInit(on, flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        // AMD's runtime returns this code on a machine without devices.
        if on.driver.device_count() == 0 { Err(INVALID_DEVICE) } else { Ok(()) }
    }

    fn hipRuntimeGetVersion(_on, version: Out<i32>) {
        version.put(VERSION)
    }

    fn hipDriverGetVersion(_on, version: Out<i32>) {
        version.put(VERSION)
    }
}
