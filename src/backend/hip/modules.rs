//! Loads module images that the runtime accepts, and keeps a copy of each loaded image.

use super::driver::Hip;
use super::sys::hipModule_t;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, VendorModules};
use crate::{LoadOptions, Loaded, ModuleHandle};
use pygpu_base::error::{Error, Result};
use pygpu_cpu_engine::is_whole;

/// Rejects an image of an unknown format, and an image with fewer bytes than its header states. Without this check, the
/// runtime would trust the header and read beyond the image.
fn check_image(image: &[u8]) -> Result<()> {
    // First bytes of a code object, of a bundle of several code objects, and of a compressed bundle.
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

impl VendorModules for Hip {
    /// Loads an image. An image is already machine code, so there are no options, and the runtime returns no messages.
    fn load(driver: &Driver<Self>, device: i32, image: &[u8], _: &LoadOptions) -> Result<Loaded> {
        check_image(image)?;
        let image: Box<[u8]> = image.into();
        let mut module: hipModule_t = std::ptr::null_mut();
        let (options, values) = (std::ptr::null_mut(), std::ptr::null_mut());
        let load = |on: &CurrentDeviceGuard<'_, Self>| {
            // SAFETY: the image is complete according to its header; the runtime takes no options here.
            driver.beside_captures(|| unsafe {
                (on.api.hipModuleLoadDataEx)(&mut module, image.as_ptr().cast(), 0, options, values)
            })
        };
        driver.call(device, "hipModuleLoadDataEx", load, || {
            format!("an image of {} bytes, which may be for another architecture than the device's", image.len())
        })?;
        let module = ModuleHandle(module.expose_provenance());
        driver.own.images.with(|images| images.insert(module, image));
        Ok(Loaded { module, log: String::new() })
    }

    unsafe fn unload(driver: &Driver<Self>, device: i32, module: ModuleHandle) -> Result<()> {
        // The stored copy of the image is removed before the runtime unloads the module, because afterwards another
        // module may get the same handle.
        let image = driver.own.images.with(|images| images.remove(&module));
        // SAFETY: the caller guarantees the conditions of `unload_module`.
        let ended = unsafe { driver.unload_module(device, module) };
        if ended.is_err() {
            // If unloading fails, the module still uses its image, so the module and the image are leaked.
            std::mem::forget(image);
        }
        ended
    }
}
