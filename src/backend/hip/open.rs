//! Opens the runtime: finds its library, its functions and its devices, or says why not.
//!
//! Makes no device current and allocates nothing. Every failure is a reason in words, never a panic.

use std::sync::OnceLock;

use super::context::Slot;
use super::driver::Hip;
use super::errors::{INVALID_DEVICE, NO_DEVICE, SUCCESS, name, text};
use super::modules::Images;
use super::properties::attribute;
use super::sys::{
    Api, CANDIDATES, OLDEST_VERSION, hipDeviceAttributeMaxPitch,
    hipDeviceAttributePageableMemoryAccessUsesHostPageTables as USES_HOST_PAGE_TABLES, hipRuntimeGetVersion,
};
use crate::backend::opening::Opening;
use crate::backend::{Attempt, Backend, Library, fork};
use crate::settings::{Settings, Variable};

/// A function that every runtime has, also those that are too old for the rest.
const VERSION: &str = "hipRuntimeGetVersion";

/// Opens the HIP backend.
pub fn open(settings: &Settings) -> Opening {
    match Library::open(CANDIDATES) {
        Ok(library) => open_library(&library, settings),
        Err(attempts) => Opening {
            attempts,
            ..Opening::refused("AMD's HIP runtime library was not found: ROCm is not installed, or not visible here")
        },
    }
}

fn open_library(library: &Library, settings: &Settings) -> Opening {
    let path = library.path(VERSION);
    let attempts: Vec<Attempt> = library.attempts().to_vec();
    let refused = |driver_version, reason| Opening {
        backend: Err(reason),
        library: path.clone(),
        driver_version,
        attempts: attempts.clone(),
    };
    let version = match runtime_version(library, &path) {
        Ok(version) => version,
        Err(reason) => return refused(0, reason),
    };
    match open_runtime(library, &path, version, settings) {
        Ok(hip) => {
            // The backend lives as long as the process, like the library behind it.
            let backend: &'static dyn Backend = Box::leak(Box::new(hip));
            Opening { backend: Ok(backend), library: path, driver_version: version, attempts }
        }
        Err(reason) => refused(version, reason),
    }
}

/// The runtime's version, asked before anything else so that an old runtime is called old and not incomplete.
fn runtime_version(library: &Library, path: &str) -> Result<i32, String> {
    // SAFETY: the type is that of the runtime's header.
    let ask: hipRuntimeGetVersion =
        unsafe { library.get(VERSION) }.ok_or_else(|| format!("{path} has no {VERSION}: it is no HIP runtime"))?;
    let mut version = 0;
    // SAFETY: the target is writable; the function needs no initialisation.
    match unsafe { ask(&mut version) } {
        SUCCESS if version >= OLDEST_VERSION => Ok(version),
        SUCCESS => Err(format!(
            "the runtime in {path} is HIP {}; PyGPU needs {} or newer: update ROCm",
            spelled(version),
            spelled(OLDEST_VERSION)
        )),
        code => Err(format!("{VERSION} of {path} failed with code {code}")),
    }
}

/// 60443483 as 6.4.
fn spelled(version: i32) -> String {
    format!("{}.{}", version / 10_000_000, version / 100_000 % 100)
}

fn open_runtime(library: &Library, path: &str, version: i32, settings: &Settings) -> Result<Hip, String> {
    // SAFETY: the library calls itself AMD's runtime and knows its version.
    let api = unsafe { Api::load(library) }.map_err(|missing| {
        format!("{path} says HIP {} but lacks {}: is it complete?", spelled(version), missing.join(", "))
    })?;
    fork::watch();
    // SAFETY: the only flags are 0.
    refused_by(&api, settings, "hipInit", unsafe { (api.hipInit)(0) })?;
    let slots = slots(&api, settings)?;
    if slots.is_empty() {
        return Err(format!("the runtime has no device{}", visible_devices(settings)));
    }
    Ok(Hip { api, library: path.to_owned(), version, slots, images: Images::default(), hiprtc: OnceLock::new() })
}

/// Why there is no device. Without one AMD's runtime answers some calls with 100 and all others with 101, which would send
/// the reader after a wrong device number.
fn refused_by(api: &Api, settings: &Settings, operation: &str, code: u32) -> Result<(), String> {
    let cause = match code {
        SUCCESS => return Ok(()),
        NO_DEVICE | INVALID_DEVICE => "there is no AMD GPU, or it is not visible here: ",
        _ => "",
    };
    // SAFETY: has no preconditions. The failure is told here and is nobody else's.
    unsafe { (api.hipGetLastError)() };
    let (name, text) = (name(api, code), text(api, code));
    let explained = if text == name { String::new() } else { format!(": {text}") };
    Err(format!("{cause}{operation} failed: {name} ({code}){explained}{}", visible_devices(settings)))
}

/// The variables that most often explain why a device is not there.
fn visible_devices(settings: &Settings) -> String {
    let variables = [Variable::HIP_VISIBLE_DEVICES, Variable::ROCR_VISIBLE_DEVICES, Variable::CUDA_VISIBLE_DEVICES];
    let set = variables.into_iter().filter_map(|variable| Some((variable.name(), settings.get(variable)?)));
    set.map(|(name, value)| format!(" [{name}={}]", value.to_string_lossy())).collect()
}

fn slots(api: &Api, settings: &Settings) -> Result<Box<[Slot]>, String> {
    let mut count = 0;
    // SAFETY: the target is writable.
    refused_by(api, settings, "hipGetDeviceCount", unsafe { (api.hipGetDeviceCount)(&mut count) })?;
    Ok((0..count).map(|ordinal| slot(api, ordinal)).collect())
}

/// Neither attribute is worth losing the device for: 0 makes the copies go row by row, which is right if slow.
fn slot(api: &Api, ordinal: i32) -> Slot {
    let max_pitch = attribute(api, ordinal, hipDeviceAttributeMaxPitch).unwrap_or(0);
    let reads_pageable = attribute(api, ordinal, USES_HOST_PAGE_TABLES).unwrap_or(0) != 0;
    Slot { max_pitch: usize::try_from(max_pitch).unwrap_or(0), reads_pageable }
}
