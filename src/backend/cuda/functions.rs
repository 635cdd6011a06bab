//! What is known of a kernel, and what can be set of it.

use std::ffi::c_int;

use super::context::Current;
use super::driver::Cuda;
use super::errors::{INVALID_VALUE, SUCCESS};
use super::settings::cache_of;
use super::sys::{CUfunction, CUfunction_attribute as Attribute};
use crate::backend::{FunctionAttributes, FunctionHandle, FunctionSetting, ParameterPlace};
use crate::error::{Error, Result};

pub fn raw(function: FunctionHandle) -> CUfunction {
    std::ptr::with_exposed_provenance_mut(function.0)
}

/// What is known of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn attributes(cuda: &Cuda, device: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
    let ask = |which: Attribute| {
        let mut value: c_int = 0;
        // SAFETY: the target is writable, the function alive.
        let ask = |on: &Current<'_>| unsafe { (on.api.cuFuncGetAttribute)(&mut value, which, raw(function)) };
        cuda.call(device, "cuFuncGetAttribute", ask, || format!("{which:?}"))?;
        Ok::<_, Error>(value)
    };
    Ok(FunctionAttributes {
        max_threads_per_block: ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        static_shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        constant_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
        local_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        registers: ask(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        ptx_version: ask(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
        binary_version: ask(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        max_dynamic_shared_bytes: ask(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
        preferred_carveout: ask(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)?,
    })
}

/// Sets something of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn set(cuda: &Cuda, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()> {
    let (which, value) = match setting {
        FunctionSetting::MaxDynamicSharedBytes(bytes) => {
            (Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)
        }
        FunctionSetting::PreferredCarveout(percent) => {
            (Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)
        }
        FunctionSetting::CachePreference(preference) => {
            // SAFETY: the caller's promise is this function's.
            return unsafe { prefer(cuda, device, function, preference) };
        }
    };
    // SAFETY: the function is alive; the driver refuses values it does not take.
    let tell = |on: &Current<'_>| unsafe { (on.api.cuFuncSetAttribute)(raw(function), which, value) };
    cuda.call(device, "cuFuncSetAttribute", tell, || format!("{setting:?}"))
}

unsafe fn prefer(cuda: &Cuda, device: i32, function: FunctionHandle, preference: i32) -> Result<()> {
    let preference = cache_of(preference)?;
    // SAFETY: the function is alive.
    let tell = |on: &Current<'_>| unsafe { (on.api.cuFuncSetCacheConfig)(raw(function), preference) };
    cuda.call(device, "cuFuncSetCacheConfig", tell, || format!("{preference:?}"))
}

/// The parameters in order; `None` from a driver before 12.4.
///
/// # Safety
/// The function is alive.
pub unsafe fn parameters(cuda: &Cuda, device: i32, function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
    let Some(info) = cuda.api.cuFuncGetParamInfo else { return Ok(None) };
    let mut places = Vec::new();
    loop {
        let mut place = ParameterPlace { offset: 0, size: 0 };
        let mut is_end = false;
        let ask = |_: &Current<'_>| {
            // SAFETY: both targets are writable, the function alive.
            match unsafe { info(raw(function), places.len(), &mut place.offset, &mut place.size) } {
                INVALID_VALUE => {
                    is_end = true;
                    SUCCESS
                }
                code => code,
            }
        };
        cuda.call(device, "cuFuncGetParamInfo", ask, String::new)?;
        if is_end {
            return Ok(Some(places));
        }
        places.push(place);
    }
}

/// Blocks that run on one multiprocessor at once.
///
/// # Safety
/// The function is alive.
pub unsafe fn active_blocks(
    cuda: &Cuda,
    device: i32,
    function: FunctionHandle,
    threads: u32,
    shared: u32,
) -> Result<u32> {
    let mut blocks: c_int = 0;
    let count = i32::try_from(threads).unwrap_or(i32::MAX);
    let ask = |on: &Current<'_>| {
        let ask = on.api.cuOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the target is writable, the function alive.
        unsafe { ask(&mut blocks, raw(function), count, shared as usize) }
    };
    let operation = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    cuda.call(device, operation, ask, || format!("{threads} threads, {shared} bytes of shared memory"))?;
    Ok(blocks.max(0) as u32)
}

/// The fewest blocks that fill the device, and the threads of a block.
///
/// # Safety
/// The function is alive.
pub unsafe fn suggested_shape(
    cuda: &Cuda,
    device: i32,
    function: FunctionHandle,
    shared: u32,
    limit: u32,
) -> Result<(u32, u32)> {
    let (mut grid, mut threads): (c_int, c_int) = (0, 0);
    let most = i32::try_from(limit).unwrap_or(i32::MAX);
    let ask = |on: &Current<'_>| {
        let ask = on.api.cuOccupancyMaxPotentialBlockSize;
        // SAFETY: both targets are writable, the function alive; without a callback `shared` holds for every size.
        unsafe { ask(&mut grid, &mut threads, raw(function), None, shared as usize, most) }
    };
    let operation = "cuOccupancyMaxPotentialBlockSize";
    cuda.call(device, operation, ask, || format!("{shared} bytes of shared memory, at most {limit} threads"))?;
    Ok((grid.max(0) as u32, threads.max(0) as u32))
}
