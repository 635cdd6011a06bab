//! Implements the settings of a device's primary context.

use super::driver::Cuda;
use super::sys::{CUfunc_cache as Cache, CUlimit as Limit};
use crate::Contexts;
use crate::cuda_and_hip::{CurrentDeviceGuard, Driver};
use pygpu_base::error::{Error, Result};

/// Returns the error for a function that an old or simulated driver lacks.
fn absent(name: &str) -> Error {
    Error::not_supported(format!("the driver has no {name}"))
}

fn limit_of(number: i32) -> Result<Limit> {
    Ok(match number {
        0 => Limit::CU_LIMIT_STACK_SIZE,
        1 => Limit::CU_LIMIT_PRINTF_FIFO_SIZE,
        2 => Limit::CU_LIMIT_MALLOC_HEAP_SIZE,
        3 => Limit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
        4 => Limit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT,
        5 => Limit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY,
        6 => Limit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE,
        other => return Err(Error::value(format!("a limit is a number from 0 to 6, not {other}"))),
    })
}

/// Converts a cache preference, a number from 0 to 3, to the driver's enum value.
pub fn cache_of(preference: i32) -> Result<Cache> {
    Ok(match preference {
        0 => Cache::CU_FUNC_CACHE_PREFER_NONE,
        1 => Cache::CU_FUNC_CACHE_PREFER_SHARED,
        2 => Cache::CU_FUNC_CACHE_PREFER_L1,
        3 => Cache::CU_FUNC_CACHE_PREFER_EQUAL,
        other => return Err(Error::value(format!("a cache preference is 0, 1, 2 or 3, not {other}"))),
    })
}

impl Contexts for Driver<Cuda> {
    fn context(&self, device: i32) -> Result<usize> {
        self.context_of(device, "cuDevicePrimaryCtxRetain").map(|context| context.expose_provenance())
    }

    fn within(&self, device: i32, operation: &'static str, work: &mut dyn FnMut()) -> Result<()> {
        let _current = self.enter(device, operation)?;
        self.beside_captures(work);
        Ok(())
    }

    fn limit(&self, device: i32, number: i32) -> Result<usize> {
        let which = limit_of(number)?;
        let get = self.api.cuCtxGetLimit.ok_or_else(|| absent("cuCtxGetLimit"))?;
        let mut value = 0;
        // SAFETY: the out-parameter is writable.
        let ask = |_: &CurrentDeviceGuard<'_, Cuda>| unsafe { get(&mut value, which) };
        self.call(device, "cuCtxGetLimit", ask, || format!("{which:?}"))?;
        Ok(value)
    }

    fn set_limit(&self, device: i32, number: i32, value: usize) -> Result<()> {
        let which = limit_of(number)?;
        let set = self.api.cuCtxSetLimit.ok_or_else(|| absent("cuCtxSetLimit"))?;
        // SAFETY: the call takes only numbers; the driver rejects invalid ones.
        let tell = |_: &CurrentDeviceGuard<'_, Cuda>| unsafe { set(which, value) };
        self.call(device, "cuCtxSetLimit", tell, || format!("{which:?} = {value}"))
    }

    fn cache_preference(&self, device: i32) -> Result<i32> {
        let get = self.api.cuCtxGetCacheConfig.ok_or_else(|| absent("cuCtxGetCacheConfig"))?;
        let mut value = 0i32;
        // SAFETY: the out-parameter is writable and as wide as the enum. It is an integer, because a newer driver may
        // return values that the enum lacks.
        let ask = |_: &CurrentDeviceGuard<'_, Cuda>| unsafe { get((&raw mut value).cast()) };
        self.call(device, "cuCtxGetCacheConfig", ask, String::new)?;
        Ok(value)
    }

    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        let preference = cache_of(preference)?;
        let set = self.api.cuCtxSetCacheConfig.ok_or_else(|| absent("cuCtxSetCacheConfig"))?;
        // SAFETY: the call takes only a number; the driver rejects invalid ones.
        let tell = |_: &CurrentDeviceGuard<'_, Cuda>| unsafe { set(preference) };
        self.call(device, "cuCtxSetCacheConfig", tell, || format!("{preference:?}"))
    }
}
