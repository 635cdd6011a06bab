//! Contains NVIDIA's part of opening the driver: the functions to load, and messages about failures.

use std::ffi::c_int;

use super::driver::Cuda;
use super::errors::STUB_LIBRARY;
use super::sys::{Api, CANDIDATES, OLDEST_VERSION};
use crate::Library;
use crate::cuda_and_hip::{Vendor, VendorErrors, VendorOpening};
use crate::error_codes::SUCCESS;
use pygpu_base::settings::{Settings, Variable};

impl VendorOpening for Cuda {
    const CANDIDATES: &'static [&'static str] = CANDIDATES;
    const NOT_FOUND: &'static str =
        "NVIDIA's driver library was not found: no NVIDIA driver is installed, or not visible here";
    const VERSION: &'static str = "cuDriverGetVersion";
    const WHAT: &'static str = "driver";
    const PRODUCT: &'static str = "CUDA";
    const OLDEST_VERSION: i32 = OLDEST_VERSION;

    /// Formats a driver version: 12080 as 12.8.
    fn spelled(version: i32) -> String {
        format!("{}.{}", version / 1000, version % 1000 / 10)
    }

    fn too_old(path: &str, version: i32) -> String {
        format!(
            "the driver in {path} serves CUDA {}; PyGPU needs {} or newer: update the NVIDIA driver",
            Self::spelled(version),
            Self::spelled(OLDEST_VERSION)
        )
    }

    fn no_version(path: &str, code: u32) -> String {
        match code {
            STUB_LIBRARY => {
                format!("{path} is the stub of a CUDA toolkit, made to link against; the driver itself was not found")
            }
            code => format!("{} of {path} failed with code {code}", Self::VERSION),
        }
    }

    unsafe fn load(library: &Library) -> Result<Api, Vec<&'static str>> {
        // SAFETY: the caller guarantees that this is NVIDIA's driver library.
        unsafe { Api::load(library) }
    }

    fn refused(api: &Api, settings: &Settings, operation: &str, code: u32) -> String {
        let is_first = operation == Self::NAMES.init;
        let visible = if is_first { Self::visible_devices(settings) } else { String::new() };
        format!("{operation} failed: {} ({code}): {}{visible}", Self::name(api, code), Self::text(api, code))
    }

    fn visible_devices(settings: &Settings) -> String {
        let value = settings.get(Variable::CUDA_VISIBLE_DEVICES);
        value.map_or_else(String::new, |value| format!(" [CUDA_VISIBLE_DEVICES={}]", value.to_string_lossy()))
    }

    fn handle(api: &Api, ordinal: i32) -> Result<c_int, String> {
        let mut handle = 0;
        // SAFETY: the out-parameter is writable.
        match unsafe { (api.cuDeviceGet)(&mut handle, ordinal) } {
            SUCCESS => Ok(handle),
            code => {
                let (name, text) = (Self::name(api, code), Self::text(api, code));
                Err(format!("cuDeviceGet({ordinal}) failed: {name} ({code}): {text}"))
            }
        }
    }
}
