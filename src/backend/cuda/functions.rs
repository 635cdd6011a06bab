//! Queries and sets attributes of kernels, and queries their parameters.

use std::ffi::CStr;

use super::contexts::cache_of;
use super::driver::Cuda;
use super::sys::{CUfunction, CUfunction_attribute as Attribute};
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver, Raw, VendorFunctions};
use crate::error_codes::{INVALID_VALUE, SUCCESS};
use crate::{FunctionHandle, FunctionSetting, ModuleHandle, ParameterPlace};
use pygpu_base::error::Result;

/// Sets a kernel's preference between first-level cache and shared memory.
///
/// # Safety
/// The function is alive.
unsafe fn prefer(driver: &Driver<Cuda>, device: i32, function: FunctionHandle, preference: i32) -> Result<()> {
    let preference = cache_of(preference)?;
    // SAFETY: the caller guarantees that the function is alive.
    let tell =
        |on: &CurrentDeviceGuard<'_, Cuda>| unsafe { (on.api.cuFuncSetCacheConfig)(Raw::of(function.0), preference) };
    driver.call(device, "cuFuncSetCacheConfig", tell, || format!("{preference:?}"))
}

impl VendorFunctions for Cuda {
    unsafe fn set_function(
        driver: &Driver<Self>,
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
                // SAFETY: the caller guarantees the conditions of `prefer`.
                return unsafe { prefer(driver, device, function, preference) };
            }
        };
        // SAFETY: the caller guarantees that the function is alive; the driver rejects invalid values.
        let tell = |on: &CurrentDeviceGuard<'_, Self>| unsafe {
            (on.api.cuFuncSetAttribute)(Raw::of(function.0), which, value)
        };
        driver.call(device, "cuFuncSetAttribute", tell, || format!("{setting:?}"))
    }

    /// Returns the names of a module's kernels, or `None` with a driver before 12.4.
    unsafe fn names(driver: &Driver<Self>, device: i32, module: ModuleHandle) -> Result<Option<Vec<String>>> {
        let api = &driver.api;
        let (Some(tell_count), Some(list), Some(tell_name)) =
            (api.cuModuleGetFunctionCount, api.cuModuleEnumerateFunctions, api.cuFuncGetName)
        else {
            return Ok(None);
        };
        let mut count = 0;
        // SAFETY: the caller guarantees that the module is alive; the out-parameter is writable.
        let ask = |_: &CurrentDeviceGuard<'_, Self>| unsafe { tell_count(&mut count, Raw::of(module.0)) };
        driver.call(device, "cuModuleGetFunctionCount", ask, String::new)?;
        if count == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut functions = vec![CUfunction::NONE; count as usize];
        // SAFETY: the caller guarantees that the module is alive; the buffer has space for `count` functions.
        let ask = |_: &CurrentDeviceGuard<'_, Self>| unsafe { list(functions.as_mut_ptr(), count, Raw::of(module.0)) };
        driver.call(device, "cuModuleEnumerateFunctions", ask, String::new)?;
        let name_of = |function: CUfunction| {
            let mut text = std::ptr::null();
            // SAFETY: the function belongs to a live module, and the out-parameter is writable.
            let ask = |_: &CurrentDeviceGuard<'_, Self>| unsafe { tell_name(&mut text, function) };
            driver.call(device, "cuFuncGetName", ask, String::new)?;
            if text.is_null() {
                return Ok(String::new());
            }
            // SAFETY: the text is owned by the driver and stays valid as long as the module.
            Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
        };
        functions.into_iter().map(name_of).collect::<Result<Vec<_>>>().map(Some)
    }

    /// Returns the offset and the size of each parameter, in order, or `None` with a driver before 12.4.
    unsafe fn parameters(
        driver: &Driver<Self>,
        device: i32,
        function: FunctionHandle,
    ) -> Result<Option<Vec<ParameterPlace>>> {
        let Some(info) = driver.api.cuFuncGetParamInfo else { return Ok(None) };
        let mut places = Vec::new();
        loop {
            let mut place = ParameterPlace { offset: 0, size: 0 };
            let mut is_end = false;
            let ask = |_: &CurrentDeviceGuard<'_, Self>| {
                // SAFETY: the out-parameters are writable, and the caller guarantees that the function is alive.
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
}
