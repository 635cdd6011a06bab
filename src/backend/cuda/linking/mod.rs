//! Links separately compiled device code with nvJitLink, from the toolkit or wheel that contains NVRTC. If nvJitLink is
//! missing or fails, the driver's own linker is used.
//!
//! The driver's linker accepts PTX only up to the driver's CUDA version. nvJitLink also accepts newer PTX, from the
//! NVRTC of the same toolkit or wheel.

mod driver_link;
mod jit_link;

use super::driver::Cuda;
use super::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
};
use crate::cuda_and_hip::Driver;
use crate::{Compiled, Compiler, LinkInput, LoadOptions};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings;

/// Links the inputs (cubins, PTX, object files) into one module image.
pub fn link(driver: &Driver<Cuda>, device: i32, inputs: &[LinkInput<'_>], options: &LoadOptions) -> Result<Compiled> {
    let beside = driver.own.nvrtc.get().map(|nvrtc| nvrtc.path());
    let Some(linker) = jit_link::open(driver.version, beside, settings::get()) else {
        return driver_link::link(driver, device, inputs, options);
    };
    let architecture = format!("sm_{}{}", driver.attribute(device, MAJOR)?, driver.attribute(device, MINOR)?);
    match linker.link(&architecture, inputs, options) {
        Ok(linked) => Ok(linked),
        Err(first) => driver_link::link(driver, device, inputs, options).map_err(|second| joined(&first, second)),
    }
}

/// Joins the error messages of both linkers.
fn joined(first: &str, second: Error) -> Error {
    match second {
        Error::Driver(mut error) => {
            error.detail = format!("{}; nvJitLink said: {first}", error.detail);
            Error::Driver(error)
        }
        Error::NotSupported(_) => Error::value(format!("the parts cannot be linked: {first}")),
        other => other,
    }
}
