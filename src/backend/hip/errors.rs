//! The runtime's refusals in words: its own name and text, the values of the call, and what to do where that is known.

use std::ffi::{CStr, c_char};
use std::fmt::Write;

use super::sys::{
    Api, hipErrorAssert, hipErrorECCNotCorrectable, hipErrorIllegalAddress, hipErrorLaunchFailure,
    hipErrorLaunchTimeOut,
};
use crate::error::{DriverError, Error, OutOfMemory};

pub use super::sys::{
    hipErrorInvalidDevice as INVALID_DEVICE, hipErrorInvalidValue as INVALID_VALUE, hipErrorNoDevice as NO_DEVICE,
    hipErrorNotReady as NOT_READY, hipErrorOutOfMemory as OUT_OF_MEMORY,
    hipErrorPeerAccessAlreadyEnabled as PEER_ACCESS_ALREADY_ENABLED, hipSuccess as SUCCESS,
};

const UNKNOWN: &str = "unrecognized error code";

/// Codes after which every further call of the process fails on the device: a kernel or a copy went wrong on the device
/// itself.
const STICKY: [u32; 5] =
    [hipErrorECCNotCorrectable, hipErrorIllegalAddress, hipErrorLaunchTimeOut, hipErrorAssert, hipErrorLaunchFailure];

/// The runtime's name of a code.
pub fn name(api: &Api, code: u32) -> String {
    // SAFETY: takes any number.
    look_up(unsafe { (api.hipGetErrorName)(code) })
}

/// The runtime's explanation of a code; old ones only repeat the name.
pub fn text(api: &Api, code: u32) -> String {
    // SAFETY: takes any number.
    look_up(unsafe { (api.hipGetErrorString)(code) })
}

fn look_up(text: *const c_char) -> String {
    if text.is_null() {
        return UNKNOWN.to_owned();
    }
    // SAFETY: the runtime gives a C string, which is copied before its next call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The name of a device in messages; empty where none is concerned.
pub fn device_name(device: Option<i32>) -> String {
    device.map_or_else(String::new, |device| format!("hip:{device}"))
}

/// Takes back the runtime's note of a failed call: another library of the thread that asks for the last error, as is usual
/// after launching a kernel, would take it for its own.
fn forget_last_error(api: &Api) {
    // SAFETY: has no preconditions. What it returns is known.
    unsafe { (api.hipGetLastError)() };
}

/// Success in place of the one code that is an answer and no failure.
#[inline]
pub fn tolerated(api: &Api, code: u32, answer: u32) -> u32 {
    if code != answer {
        return code;
    }
    forget_last_error(api);
    SUCCESS
}

/// The refusal of a call.
#[cold]
pub fn refusal(api: &Api, code: u32, operation: &'static str, device: Option<i32>, mut detail: String) -> Error {
    forget_last_error(api);
    if STICKY.contains(&code) {
        let separator = if detail.is_empty() { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(
            detail,
            "{separator}a kernel or copy, perhaps an earlier one, failed on the device: only a new process can use the \
             device again"
        );
    }
    let device = device_name(device);
    let (name, text) = (name(api, code), text(api, code));
    Error::Driver(Box::new(DriverError { operation, code, name, text, device, detail }))
}

/// The refusal of an allocation: want of memory is told with what there is. The device is current.
#[cold]
pub fn allocation_refusal(api: &Api, code: u32, operation: &'static str, device: i32, bytes: usize) -> Error {
    if code != OUT_OF_MEMORY {
        return refusal(api, code, operation, Some(device), format!("{bytes} bytes"));
    }
    forget_last_error(api);
    let (mut free, mut total) = (0, 0);
    // SAFETY: both targets are writable.
    let answered = unsafe { (api.hipMemGetInfo)(&mut free, &mut total) } == SUCCESS;
    Error::OutOfMemory(Box::new(OutOfMemory {
        operation,
        name: name(api, code),
        text: text(api, code),
        requested: bytes,
        device: device_name(Some(device)),
        free: answered.then_some(free),
        total: answered.then_some(total),
        used: 0,
        limit: None,
    }))
}

/// The refusal of pinned host memory: the device's free memory says nothing about it.
#[cold]
pub fn host_allocation_refusal(api: &Api, code: u32, operation: &'static str, device: i32, bytes: usize) -> Error {
    if code != OUT_OF_MEMORY {
        return refusal(api, code, operation, Some(device), format!("{bytes} bytes"));
    }
    forget_last_error(api);
    let device = format!("the host (pinned memory for hip:{device})");
    let (name, text) = (name(api, code), text(api, code));
    let (free, total, used) = (None, None, 0);
    Error::OutOfMemory(Box::new(OutOfMemory {
        operation,
        name,
        text,
        requested: bytes,
        device,
        free,
        total,
        used,
        limit: None,
    }))
}
