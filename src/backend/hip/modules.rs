//! Loaded images: their kernels and globals.
//!
//! Owns a copy of each image as long as it is loaded: AMD's runtime makes none, and reads the bytes again when a kernel is
//! first asked for.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::{Mutex, PoisonError};

use super::context::{Current, beside_captures};
use super::driver::Hip;
use super::sys::{hipDeviceptr_t, hipFunction_t, hipModule_t};
use crate::backend::cpu::is_whole;
use crate::backend::{Address, FunctionHandle, Loaded, ModuleHandle};
use crate::error::{Error, Result};

/// The bytes of the images that are loaded.
#[derive(Default)]
pub struct Images(Mutex<HashMap<ModuleHandle, Box<[u8]>>>);

impl Images {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<ModuleHandle, Box<[u8]>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub fn raw(module: ModuleHandle) -> hipModule_t {
    std::ptr::with_exposed_provenance_mut(module.0)
}

/// What an image is by its first bytes; the runtime reads as far as these say, so anything else is refused.
fn check_image(image: &[u8]) -> Result<()> {
    // A code object, a bundle of several, a compressed bundle.
    const KINDS: [&[u8]; 3] = [b"\x7fELF", b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"];
    if !is_whole(image) {
        return Err(Error::value(format!("the image of {} bytes is cut short: it says that it has more", image.len())));
    }
    if KINDS.iter().any(|kind| image.starts_with(kind)) {
        return Ok(());
    }
    let first = &image[..image.len().min(8)];
    Err(Error::value(format!(
        "the image of {} bytes that begins with {first:02x?} is no code object (.hsaco) and no bundle of them, which are \
         what HIP loads",
        image.len()
    )))
}

/// Loads an image. It is machine code already: there are no options, and nothing is said of it.
pub fn load(hip: &Hip, device: i32, image: &[u8]) -> Result<Loaded> {
    check_image(image)?;
    let image: Box<[u8]> = image.into();
    let mut module: hipModule_t = std::ptr::null_mut();
    let (options, values) = (std::ptr::null_mut(), std::ptr::null_mut());
    let load = |on: &Current<'_>| {
        // SAFETY: the image is whole, by its own account; there are no options.
        beside_captures(on.api, || unsafe {
            (on.api.hipModuleLoadDataEx)(&mut module, image.as_ptr().cast(), 0, options, values)
        })
    };
    hip.call(device, "hipModuleLoadDataEx", load, || {
        format!("an image of {} bytes, which may be for another architecture than the device's", image.len())
    })?;
    let module = ModuleHandle(module.expose_provenance());
    hip.images.with(|images| images.insert(module, image));
    Ok(Loaded { module, log: String::new() })
}

/// Ends a module.
///
/// # Safety
/// It is alive, and nothing of it is used again.
pub unsafe fn unload(hip: &Hip, device: i32, module: ModuleHandle) -> Result<()> {
    // Taken out before the call, after which another image may get the handle.
    let image = hip.images.with(|images| images.remove(&module));
    // SAFETY: the caller's promise is the driver's condition.
    let ended = hip.call(
        device,
        "hipModuleUnload",
        |on| beside_captures(on.api, || unsafe { (on.api.hipModuleUnload)(raw(module)) }),
        String::new,
    );
    if ended.is_err() {
        // What the runtime refuses to end is leaked, and the bytes with it.
        std::mem::forget(image);
    }
    ended
}

/// A kernel by its name.
///
/// # Safety
/// The module is alive.
pub unsafe fn function(hip: &Hip, device: i32, module: ModuleHandle, name: &CStr) -> Result<FunctionHandle> {
    let mut function: hipFunction_t = std::ptr::null_mut();
    // SAFETY: the target is writable, the name a C string, the module alive.
    let ask = |on: &Current<'_>| unsafe { (on.api.hipModuleGetFunction)(&mut function, raw(module), name.as_ptr()) };
    hip.call(device, "hipModuleGetFunction", ask, || format!("the kernel {name:?}"))?;
    Ok(FunctionHandle(function.expose_provenance()))
}

/// A global by its name.
///
/// # Safety
/// The module is alive.
pub unsafe fn global(hip: &Hip, device: i32, module: ModuleHandle, name: &CStr) -> Result<(Address, usize)> {
    let (mut address, mut bytes): (hipDeviceptr_t, usize) = (std::ptr::null_mut(), 0);
    let text: *const c_char = name.as_ptr();
    // SAFETY: both targets are writable, the name a C string, the module alive.
    let ask = |on: &Current<'_>| unsafe { (on.api.hipModuleGetGlobal)(&mut address, &mut bytes, raw(module), text) };
    hip.call(device, "hipModuleGetGlobal", ask, || format!("the global {name:?}"))?;
    Ok((address.expose_provenance() as Address, bytes))
}
