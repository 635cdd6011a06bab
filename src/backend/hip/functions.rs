//! What is known of a kernel, and what can be set of it.

use std::ffi::c_int;

use super::context::Current;
use super::driver::Hip;
use super::sys::{
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_NUM_REGS, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, HIP_FUNC_ATTRIBUTE_PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, hipFunction_attribute, hipFunction_t,
};
use crate::backend::{FunctionAttributes, FunctionHandle, FunctionSetting};
use crate::error::{Error, Result};

pub fn raw(function: FunctionHandle) -> hipFunction_t {
    std::ptr::with_exposed_provenance_mut(function.0)
}

/// What is known of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn attributes(hip: &Hip, device: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
    let ask = |which: hipFunction_attribute| {
        let mut value: c_int = 0;
        // SAFETY: the target is writable, the function alive.
        let ask = |on: &Current<'_>| unsafe { (on.api.hipFuncGetAttribute)(&mut value, which, raw(function)) };
        hip.call(device, "hipFuncGetAttribute", ask, || format!("attribute {which}"))?;
        Ok::<_, Error>(value)
    };
    Ok(FunctionAttributes {
        max_threads_per_block: ask(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        static_shared_bytes: ask(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        constant_bytes: ask(HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
        local_bytes: ask(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        registers: ask(HIP_FUNC_ATTRIBUTE_NUM_REGS)?,
        ptx_version: ask(HIP_FUNC_ATTRIBUTE_PTX_VERSION)?,
        binary_version: ask(HIP_FUNC_ATTRIBUTE_BINARY_VERSION)?,
        max_dynamic_shared_bytes: ask(HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
        preferred_carveout: ask(HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)?,
    })
}

/// Sets something of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn set(hip: &Hip, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()> {
    let (which, value) = match setting {
        FunctionSetting::MaxDynamicSharedBytes(bytes) => (HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes),
        FunctionSetting::PreferredCarveout(percent) => (HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent),
        FunctionSetting::CachePreference(preference) => {
            // SAFETY: the caller's promise is this function's.
            return unsafe { prefer(hip, device, function, preference) };
        }
    };
    // SAFETY: the function is alive; the driver refuses values it does not take.
    let tell = |on: &Current<'_>| unsafe { (on.api.hipFuncSetAttribute)(raw(function), which, value) };
    hip.call(device, "hipFuncSetAttribute", tell, || format!("{setting:?}"))
}

unsafe fn prefer(hip: &Hip, device: i32, function: FunctionHandle, preference: i32) -> Result<()> {
    let Some(preference) = u32::try_from(preference).ok().filter(|number| *number <= 3) else {
        return Err(Error::value(format!("a cache preference is 0, 1, 2 or 3, not {preference}")));
    };
    // SAFETY: the function is alive.
    let tell = |on: &Current<'_>| unsafe { (on.api.hipFuncSetCacheConfig)(raw(function), preference) };
    hip.call(device, "hipFuncSetCacheConfig", tell, || format!("preference {preference}"))
}

/// Blocks that run on one multiprocessor at once.
///
/// # Safety
/// The function is alive.
pub unsafe fn active_blocks(
    hip: &Hip,
    device: i32,
    function: FunctionHandle,
    threads: u32,
    shared: u32,
) -> Result<u32> {
    let mut blocks: c_int = 0;
    let count = i32::try_from(threads).unwrap_or(i32::MAX);
    let ask = |on: &Current<'_>| {
        let ask = on.api.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
        // SAFETY: the target is writable, the function alive.
        unsafe { ask(&mut blocks, raw(function), count, shared as usize) }
    };
    let operation = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor";
    hip.call(device, operation, ask, || format!("{threads} threads, {shared} bytes of shared memory"))?;
    Ok(blocks.max(0) as u32)
}

/// The fewest blocks that fill the device, and the threads of a block.
///
/// # Safety
/// The function is alive.
pub unsafe fn suggested_shape(
    hip: &Hip,
    device: i32,
    function: FunctionHandle,
    shared: u32,
    limit: u32,
) -> Result<(u32, u32)> {
    let (mut grid, mut threads): (c_int, c_int) = (0, 0);
    let most = i32::try_from(limit).unwrap_or(i32::MAX);
    let ask = |on: &Current<'_>| {
        let ask = on.api.hipModuleOccupancyMaxPotentialBlockSize;
        // SAFETY: both targets are writable, the function alive.
        unsafe { ask(&mut grid, &mut threads, raw(function), shared as usize, most) }
    };
    let operation = "hipModuleOccupancyMaxPotentialBlockSize";
    hip.call(device, operation, ask, || format!("{shared} bytes of shared memory, at most {limit} threads"))?;
    Ok((grid.max(0) as u32, threads.max(0) as u32))
}
