//! Events.

use super::driver::Hip;
use crate::EventHandle;
use crate::vendor::{Driver, VendorEvents};
use pygpu_base::error::Result;

impl VendorEvents for Hip {
    /// HIP has no such call, in no version.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, _: EventHandle) -> Result<bool> {
        driver.slot(device, "hipEventRecord").map(|_| false)
    }
}
