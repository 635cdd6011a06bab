//! What a device is, by the runtime's attributes and, for the architecture, its structure of properties.

use std::ffi::{CStr, c_char, c_int};

use super::context::Current;
use super::driver::Hip;
use super::errors::{SUCCESS, refusal};
use super::sys::{
    ARCHITECTURE_AT, ARCHITECTURE_AT_R0600, ARCHITECTURE_SIZE, Api, PROPERTIES_SIZE, hipDeviceAttribute_t as Attribute,
    hipDeviceAttributeAsyncEngineCount as ASYNC_ENGINE_COUNT, hipDeviceAttributeClockRate as CLOCK_RATE,
    hipDeviceAttributeComputeCapabilityMajor as MAJOR, hipDeviceAttributeComputeCapabilityMinor as MINOR,
    hipDeviceAttributeIntegrated as INTEGRATED, hipDeviceAttributeL2CacheSize as L2_CACHE_SIZE,
    hipDeviceAttributeMaxThreadsPerBlock as MAX_THREADS_PER_BLOCK,
    hipDeviceAttributeMemoryPoolsSupported as MEMORY_POOLS,
    hipDeviceAttributeMultiprocessorCount as MULTIPROCESSOR_COUNT, hipDeviceAttributePciBusId as PCI_BUS,
    hipDeviceAttributePciDeviceId as PCI_DEVICE, hipDeviceAttributePciDomainID as PCI_DOMAIN,
    hipDeviceAttributeWarpSize as WARP_SIZE, hipDeviceProp_t, hipDeviceProp_tR0600, hipUUID,
};
use crate::backend::{BackendKind, DeviceProperties, MemoryInfo, fork};
use crate::error::Result;

/// One attribute, or the runtime's code.
pub fn attribute(api: &Api, device: i32, which: Attribute) -> std::result::Result<c_int, u32> {
    let mut value = 0;
    // SAFETY: the target is writable.
    match unsafe { (api.hipDeviceGetAttribute)(&mut value, which, device) } {
        SUCCESS => Ok(value),
        code => {
            // SAFETY: has no preconditions. Not every caller makes an error of the code.
            unsafe { (api.hipGetLastError)() };
            Err(code)
        }
    }
}

/// The properties of a device.
pub fn properties(hip: &Hip, device: i32) -> Result<DeviceProperties> {
    let operation = "hipDeviceGetAttribute";
    fork::refuse(BackendKind::Hip, operation)?;
    let api = &hip.api;
    hip.slot(device, operation)?;
    let ask = |which: Attribute| {
        let refused = |code| refusal(api, code, operation, Some(device), format!("attribute {which}"));
        attribute(api, device, which).map_err(refused)
    };
    Ok(DeviceProperties {
        name: name(hip, device)?,
        uuid: uuid(hip, device)?,
        pci: (ask(PCI_DOMAIN)?, ask(PCI_BUS)?, ask(PCI_DEVICE)?),
        compute_capability: (ask(MAJOR)?, ask(MINOR)?),
        architecture: architecture(hip, device)?,
        total_memory: total_memory(hip, device)?,
        multiprocessor_count: ask(MULTIPROCESSOR_COUNT)?,
        warp_size: ask(WARP_SIZE)?,
        max_threads_per_block: ask(MAX_THREADS_PER_BLOCK)?,
        l2_cache_size: ask(L2_CACHE_SIZE)?,
        clock_rate: ask(CLOCK_RATE).unwrap_or(0),
        memory_pools: has_pools(hip, device)?,
        integrated: ask(INTEGRATED)? != 0,
        async_engine_count: ask(ASYNC_ENGINE_COUNT)?,
    })
}

/// Whether stream-ordered pools exist. Every runtime that is taken knows the question.
pub fn has_pools(hip: &Hip, device: i32) -> Result<bool> {
    let operation = "hipDeviceGetAttribute";
    fork::refuse(BackendKind::Hip, operation)?;
    hip.slot(device, operation)?;
    let supported = attribute(&hip.api, device, MEMORY_POOLS);
    supported
        .map(|value| value != 0)
        .map_err(|code| refusal(&hip.api, code, operation, Some(device), "MemoryPoolsSupported".to_owned()))
}

fn name(hip: &Hip, device: i32) -> Result<String> {
    let mut text: [c_char; 257] = [0; 257];
    // SAFETY: the buffer is as long as is said, and one longer, so that it ends with 0 in any case.
    match unsafe { (hip.api.hipDeviceGetName)(text.as_mut_ptr(), 256, device) } {
        // SAFETY: the buffer ends with 0.
        SUCCESS => Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()),
        code => Err(refusal(&hip.api, code, "hipDeviceGetName", Some(device), String::new())),
    }
}

/// Sixteen characters of AMD's serial number; zeros where the device has none.
fn uuid(hip: &Hip, device: i32) -> Result<[u8; 16]> {
    let mut uuid = hipUUID { bytes: [0; 16] };
    // SAFETY: the target is writable.
    match unsafe { (hip.api.hipDeviceGetUuid)(&mut uuid, device) } {
        SUCCESS => Ok(uuid.bytes.map(|byte| byte as u8)),
        code => Err(refusal(&hip.api, code, "hipDeviceGetUuid", Some(device), String::new())),
    }
}

fn total_memory(hip: &Hip, device: i32) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: the target is writable.
    match unsafe { (hip.api.hipDeviceTotalMem)(&mut bytes, device) } {
        SUCCESS => Ok(bytes),
        code => Err(refusal(&hip.api, code, "hipDeviceTotalMem", Some(device), String::new())),
    }
}

/// The architecture with its features, as the compiler takes it: `gfx90a:sramecc+:xnack-`. The structure that holds it grew
/// with HIP 6, where a new function fills it; the old function, kept for old programs, fills the old one for ever.
fn architecture(hip: &Hip, device: i32) -> Result<String> {
    let (code, operation, bytes, at) = if let Some(ask) = hip.api.hipGetDevicePropertiesR0600 {
        let mut properties = Box::new(hipDeviceProp_tR0600([0; PROPERTIES_SIZE]));
        // SAFETY: the target is writable and has room for more than any version writes.
        let code = unsafe { ask(&mut *properties, device) };
        (code, "hipGetDevicePropertiesR0600", properties.0, ARCHITECTURE_AT_R0600)
    } else if let Some(ask) = hip.api.hipGetDeviceProperties {
        let mut properties = Box::new(hipDeviceProp_t([0; PROPERTIES_SIZE]));
        // SAFETY: as above.
        let code = unsafe { ask(&mut *properties, device) };
        (code, "hipGetDeviceProperties", properties.0, ARCHITECTURE_AT)
    } else {
        return Ok(String::new());
    };
    if code != SUCCESS {
        return Err(refusal(&hip.api, code, operation, Some(device), String::new()));
    }
    let text = bytes[at..at + ARCHITECTURE_SIZE].split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Free and total memory; the runtime answers for the current device only.
pub fn memory_info(hip: &Hip, device: i32) -> Result<MemoryInfo> {
    let mut info = MemoryInfo { free: 0, total: 0 };
    // SAFETY: both targets are writable.
    let ask = |on: &Current<'_>| unsafe { (on.api.hipMemGetInfo)(&mut info.free, &mut info.total) };
    hip.call(device, "hipMemGetInfo", ask, String::new)?;
    Ok(info)
}
