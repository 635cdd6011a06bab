//! What is known of a kernel, and what can be set of it.
//!
//! Nothing is set here by a call: `hipFuncSetAttribute` and `hipFuncSetCacheConfig` take the host's address of a kernel that
//! was compiled into the program, which a kernel of a module has not. Nor is anything lost by that: a kernel may use all of
//! the shared memory without asking, and AMD's devices have no cache to divide.

use std::ffi::c_int;

use super::context::Current;
use super::driver::Hip;
use super::sys::{
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION as BINARY_VERSION, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES as CONST_SIZE,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES as LOCAL_SIZE,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as MAX_DYNAMIC_SHARED_SIZE,
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK as MAX_THREADS, HIP_FUNC_ATTRIBUTE_NUM_REGS as NUM_REGS,
    HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT as CARVEOUT, HIP_FUNC_ATTRIBUTE_PTX_VERSION as PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES as SHARED_SIZE, hipFunction_attribute as Attribute, hipFunction_t,
};
use crate::backend::{FunctionAttributes, FunctionHandle, FunctionSetting};
use crate::error::{Error, Result};

pub fn raw(function: FunctionHandle) -> hipFunction_t {
    std::ptr::with_exposed_provenance_mut(function.0)
}

/// One attribute.
///
/// # Safety
/// The function is alive.
unsafe fn attribute(hip: &Hip, device: i32, function: FunctionHandle, which: Attribute) -> Result<c_int> {
    let mut value: c_int = 0;
    // SAFETY: the target is writable, the function alive.
    let ask = |on: &Current<'_>| unsafe { (on.api.hipFuncGetAttribute)(&mut value, which, raw(function)) };
    hip.call(device, "hipFuncGetAttribute", ask, || format!("attribute {which}"))?;
    Ok(value)
}

/// What is known of a kernel.
///
/// # Safety
/// It is alive.
pub unsafe fn attributes(hip: &Hip, device: i32, function: FunctionHandle) -> Result<FunctionAttributes> {
    // SAFETY: the caller's promise.
    let ask = |which| unsafe { attribute(hip, device, function, which) };
    Ok(FunctionAttributes {
        max_threads_per_block: ask(MAX_THREADS)?,
        static_shared_bytes: ask(SHARED_SIZE)?,
        constant_bytes: ask(CONST_SIZE)?,
        local_bytes: ask(LOCAL_SIZE)?,
        registers: ask(NUM_REGS)?,
        ptx_version: ask(PTX_VERSION)?,
        binary_version: ask(BINARY_VERSION)?,
        max_dynamic_shared_bytes: ask(MAX_DYNAMIC_SHARED_SIZE)?,
        preferred_carveout: ask(CARVEOUT)?,
    })
}

/// Takes a wish that the device has no use for, if it is one.
///
/// # Safety
/// The function is alive.
pub unsafe fn set(hip: &Hip, device: i32, function: FunctionHandle, setting: FunctionSetting) -> Result<()> {
    let (what, value, range) = match setting {
        FunctionSetting::MaxDynamicSharedBytes(bytes) => {
            // SAFETY: the caller's promise.
            let most = unsafe { attribute(hip, device, function, MAX_DYNAMIC_SHARED_SIZE) }?;
            ("the dynamic shared memory of a block in bytes", bytes, 0..=most)
        }
        FunctionSetting::PreferredCarveout(percent) => ("a preferred carveout in percent", percent, -1..=100),
        FunctionSetting::CachePreference(preference) => ("a cache preference", preference, 0..=3),
    };
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::value(format!("{what} is {} to {} on hip:{device}, not {value}", range.start(), range.end())))
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
