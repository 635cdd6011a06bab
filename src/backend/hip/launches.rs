//! Launches with attributes. AMD's devices have no clusters of blocks, and no kernel begins before the one in front of it has
//! ended.

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
