//! Destroys the objects of the vendors' libraries that PyGPU keeps for later calls.

use pygpu_base::error::Result;
use pygpu_device::Device;

use crate::{fft, linalg, product};

/// Destroys the idle handles and the cached plans of a device, which a device reset would invalidate. Objects in use by
/// another thread or by a captured graph are not destroyed.
///
/// # Errors
/// Driver errors; then the remaining objects are leaked.
pub fn destroy(device: Device) -> Result<()> {
    fft::plans::clear(device);
    product::destroy_handles(device).and(linalg::destroy_handles(device))
}
