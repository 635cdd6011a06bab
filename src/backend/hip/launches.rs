//! Launches with attributes. AMD's devices have no clusters of blocks, and a kernel never starts before the previous
//! one is complete.

use super::driver::Hip;
use crate::vendor::{Driver, LaunchEx, VendorLaunches};

impl VendorLaunches for Hip {
    const LAUNCH_EX: &'static str = "hipDrvLaunchKernelEx";

    fn launch_ex(driver: &Driver<Self>) -> Option<LaunchEx<Self>> {
        driver.api.hipDrvLaunchKernelEx
    }

    fn has_carveout(_: &Driver<Self>) -> bool {
        false
    }
}
