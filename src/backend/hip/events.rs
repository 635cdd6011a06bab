//! Events.

use super::driver::Hip;
use crate::backend::EventHandle;
use crate::backend::vendor::{Driver, VendorEvents};
use crate::error::Result;

impl VendorEvents for Hip {
    /// HIP has no such call, in no version.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, _: EventHandle) -> Result<bool> {
        driver.slot(device, "hipEventRecord").map(|_| false)
    }
}
