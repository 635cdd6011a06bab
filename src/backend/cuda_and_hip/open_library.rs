//! Opens a vendor's driver library, and looks up its functions and its devices. If that fails, returns the reason.
//!
//! The functions of this module make no device current and create no context. Every failure is a text, never a panic.

use std::ffi::c_int;

use super::devices::{VendorDevices, attribute_of};
use super::driver::{DeviceSlot, Driver};
use super::fork_guard;
use super::loader::{Attempt, Library};
use super::symbols::Symbols;
use crate::Backend;
use crate::error_codes::SUCCESS;
use crate::open_result::OpenResult;
use pygpu_base::settings::Settings;

/// Vendor-specific part of opening a library, which CUDA and HIP implement differently.
pub trait VendorOpening: VendorDevices + Default {
    /// Names of the driver library, in search order.
    const CANDIDATES: &'static [&'static str];
    /// The explanation that an error message contains if no library was found.
    const NOT_FOUND: &'static str;
    /// Name of the function that returns the version. The function also exists in libraries that are too old for PyGPU.
    const VERSION: &'static str;
    /// Description of the expected library. The error message about a library without the version function contains it.
    const WHAT: &'static str;
    /// Name of the product, such as the driver, whose version the function returns. Error messages contain the name.
    const PRODUCT: &'static str;
    /// Oldest supported version of the driver.
    const OLDEST_VERSION: i32;
    /// Formats a version for messages.
    fn spelled(version: i32) -> String;
    /// Returns the error text for a version that is too old.
    fn too_old(path: &str, version: i32) -> String;
    /// Returns the error text for a failed version query.
    fn no_version(path: &str, code: u32) -> String {
        format!("{} of {path} failed with code {code}", Self::VERSION)
    }
    /// Looks up the functions that only this vendor's library has.
    ///
    /// # Errors
    /// The names of the missing functions.
    ///
    /// # Safety
    /// The library is the vendor's.
    unsafe fn load(library: &Library) -> Result<Self::Api, Vec<&'static str>>;
    /// Returns the error text of a failed call.
    fn refused(api: &Self::Api, settings: &Settings, operation: &str, code: u32) -> String;
    /// Returns the environment variables that most often explain a missing device, with their values.
    fn visible_devices(settings: &Settings) -> String;
    /// Returns the driver's handle of a device.
    fn handle(api: &Self::Api, ordinal: i32) -> Result<c_int, String>;
}

/// Opens a vendor's backend.
pub fn open<V: VendorOpening>(settings: &Settings) -> OpenResult
where
    Driver<V>: Backend,
{
    match Library::open(V::CANDIDATES) {
        Ok(library) => open_library::<V>(&library, settings),
        Err(attempts) => OpenResult { attempts, ..OpenResult::refused(V::NOT_FOUND) },
    }
}

fn open_library<V: VendorOpening>(library: &Library, settings: &Settings) -> OpenResult
where
    Driver<V>: Backend,
{
    let path = library.path(V::VERSION);
    let attempts: Vec<Attempt> = library.attempts().to_vec();
    let refused = |driver_version, reason| OpenResult {
        backend: Err(reason),
        library: path.clone(),
        driver_version,
        attempts: attempts.clone(),
    };
    let version = match version::<V>(library, &path) {
        Ok(version) => version,
        Err(reason) => return refused(0, reason),
    };
    match open_driver::<V>(library, &path, version, settings) {
        Ok(driver) => {
            // The backend lives as long as the process, like the library and the contexts that it uses.
            let backend: &'static dyn Backend = Box::leak(Box::new(driver));
            OpenResult { backend: Ok(backend), library: path, driver_version: version, attempts }
        }
        Err(reason) => refused(version, reason),
    }
}

/// Returns the library's version. The version is queried before functions are looked up, so that an old library is
/// reported as old instead of incomplete.
fn version<V: VendorOpening>(library: &Library, path: &str) -> Result<i32, String> {
    type Ask = unsafe extern "C" fn(*mut c_int) -> u32;
    // SAFETY: the signature matches both vendors' headers.
    let ask: Option<Ask> = unsafe { library.get(V::VERSION) };
    let ask = ask.ok_or_else(|| format!("{path} has no {}: it is no {}", V::VERSION, V::WHAT))?;
    let mut version = 0;
    // SAFETY: the out-parameter is writable; the function needs no initialisation.
    match unsafe { ask(&mut version) } {
        SUCCESS if version >= V::OLDEST_VERSION => Ok(version),
        SUCCESS => Err(V::too_old(path, version)),
        code => Err(V::no_version(path, code)),
    }
}

fn open_driver<V: VendorOpening>(
    library: &Library,
    path: &str,
    version: i32,
    settings: &Settings,
) -> Result<Driver<V>, String> {
    // SAFETY: the library has the vendor's name and the vendor's version function.
    let (api, symbols) = match unsafe { (V::load(library), Symbols::<V>::load(library, V::SYMBOLS)) } {
        (Ok(api), Ok(symbols)) => (api, symbols),
        (api, symbols) => {
            let missing: Vec<_> = [api.err(), symbols.err()].into_iter().flatten().flatten().collect();
            let (product, spelled) = (V::PRODUCT, V::spelled(version));
            return Err(format!("{path} says {product} {spelled} but lacks {}: is it complete?", missing.join(", ")));
        }
    };
    fork_guard::watch();
    let check = |operation: &str, code| match code {
        SUCCESS => Ok(()),
        code => Err(V::refused(&api, settings, operation, code)),
    };
    // SAFETY: the call takes only flags, whose only valid value is 0.
    check(V::NAMES.init, unsafe { (symbols.init)(0) })?;
    let mut count = 0;
    // SAFETY: the out-parameter is writable.
    check(V::NAMES.device_count, unsafe { (symbols.device_count)(&mut count) })?;
    let slots = (0..count).map(|ordinal| slot(&symbols, &api, ordinal)).collect::<Result<Box<[_]>, String>>()?;
    if slots.is_empty() {
        return Err(format!("the {} has no device{}", V::LIBRARY, V::visible_devices(settings)));
    }
    Ok(Driver { symbols, api, library: path.to_owned(), version, slots, own: V::default() })
}

/// Queries the data of a device. If the query of an attribute fails, the attribute is 0 and the device is still used:
/// with a pitch limit of 0, copies go row by row, which is correct but slow.
fn slot<V: VendorOpening>(symbols: &Symbols<V>, api: &V::Api, ordinal: i32) -> Result<DeviceSlot<V>, String> {
    let handle = V::handle(api, ordinal)?;
    let ask = |which| attribute_of::<V>(symbols, api, handle, which).unwrap_or(0);
    Ok(DeviceSlot {
        handle,
        max_pitch: usize::try_from(ask(V::ATTRIBUTES.max_pitch)).unwrap_or(0),
        reads_pageable: ask(V::ATTRIBUTES.uses_host_page_tables) != 0,
        own: V::Slot::default(),
    })
}
