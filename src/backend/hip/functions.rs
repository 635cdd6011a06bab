//! Gets and sets attributes of a kernel.
//!
//! Setting an attribute calls no function of the runtime. `hipFuncSetAttribute` and `hipFuncSetCacheConfig` require the
//! host address of a kernel compiled into the program, which a module's kernel does not have. The calls are
//! unnecessary: on AMD's devices a kernel may use all shared memory without opt-in, and the cache is not configurable.

use super::driver::Hip;
use super::sys::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC_SHARED_SIZE;
use crate::cuda_and_hip::{Driver, VendorFunctions};
use crate::launch_attributes::no_clusters;
use crate::{FunctionHandle, FunctionSetting};
use pygpu_base::error::{Error, Result};

impl VendorFunctions for Hip {
    /// Checks the value of the setting, but does not apply it, because the settings have no effect on AMD's devices.
    unsafe fn set_function(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
        setting: FunctionSetting,
    ) -> Result<()> {
        let (what, value, range) = match setting {
            FunctionSetting::MaxDynamicSharedBytes(bytes) => {
                // SAFETY: the caller guarantees that the function is alive.
                let most = unsafe { driver.function_attribute(device, function, MAX_DYNAMIC_SHARED_SIZE) }?;
                ("the dynamic shared memory of a block in bytes", bytes, 0..=most)
            }
            FunctionSetting::PreferredCarveout(percent) => ("a preferred carveout in percent", percent, -1..=100),
            FunctionSetting::CachePreference(preference) => ("a cache preference", preference, 0..=3),
            FunctionSetting::NonPortableClusters(false) => return Ok(()),
            FunctionSetting::NonPortableClusters(true) => return Err(no_clusters()),
        };
        if range.contains(&value) {
            return Ok(());
        }
        Err(Error::value(format!("{what} is {} to {} on hip:{device}, not {value}", range.start(), range.end())))
    }
}
