//! Creates the error messages of driver calls. A message contains the driver's own name and text of the error, the
//! arguments of the call, and the remedy if one is known.

use std::ffi::{CStr, c_char};
use std::fmt::Write;

use super::driver::{Driver, Vendor};
use crate::error_codes::{OUT_OF_MEMORY, SUCCESS};
use pygpu_base::error::{DriverError, Error, OutOfMemory};

const UNKNOWN: &str = "unrecognized error code";

/// The error codes and messages of a vendor's library.
pub trait VendorErrors: Vendor {
    /// Codes of failures of a kernel or copy on the device itself, after which every further call of the process on
    /// this device fails.
    const STICKY: &'static [u32];
    /// Text for error messages. It states the effect on the process of an error whose code is in `STICKY`.
    const STICKY_ADVICE: &'static str;
    /// Returns the driver's name of an error code.
    fn name(api: &Self::Api, code: u32) -> String;
    /// Returns the driver's explanation of an error code.
    fn text(api: &Self::Api, code: u32) -> String;
    /// Clears the error that the library stores after a failed call, if other libraries could take this error for their
    /// own.
    fn forget_last_error(api: &Self::Api);
}

/// Copies a text of the driver; empty for null.
///
/// # Safety
/// `text` is null, or a C string that does not change before this function returns.
pub unsafe fn spoken(text: *const c_char) -> String {
    if text.is_null() {
        return UNKNOWN.to_owned();
    }
    // SAFETY: the caller guarantees that the text is a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

impl<V: VendorErrors> Driver<V> {
    /// If the code is `answer`, which the caller expects, clears the error that the library stores and returns success.
    /// Other codes are returned unchanged.
    #[inline]
    pub fn tolerated(&self, code: u32, answer: u32) -> u32 {
        if code != answer {
            return code;
        }
        V::forget_last_error(&self.api);
        SUCCESS
    }

    /// Creates the error of a failed call.
    #[cold]
    pub fn refusal(&self, code: u32, operation: &'static str, device: Option<i32>, mut detail: String) -> Error {
        V::forget_last_error(&self.api);
        if V::STICKY.contains(&code) {
            let separator = if detail.is_empty() { "" } else { "; " };
            // Writing to a string cannot fail.
            let _ = write!(
                detail,
                "{separator}a kernel or copy, perhaps an earlier one, failed on the device: {}",
                V::STICKY_ADVICE
            );
        }
        let device = device.map_or_else(String::new, device_name::<V>);
        let (name, text) = (V::name(&self.api, code), V::text(&self.api, code));
        Error::Driver(Box::new(DriverError { operation, code, name, text, device, detail }))
    }

    /// Creates the error of a failed allocation. If memory is exhausted, the message includes the free memory. The
    /// device must be current.
    #[cold]
    pub fn allocation_refusal(&self, code: u32, operation: &'static str, device: i32, bytes: usize) -> Error {
        if code != OUT_OF_MEMORY {
            return self.refusal(code, operation, Some(device), format!("{bytes} bytes"));
        }
        V::forget_last_error(&self.api);
        let (mut free, mut total) = (0, 0);
        // SAFETY: the out-parameters are writable.
        let answered = unsafe { (self.symbols.memory_info)(&mut free, &mut total) } == SUCCESS;
        let known = answered.then_some((free, total));
        self.out_of_memory(code, operation, device_name::<V>(device), bytes, known)
    }

    /// Creates the error of a failed allocation of pinned host memory. The message does not contain the device's free
    /// memory, which has no influence on pinned memory.
    #[cold]
    pub fn host_allocation_refusal(&self, code: u32, operation: &'static str, device: i32, bytes: usize) -> Error {
        if code != OUT_OF_MEMORY {
            return self.refusal(code, operation, Some(device), format!("{bytes} bytes"));
        }
        V::forget_last_error(&self.api);
        let device = format!("the host (pinned memory for {})", device_name::<V>(device));
        self.out_of_memory(code, operation, device, bytes, None)
    }

    fn out_of_memory(
        &self,
        code: u32,
        operation: &'static str,
        device: String,
        requested: usize,
        known: Option<(usize, usize)>,
    ) -> Error {
        let (name, text) = (V::name(&self.api, code), V::text(&self.api, code));
        let (free, total) = known.unzip();
        Error::OutOfMemory(Box::new(OutOfMemory {
            operation,
            name,
            text,
            requested,
            device,
            free,
            total,
            used: 0,
            limit: None,
            detail: String::new(),
        }))
    }
}

/// Returns the name of a device in messages.
fn device_name<V: Vendor>(device: i32) -> String {
    format!("{}:{device}", V::KIND.name())
}
