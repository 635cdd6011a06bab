//! Destroys idle handles of the vendors' libraries.

use pygpu_backend::libraries::{HandleKey, ObjectPool};
use pygpu_base::error::Result;
use pygpu_device::Device;

/// Destroys the idle handles of a device. The call precedes a device reset, after which the handles could not be
/// destroyed.
///
/// # Errors
/// Driver errors; then the handles are leaked.
pub fn destroy<H: Send>(
    pool: &'static ObjectPool<HandleKey, H>,
    device: Device,
    operation: &'static str,
    destroy: impl Fn(&H),
) -> Result<()> {
    let idle = pool.take_all(|key| *key == device.handle_key());
    if idle.is_empty() {
        return Ok(());
    }
    device.backend().device_code()?.within(device.index(), operation, &mut || idle.iter().for_each(&destroy))
}
