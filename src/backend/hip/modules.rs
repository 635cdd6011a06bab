//! Loads what the runtime takes, and keeps a copy of each image as long as it is loaded.

use super::driver::Hip;
use super::sys::hipModule_t;
use crate::vendor::{Current, Driver, VendorModules};
use crate::{LoadOptions, Loaded, ModuleHandle};
use pygpu_base::error::{Error, Result};
use pygpu_cpu_engine::is_whole;

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

impl VendorModules for Hip {
    /// An image is machine code already: there are no options, and nothing is said of it.
    fn load(driver: &Driver<Self>, device: i32, image: &[u8], _: &LoadOptions) -> Result<Loaded> {
        check_image(image)?;
        let image: Box<[u8]> = image.into();
        let mut module: hipModule_t = std::ptr::null_mut();
        let (options, values) = (std::ptr::null_mut(), std::ptr::null_mut());
        let load = |on: &Current<'_, Self>| {
            // SAFETY: the image is whole, by its own account; there are no options.
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
        // Taken out before the call, after which another image may get the handle.
        let image = driver.own.images.with(|images| images.remove(&module));
        // SAFETY: the caller's promise is the same.
        let ended = unsafe { driver.unload_module(device, module) };
        if ended.is_err() {
            // What the runtime refuses to end is leaked, and the bytes with it.
            std::mem::forget(image);
        }
        ended
    }
}
