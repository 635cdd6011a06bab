//! Opens the driver: finds its library, its functions and its devices, or says why not.
//!
//! Creates no context. Every failure is a reason in words, never a panic.

use std::ffi::c_int;
use std::sync::OnceLock;

use super::context::Slot;
use super::driver::Cuda;
use super::errors::{SUCCESS, name, text};
use super::properties::attribute;
use super::sys::{Api, CANDIDATES, CUdevice_attribute as Attribute, OLDEST_VERSION};
use crate::backend::opening::Opening;
use crate::backend::{Attempt, Backend, Library, fork};
use crate::settings::{Settings, Variable};

/// A function that every driver has, also those that are too old for the rest.
const VERSION: &str = "cuDriverGetVersion";

/// Opens the CUDA backend.
pub fn open(settings: &Settings) -> Opening {
    match Library::open(CANDIDATES) {
        Ok(library) => open_library(&library, settings),
        Err(attempts) => Opening {
            attempts,
            ..Opening::refused(
                "NVIDIA's driver library was not found: no NVIDIA driver is installed, or not visible here",
            )
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
    let version = match driver_version(library, &path) {
        Ok(version) => version,
        Err(reason) => return refused(0, reason),
    };
    match open_driver(library, &path, version, settings) {
        Ok(cuda) => {
            // The backend lives as long as the process, like the library and the contexts behind it.
            let backend: &'static dyn Backend = Box::leak(Box::new(cuda));
            Opening { backend: Ok(backend), library: path, driver_version: version, attempts }
        }
        Err(reason) => refused(version, reason),
    }
}

/// The driver's version, asked before anything else so that an old driver is called old and not incomplete.
fn driver_version(library: &Library, path: &str) -> Result<i32, String> {
    type Ask = unsafe extern "C" fn(*mut c_int) -> u32;
    // SAFETY: the signature of the driver's header.
    let ask: Ask =
        unsafe { library.get(VERSION) }.ok_or_else(|| format!("{path} has no {VERSION}: it is no driver"))?;
    let mut version = 0;
    // SAFETY: the target is writable; the function needs no initialisation.
    match unsafe { ask(&mut version) } {
        SUCCESS if version >= OLDEST_VERSION => Ok(version),
        SUCCESS => Err(format!(
            "the driver in {path} serves CUDA {}; PyGPU needs {} or newer: update the NVIDIA driver",
            spelled(version),
            spelled(OLDEST_VERSION)
        )),
        34 => {
            Err(format!("{path} is the stub of a CUDA toolkit, made to link against; the driver itself was not found"))
        }
        code => Err(format!("{VERSION} of {path} failed with code {code}")),
    }
}

/// 12080 as 12.8.
fn spelled(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn open_driver(library: &Library, path: &str, version: i32, settings: &Settings) -> Result<Cuda, String> {
    // SAFETY: the library calls itself NVIDIA's driver and knows its version.
    let api = unsafe { Api::load(library) }.map_err(|missing| {
        format!("{path} says CUDA {} but lacks {}: is it complete?", spelled(version), missing.join(", "))
    })?;
    fork::watch();
    // SAFETY: the only flags are 0.
    let code = unsafe { (api.cuInit)(0) };
    if code != SUCCESS {
        return Err(format!(
            "cuInit failed: {} ({code}): {}{}",
            name(&api, code),
            text(&api, code),
            visible_devices(settings)
        ));
    }
    let slots = slots(&api)?;
    if slots.is_empty() {
        return Err(format!("the driver has no device{}", visible_devices(settings)));
    }
    Ok(Cuda { api, library: path.to_owned(), version, slots, nvrtc: OnceLock::new() })
}

/// The variable that most often explains why a device is not there.
fn visible_devices(settings: &Settings) -> String {
    let value = settings.get(Variable::CUDA_VISIBLE_DEVICES);
    value.map_or_else(String::new, |value| format!(" [CUDA_VISIBLE_DEVICES={}]", value.to_string_lossy()))
}

fn slots(api: &Api) -> Result<Box<[Slot]>, String> {
    let mut count = 0;
    // SAFETY: the target is writable.
    match unsafe { (api.cuDeviceGetCount)(&mut count) } {
        SUCCESS => (0..count).map(|ordinal| slot(api, ordinal)).collect(),
        code => Err(format!("cuDeviceGetCount failed: {} ({code}): {}", name(api, code), text(api, code))),
    }
}

fn slot(api: &Api, ordinal: i32) -> Result<Slot, String> {
    let mut handle = 0;
    // SAFETY: the target is writable.
    let code = unsafe { (api.cuDeviceGet)(&mut handle, ordinal) };
    if code != SUCCESS {
        return Err(format!("cuDeviceGet({ordinal}) failed: {} ({code}): {}", name(api, code), text(api, code)));
    }
    // Neither is worth losing the device for: 0 makes the copies go row by row, which is right if slow.
    let max_pitch = attribute(api, handle, Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH).unwrap_or(0);
    let host_tables = Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES;
    let reads_pageable = attribute(api, handle, host_tables).unwrap_or(0) != 0;
    Ok(Slot::new(handle, usize::try_from(max_pitch).unwrap_or(0), reads_pageable))
}
