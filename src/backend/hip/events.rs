//! Implements the part of events that is specific to AMD's runtime.

use super::driver::Hip;
use crate::EventHandle;
use crate::cuda_and_hip::{Driver, VendorEvents};
use pygpu_base::error::Result;

impl VendorEvents for Hip {
    /// Returns `false`: no version of HIP can record an event over all streams of a device.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, _: EventHandle) -> Result<bool> {
        driver.slot(device, "hipEventRecord").map(|_| false)
    }
}
