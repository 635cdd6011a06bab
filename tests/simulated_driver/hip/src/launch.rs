//! Defines HIP's launches with attributes. AMD's runtime supports two kinds of attributes.

use std::ffi::c_void;

use simulated_core::error_codes::{INVALID_HANDLE, INVALID_VALUE};
use simulated_core::module::{Config, launch, remember};

use crate::entry::{In, export};
use crate::module::shape;

const COOPERATIVE: u32 = 2;
const PRIORITY: u32 = 8;

export! {
    fn hipDrvLaunchKernelEx(on, config: In<Config>, function: u64, arguments: In<*const c_void>, extra: usize) {
        // Kernel arguments that are packed in one buffer (`extra`) are not supported.
        if extra != 0 {
            return Err(INVALID_HANDLE);
        }
        let config = config.get()?;
        let attributes = config.attributes()?;
        if attributes.iter().any(|one| !matches!(one.number, COOPERATIVE | PRIORITY)) {
            return Err(INVALID_VALUE);
        }
        let cooperative = attributes.iter().any(|one| one.number == COOPERATIVE && one.value[0] != 0);
        let shape = shape(config.grid, config.block, config.shared, cooperative)?;
        launch(on.driver, on.name, on.device()?, function, shape, config.stream, arguments)?;
        remember(on.name, &attributes);
        Ok(())
    }
}
