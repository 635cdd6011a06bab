//! Defines functions with the prefix `sim_`, by which tests control the driver of the test process.
//!
//! The CUDA and the HIP library each export them by `export_controls!`.

use std::ffi::{CStr, c_char};

use crate::config::Delay;
use crate::driver::Driver;
use crate::fault::{Fault, Manner};
use crate::finding::quoted;
use crate::stream::LEGACY;

/// Value of the argument `times` of `sim_fault`: the call fails, and the context is unusable afterwards.
pub const STICKY: i64 = -1;
/// Value of the argument `times` of `sim_fault`: the call succeeds, and its work fails later.
pub const ASYNCHRONOUS: i64 = -2;

/// Copies a C string; returns an empty string for null.
///
/// # Safety
/// `text` must be null or refer to a C string.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the pointer is not null, and the caller of this function guarantees that it refers to a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Writes as much of `text` as fits into `buffer`, with a final zero byte; returns the length of the whole text without
/// that byte.
///
/// # Safety
/// `buffer` must be null or writable for `length` bytes.
pub unsafe fn give(text: &str, buffer: *mut c_char, length: usize) -> usize {
    if !buffer.is_null() && length > 0 {
        let count = text.len().min(length - 1);
        // SAFETY: the caller of this function guarantees that `buffer` is writable for `length` bytes.
        unsafe {
            buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
            buffer.add(count).write(0);
        }
    }
    text.len()
}

/// Formats a JSON list of texts.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

impl Driver {
    /// Injects a fault; returns false for invalid arguments.
    pub fn plant(&self, name: String, nth: u64, code: u32, times: i64) -> bool {
        let manner = match times {
            STICKY => Manner::Sticky,
            ASYNCHRONOUS => Manner::Asynchronous,
            times => match u64::try_from(times) {
                Ok(times) if times > 0 => Manner::Times(times),
                _ => return false,
            },
        };
        if name.is_empty() || nth == 0 || code == 0 {
            return false;
        }
        self.faults.arm(Fault { name, nth, code, manner });
        true
    }

    /// Sets the delay before each operation of a stream. The stream 0 stands for all streams, and 1 for the default
    /// streams of all devices.
    pub fn delay(&self, stream: u64, delay: Delay) {
        match stream {
            0 => self.set_delay(None, delay),
            LEGACY => {
                let legacy: Vec<u64> = self.lock().devices.iter().map(|device| device.legacy).collect();
                legacy.into_iter().for_each(|stream| self.set_delay(Some(stream), delay));
            }
            handle => {
                let known = self.lock().stream_handles.get(&handle).copied();
                known.into_iter().for_each(|stream| self.set_delay(Some(stream), delay));
            }
        }
    }

    /// Returns all findings so far as a JSON list.
    pub fn reports(&self) -> String {
        list(self.lock().findings.lines())
    }

    /// Clears the findings so far.
    pub fn forget_reports(&self) {
        self.lock().findings.clear();
    }

    /// Returns all objects that the program has not destroyed, as a JSON object.
    pub fn live(&self) -> String {
        let state = self.lock();
        let allocations = state.allocations.iter().map(|(start, block)| {
            let (device, bytes, pool) = (block.device, block.bytes, block.pool.unwrap_or(0));
            format!(r#"{{"address": {start}, "bytes": {bytes}, "device": {device}, "pool": {pool}}}"#)
        });
        let host = state.host.iter().map(|(start, block)| {
            let kind = quoted(&format!("{:?}", block.kind).to_lowercase());
            format!(r#"{{"address": {start}, "bytes": {}, "kind": {kind}}}"#, block.bytes)
        });
        let pools = state.pools.iter().filter(|(_, pool)| !pool.is_default && !pool.destroyed);
        format!(
            r#"{{"allocations": {}, "host": {}, "streams": {}, "events": {}, "pools": {}}}"#,
            list(allocations),
            list(host),
            list(state.stream_handles.keys().map(u64::to_string)),
            list(state.events.keys().map(u64::to_string)),
            list(pools.map(|pool| pool.0.to_string())),
        )
    }
}

/// Defines the functions with the prefix `sim_` in the CUDA or HIP library. The argument is the list of the names that
/// the library exports.
#[macro_export]
macro_rules! export_controls {
    ($names:expr) => {
        /// Contains the functions by which tests control the driver.
        mod controls {
            #![allow(clippy::missing_safety_doc)]
            use std::ffi::{c_char, c_int};
            use $crate::Driver;
            use $crate::config::Delay;
            use $crate::control_functions::{give, list, text};

            /// Makes the nth call of a function, counted from now on, fail `times` times in a row. With `times` = -1 the
            /// context fails too; with -2 the call succeeds and its work fails later.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_fault(name: *const c_char, nth: u64, code: u32, times: i64) -> c_int {
                // SAFETY: the caller of the C function guarantees that the name is a C string.
                let name = unsafe { text(name) };
                let known = $names.contains(&name.as_str());
                let planted = known && Driver::of_process().is_some_and(|driver| driver.plant(name, nth, code, times));
                if planted { 0 } else { 1 }
            }

            /// Removes the faults that have not occurred yet.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_clear_faults() {
                if let Some(driver) = Driver::of_process() {
                    driver.faults.clear();
                }
            }

            /// Sets the delay before each operation of a stream. The stream 0 stands for all streams, and 1 for the
            /// default streams.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_delay(stream: u64, microseconds: u64) {
                sim_delay_between(stream, microseconds, microseconds);
            }

            /// Sets random delays between two limits before each operation of a stream. The streams 0 and 1 have the
            /// meaning that they have in `sim_delay`.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_delay_between(stream: u64, least: u64, most: u64) {
                if let Some(driver) = Driver::of_process() {
                    driver.delay(stream, Delay { least, most: most.max(least) });
                }
            }

            /// Sets the size of a device's memory.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_set_memory_limit(device: c_int, bytes: u64) -> c_int {
                let set = Driver::of_process().map(|driver| driver.set_memory_limit(device, bytes));
                if set == Some(Ok(())) { 0 } else { 1 }
            }

            /// Writes the findings so far as a JSON list; returns the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_reports(buffer: *mut c_char, length: usize) -> usize {
                let reports = Driver::of_process().map_or_else(String::new, Driver::reports);
                // SAFETY: the caller of the C function guarantees that `buffer` is writable for `length` bytes.
                unsafe { give(&reports, buffer, length) }
            }

            /// Clears the findings so far.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_forget_reports() {
                if let Some(driver) = Driver::of_process() {
                    driver.forget_reports();
                }
            }

            /// Returns how often the program has called a function of the driver.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_call_count(name: *const c_char) -> u64 {
                // SAFETY: the caller of the C function guarantees that the name is a C string.
                let name = unsafe { text(name) };
                Driver::of_process().map_or(0, |driver| driver.faults.calls(&name))
            }

            /// Returns the bytes that copies have moved from the host to devices or, if the argument is not 0, from devices
            /// to the host.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_transferred(to_host: c_int) -> u64 {
                $crate::copy::transferred(to_host != 0)
            }

            /// Writes the names of all driver functions that the program has called as a JSON list; returns the length
            /// of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_calls(buffer: *mut c_char, length: usize) -> usize {
                let names = list($names.iter().map(|name| format!("\"{name}\"")));
                // SAFETY: the caller of the C function guarantees that `buffer` is writable for `length` bytes.
                unsafe { give(&names, buffer, length) }
            }

            /// Writes all objects that the program has not destroyed as a JSON object; returns the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_live(buffer: *mut c_char, length: usize) -> usize {
                let live = Driver::of_process().map_or_else(String::new, Driver::live);
                // SAFETY: the caller of the C function guarantees that `buffer` is writable for `length` bytes.
                unsafe { give(&live, buffer, length) }
            }

            /// Writes the recent launches with attributes as a JSON list; returns the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_launches(buffer: *mut c_char, length: usize) -> usize {
                // SAFETY: the caller of the C function guarantees that `buffer` is writable for `length` bytes.
                unsafe { give(&list($crate::module::launches()), buffer, length) }
            }

            /// Clears all injected faults, delays, memory limits and failed contexts. With a real driver, a failed
            /// context requires a new process.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_reset_state() {
                if let Some(driver) = Driver::of_process() {
                    driver.revive();
                }
            }

            /// Allows or forbids host code to access a device's memory at the addresses that programs use.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_unseal(device: c_int, open: c_int) -> c_int {
                let done = Driver::of_process().map(|driver| driver.unseal(device, open != 0));
                if done == Some(Ok(())) { 0 } else { 1 }
            }
        }
    };
}
