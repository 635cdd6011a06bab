//! Queries the launch limits of each device (maximum grid, block and shared memory), once per
//! device.

use pygpu_backend::LaunchLimits;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_device::{Device, PerDevice, per_device};

static LIMITS: PerDevice<ForkSafeOnce<LaunchLimits>> = per_device!(ForkSafeOnce::new());

/// Returns the launch limits of a device.
///
/// # Errors
/// Driver errors.
pub fn limits_of(device: Device) -> Result<&'static LaunchLimits> {
    let cell = LIMITS.of(device);
    match cell.get() {
        Some(limits) => Ok(limits),
        None => {
            let limits = device.backend().device_code()?.launch_limits(device.index())?;
            Ok(cell.get_or_init(|| limits))
        }
    }
}
