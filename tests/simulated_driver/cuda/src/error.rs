//! Defines the initialization of the CUDA driver, and the functions that return names of error codes.

use std::ffi::c_char;
use std::sync::atomic::Ordering;

use simulated_core::error_codes::{ALL, INVALID_VALUE, NO_DEVICE};

use crate::entry::{INITIALIZED, Out, export};

/// Reported version of the driver: CUDA 12.8.
const VERSION: i32 = 12080;

export! {
    fn cuInit(on, flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if on.driver.device_count() == 0 {
            return Err(NO_DEVICE);
        }
        INITIALIZED.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn cuDriverGetVersion(_on, version: Out<i32>) {
        version.put(VERSION)
    }

    fn cuGetErrorName(_on, code: u32, text: Out<*const c_char>) {
        let found = ALL.iter().find(|entry| entry.0 == code);
        text.put(found.map_or(std::ptr::null(), |entry| entry.1.as_ptr().cast()))?;
        found.map(drop).ok_or(INVALID_VALUE)
    }

    fn cuGetErrorString(_on, code: u32, text: Out<*const c_char>) {
        let found = ALL.iter().find(|entry| entry.0 == code);
        text.put(found.map_or(std::ptr::null(), |entry| entry.2.as_ptr().cast()))?;
        found.map(drop).ok_or(INVALID_VALUE)
    }
}
