//! Contains AMD's part of opening the runtime: the lookup of functions, and messages about failures.

use std::ffi::c_int;

use super::driver::Hip;
use super::sys::{Api, CANDIDATES, OLDEST_VERSION, hipErrorNoDevice as NO_DEVICE};
use crate::Library;
use crate::cuda_and_hip::{VendorErrors, VendorOpening};
use crate::error_codes::INVALID_DEVICE;
use pygpu_base::settings::{Settings, Variable};

impl VendorOpening for Hip {
    const CANDIDATES: &'static [&'static str] = CANDIDATES;
    const NOT_FOUND: &'static str =
        "AMD's HIP runtime library was not found: ROCm is not installed, or not visible here";
    const VERSION: &'static str = "hipRuntimeGetVersion";
    const WHAT: &'static str = "HIP runtime";
    const PRODUCT: &'static str = "HIP";
    const OLDEST_VERSION: i32 = OLDEST_VERSION;

    /// Formats a runtime version: 60443483 as 6.4.
    fn spelled(version: i32) -> String {
        format!("{}.{}", version / 10_000_000, version / 100_000 % 100)
    }

    fn too_old(path: &str, version: i32) -> String {
        format!(
            "the runtime in {path} is HIP {}; PyGPU needs {} or newer: update ROCm",
            Self::spelled(version),
            Self::spelled(OLDEST_VERSION)
        )
    }

    unsafe fn load(library: &Library) -> Result<Api, Vec<&'static str>> {
        // SAFETY: the caller guarantees that this is AMD's runtime library.
        unsafe { Api::load(library) }
    }

    /// Returns the explanation of a failed call. Without a device AMD's runtime returns 100 for some calls and 101 for
    /// all others. The runtime's text for code 101 would suggest an invalid device number.
    fn refused(api: &Api, settings: &Settings, operation: &str, code: u32) -> String {
        let cause = match code {
            NO_DEVICE | INVALID_DEVICE => "there is no AMD GPU, or it is not visible here: ",
            _ => "",
        };
        // The caller reports this failure. The error that the runtime stores is cleared, because another library could
        // otherwise report it as its own.
        Self::forget_last_error(api);
        let (name, text) = (Self::name(api, code), Self::text(api, code));
        let explained = if text == name { String::new() } else { format!(": {text}") };
        format!("{cause}{operation} failed: {name} ({code}){explained}{}", Self::visible_devices(settings))
    }

    fn visible_devices(settings: &Settings) -> String {
        let variables = [Variable::HIP_VISIBLE_DEVICES, Variable::ROCR_VISIBLE_DEVICES, Variable::CUDA_VISIBLE_DEVICES];
        let set = variables.into_iter().filter_map(|variable| Some((variable.name(), settings.get(variable)?)));
        set.map(|(name, value)| format!(" [{name}={}]", value.to_string_lossy())).collect()
    }

    fn handle(_: &Api, ordinal: i32) -> Result<c_int, String> {
        Ok(ordinal)
    }
}
