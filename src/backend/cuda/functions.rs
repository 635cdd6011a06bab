//! What can be set of a kernel, and what its parameters are.

use super::contexts::cache_of;
use super::driver::Cuda;
use super::sys::CUfunction_attribute as Attribute;
use crate::backend::codes::{INVALID_VALUE, SUCCESS};
use crate::backend::vendor::{Current, Driver, Raw};
use crate::backend::{FunctionHandle, FunctionSetting, ParameterPlace};
use crate::error::Result;

/// Sets something of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn set(
    driver: &Driver<Cuda>,
    device: i32,
    function: FunctionHandle,
    setting: FunctionSetting,
) -> Result<()> {
    let (which, value) = match setting {
        FunctionSetting::MaxDynamicSharedBytes(bytes) => {
            (Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
        }
        FunctionSetting::PreferredCarveout(percent) => {
            (Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)
        }
        FunctionSetting::NonPortableClusters(allowed) => {
            (Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, allowed.into())
        }
        FunctionSetting::CachePreference(preference) => {
            // SAFETY: the caller's promise is this function's.
            return unsafe { prefer(driver, device, function, preference) };
        }
    };
    // SAFETY: the function is alive; the driver refuses values it does not take.
    let tell = |on: &Current<'_, Cuda>| unsafe { (on.api.cuFuncSetAttribute)(Raw::of(function.0), which, value) };
    driver.call(device, "cuFuncSetAttribute", tell, || format!("{setting:?}"))
}

unsafe fn prefer(driver: &Driver<Cuda>, device: i32, function: FunctionHandle, preference: i32) -> Result<()> {
    let preference = cache_of(preference)?;
    // SAFETY: the function is alive.
    let tell = |on: &Current<'_, Cuda>| unsafe { (on.api.cuFuncSetCacheConfig)(Raw::of(function.0), preference) };
    driver.call(device, "cuFuncSetCacheConfig", tell, || format!("{preference:?}"))
}

/// The parameters in order; `None` from a driver before 12.4.
///
/// # Safety
/// The function is alive.
pub unsafe fn parameters(
    driver: &Driver<Cuda>,
    device: i32,
    function: FunctionHandle,
) -> Result<Option<Vec<ParameterPlace>>> {
    let Some(info) = driver.api.cuFuncGetParamInfo else { return Ok(None) };
    let mut places = Vec::new();
    loop {
        let mut place = ParameterPlace { offset: 0, size: 0 };
        let mut is_end = false;
        let ask = |_: &Current<'_, Cuda>| {
            // SAFETY: both targets are writable, the function alive.
            match unsafe { info(Raw::of(function.0), places.len(), &mut place.offset, &mut place.size) } {
                INVALID_VALUE => {
                    is_end = true;
                    SUCCESS
                }
                code => code,
            }
        };
        driver.call(device, "cuFuncGetParamInfo", ask, String::new)?;
        if is_end {
            return Ok(Some(places));
        }
        places.push(place);
    }
}
