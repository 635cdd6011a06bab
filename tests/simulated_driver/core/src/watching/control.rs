//! What tests steer the driver with, from inside the process: the functions with the prefix `sim_`.
//!
//! They are defined once, here, and each export layer puts them into its library with [`export_controls!`].

use std::ffi::{CStr, c_char};

use crate::config::Delay;
use crate::driver::Driver;
use crate::fault::{Fault, Manner};
use crate::finding::quoted;
use crate::stream::LEGACY;

/// `times` of `sim_fault` for a fault after which the context is lost.
pub const STICKY: i64 = -1;
/// `times` of `sim_fault` for a call that succeeds and whose work fails later.
pub const ASYNCHRONOUS: i64 = -2;

/// The text of a C string; empty where there is none.
///
/// # Safety
/// `text` is null or a C string.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Writes as much of `text` as fits, ended by a zero; how many bytes there are without it.
///
/// # Safety
/// `buffer` is writable for `length` bytes, or null.
pub unsafe fn give(text: &str, buffer: *mut c_char, length: usize) -> usize {
    if !buffer.is_null() && length > 0 {
        let count = text.len().min(length - 1);
        // SAFETY: the caller promises the buffer.
        unsafe {
            buffer.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), count);
            buffer.add(count).write(0);
        }
    }
    text.len()
}

/// A JSON list of texts.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

impl Driver {
    /// Plants a fault; `false` for arguments that mean nothing.
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

    /// Delays the operations of a stream; 0 stands for all streams, 1 for the default streams of all devices.
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

    /// The findings so far, as a JSON list.
    pub fn reports(&self) -> String {
        list(self.lock().findings.lines())
    }

    /// Forgets the findings so far.
    pub fn forget_reports(&self) {
        self.lock().findings.clear();
    }

    /// What was made and not given back, as a JSON object.
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

/// Defines the functions with the prefix `sim_` in an export layer, given the list of its exported names.
#[macro_export]
macro_rules! export_controls {
    ($names:expr) => {
        /// The functions that tests steer the driver with.
        mod controls {
            #![allow(clippy::missing_safety_doc)]
            use std::ffi::{c_char, c_int};
            use $crate::Driver;
            use $crate::config::Delay;
            use $crate::control::{give, list, text};

            /// Plants a fault in the nth call from now; `times` -1: the context is lost, -2: the work fails later.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_fault(name: *const c_char, nth: u64, code: u32, times: i64) -> c_int {
                // SAFETY: the caller gives a C string.
                let name = unsafe { text(name) };
                let known = $names.contains(&name.as_str());
                let planted = known && Driver::of_process().is_some_and(|driver| driver.plant(name, nth, code, times));
                if planted { 0 } else { 1 }
            }

            /// Takes back the faults that have not shown yet.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_clear_faults() {
                if let Some(driver) = Driver::of_process() {
                    driver.faults.clear();
                }
            }

            /// Delays each operation of a stream (0: of all, 1: of the default streams).
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_delay(stream: u64, microseconds: u64) {
                sim_delay_between(stream, microseconds, microseconds);
            }

            /// The same, at random between two bounds.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_delay_between(stream: u64, least: u64, most: u64) {
                if let Some(driver) = Driver::of_process() {
                    driver.delay(stream, Delay { least, most: most.max(least) });
                }
            }

            /// How much memory a device has from now on.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_set_memory_limit(device: c_int, bytes: u64) -> c_int {
                let set = Driver::of_process().map(|driver| driver.set_memory_limit(device, bytes));
                if set == Some(Ok(())) { 0 } else { 1 }
            }

            /// The findings so far, as a JSON list; the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_reports(buffer: *mut c_char, length: usize) -> usize {
                let reports = Driver::of_process().map_or_else(String::new, Driver::reports);
                // SAFETY: the caller gives a buffer of that length.
                unsafe { give(&reports, buffer, length) }
            }

            /// Forgets the findings so far.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_forget_reports() {
                if let Some(driver) = Driver::of_process() {
                    driver.forget_reports();
                }
            }

            /// How often a call was made.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_call_count(name: *const c_char) -> u64 {
                // SAFETY: the caller gives a C string.
                let name = unsafe { text(name) };
                Driver::of_process().map_or(0, |driver| driver.faults.calls(&name))
            }

            /// The names of all calls, as a JSON list; the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_calls(buffer: *mut c_char, length: usize) -> usize {
                let names = list($names.iter().map(|name| format!("\"{name}\"")));
                // SAFETY: the caller gives a buffer of that length.
                unsafe { give(&names, buffer, length) }
            }

            /// What was made and not given back, as a JSON object; the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_live(buffer: *mut c_char, length: usize) -> usize {
                let live = Driver::of_process().map_or_else(String::new, Driver::live);
                // SAFETY: the caller gives a buffer of that length.
                unsafe { give(&live, buffer, length) }
            }

            /// The last launches with attributes, as a JSON list; the length of the text.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn sim_launches(buffer: *mut c_char, length: usize) -> usize {
                // SAFETY: the caller gives a buffer of that length.
                unsafe { give(&list($crate::module::launches()), buffer, length) }
            }

            /// Takes back all faults, delays, limits and failed contexts, as only a new process could.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_reset_state() {
                if let Some(driver) = Driver::of_process() {
                    driver.revive();
                }
            }

            /// Lets host code reach the memory of a device at its addresses, or not.
            #[unsafe(no_mangle)]
            pub extern "C" fn sim_unseal(device: c_int, open: c_int) -> c_int {
                let done = Driver::of_process().map(|driver| driver.unseal(device, open != 0));
                if done == Some(Ok(())) { 0 } else { 1 }
            }
        }
    };
}
