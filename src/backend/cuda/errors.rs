//! The driver's refusals in words: its own name and text, the values of the call, and what to do where that is known.

use std::ffi::{CStr, c_char};
use std::fmt::Write;

use super::sys::Api;
use crate::error::{DriverError, Error, OutOfMemory};

pub const SUCCESS: u32 = 0;
pub const INVALID_VALUE: u32 = 1;
pub const OUT_OF_MEMORY: u32 = 2;
pub const INVALID_DEVICE: u32 = 101;
pub const NOT_READY: u32 = 600;
pub const PEER_ACCESS_ALREADY_ENABLED: u32 = 704;
pub const NOT_SUPPORTED: u32 = 801;

const UNKNOWN: &str = "unrecognized error code";

/// Codes after which every further call of the process fails on the device: a kernel or a copy went wrong on the device
/// itself (ECC, NVLink, containment; illegal address, time-out, assert, stack, instruction, alignment, address space,
/// program counter, launch, tensor memory).
const STICKY: [u32; 13] = [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721];

/// The driver's name of a code.
pub fn name(api: &Api, code: u32) -> String {
    // SAFETY: the pointer is the driver's function.
    look_up(|text| unsafe { (api.cuGetErrorName)(code, text) })
}

/// The driver's explanation of a code.
pub fn text(api: &Api, code: u32) -> String {
    // SAFETY: the pointer is the driver's function.
    look_up(|text| unsafe { (api.cuGetErrorString)(code, text) })
}

fn look_up(ask: impl FnOnce(*mut *const c_char) -> u32) -> String {
    let mut text = std::ptr::null();
    if ask(&mut text) != SUCCESS || text.is_null() {
        return UNKNOWN.to_owned();
    }
    // SAFETY: on success the driver gives a C string that is constant for the life of the process.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The name of a device in messages; empty where none is concerned.
pub fn device_name(device: Option<i32>) -> String {
    device.map_or_else(String::new, |device| format!("cuda:{device}"))
}

/// The refusal of a call.
#[cold]
pub fn refusal(api: &Api, code: u32, operation: &'static str, device: Option<i32>, mut detail: String) -> Error {
    if STICKY.contains(&code) {
        let separator = if detail.is_empty() { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(
            detail,
            "{separator}a kernel or copy, perhaps an earlier one, failed on the device: its context is unusable from \
             now on, and only a new process can use the device again"
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
    let (mut free, mut total) = (0, 0);
    // SAFETY: both targets are writable.
    let answered = unsafe { (api.cuMemGetInfo_v2)(&mut free, &mut total) } == SUCCESS;
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
    let device = format!("the host (pinned memory for cuda:{device})");
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
