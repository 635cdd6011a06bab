//! Implements events for the CUDA driver.

use super::driver::Cuda;
use crate::EventHandle;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw, VendorEvents};
use crate::error_codes::{NOT_SUPPORTED, SUCCESS};
use pygpu_base::error::Result;

impl VendorEvents for Cuda {
    /// Records an event over all streams of the device. Returns `false` if the driver is too old or does not support
    /// such a record.
    unsafe fn record_of_device(driver: &Driver<Self>, device: i32, event: EventHandle) -> Result<bool> {
        let Some(record) = driver.api.cuCtxRecordEvent else { return Ok(false) };
        let operation = "cuCtxRecordEvent";
        let context = driver.context_of(device, operation)?;
        let mut recorded = true;
        let record = |_: &CurrentDeviceGuard<'_, Self>| {
            // SAFETY: the context is a retained primary context; the caller guarantees that the event is alive and
            // belongs to the device.
            let code = unsafe { record(context, Raw::of(event.0)) };
            recorded = code != NOT_SUPPORTED;
            if recorded { code } else { SUCCESS }
        };
        driver.call(device, operation, record, || format!("event {:#x}", event.0))?;
        Ok(recorded)
    }
}
