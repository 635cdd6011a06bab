//! Events.

use super::driver::Hip;
use crate::EventHandle;
use crate::vendor::{Driver, VendorEvents};
use pygpu_base::error::Result;

impl VendorEvents for Hip {
    /// No version of HIP has such a call.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, _: EventHandle) -> Result<bool> {
        driver.slot(device, "hipEventRecord").map(|_| false)
    }
}
