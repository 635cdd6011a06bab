//! What a device is, by the driver's attributes. Needs no context.

use std::ffi::{CStr, c_char, c_int};

use super::context::Current;
use super::driver::Cuda;
use super::errors::{SUCCESS, refusal};
use super::sys::{Api, CUdevice, CUdevice_attribute as Attribute, CUuuid};
use crate::backend::{BackendKind, DeviceProperties, MemoryInfo, fork};
use crate::error::Result;

/// One attribute, or the driver's code.
pub fn attribute(api: &Api, device: CUdevice, which: Attribute) -> std::result::Result<c_int, u32> {
    let mut value = 0;
    // SAFETY: the target is writable.
    match unsafe { (api.cuDeviceGetAttribute)(&mut value, which, device) } {
        SUCCESS => Ok(value),
        code => Err(code),
    }
}

/// The properties of a device.
pub fn properties(cuda: &Cuda, device: i32) -> Result<DeviceProperties> {
    let operation = "cuDeviceGetAttribute";
    fork::refuse(BackendKind::Cuda, operation)?;
    let (api, handle) = (&cuda.api, cuda.slot(device, operation)?.handle);
    let ask = |which: Attribute| {
        attribute(api, handle, which).map_err(|code| refusal(api, code, operation, Some(device), format!("{which:?}")))
    };
    let (major, minor) = (
        ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        ask(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    Ok(DeviceProperties {
        name: name(cuda, device, handle)?,
        uuid: uuid(cuda, device, handle)?,
        pci: (
            ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            ask(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
        ),
        compute_capability: (major, minor),
        architecture: format!("sm_{major}{minor}"),
        total_memory: total_memory(cuda, device, handle)?,
        multiprocessor_count: ask(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        warp_size: ask(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        max_threads_per_block: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        l2_cache_size: ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        // On its way out since CUDA 13; a driver that no longer says it is no reason to fail.
        clock_rate: ask(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
        memory_pools: ask(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)? != 0,
        integrated: ask(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
        async_engine_count: ask(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)?,
    })
}

/// Whether the device has stream-ordered pools.
pub fn has_pools(cuda: &Cuda, device: i32) -> Result<bool> {
    let operation = "cuDeviceGetAttribute";
    fork::refuse(BackendKind::Cuda, operation)?;
    let handle = cuda.slot(device, operation)?.handle;
    let which = Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    let supported = attribute(&cuda.api, handle, which);
    supported
        .map(|value| value != 0)
        .map_err(|code| refusal(&cuda.api, code, operation, Some(device), format!("{which:?}")))
}

fn name(cuda: &Cuda, device: i32, handle: CUdevice) -> Result<String> {
    let mut text: [c_char; 256] = [0; 256];
    // SAFETY: the target has the length given; the last byte is kept out of it and stays 0.
    let code = unsafe { (cuda.api.cuDeviceGetName)(text.as_mut_ptr(), 255, handle) };
    if code != SUCCESS {
        return Err(refusal(&cuda.api, code, "cuDeviceGetName", Some(device), String::new()));
    }
    // SAFETY: the buffer ends with 0.
    Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
}

/// The second version of the call tells the slices of a partitioned device apart; the first names the whole device.
fn uuid(cuda: &Cuda, device: i32, handle: CUdevice) -> Result<[u8; 16]> {
    let mut uuid = CUuuid { bytes: [0; 16] };
    let ask = cuda.api.cuDeviceGetUuid_v2.unwrap_or(cuda.api.cuDeviceGetUuid);
    // SAFETY: the target is writable.
    match unsafe { ask(&mut uuid, handle) } {
        SUCCESS => Ok(uuid.bytes.map(|byte| byte as u8)),
        code => Err(refusal(&cuda.api, code, "cuDeviceGetUuid", Some(device), String::new())),
    }
}

fn total_memory(cuda: &Cuda, device: i32, handle: CUdevice) -> Result<usize> {
    let mut bytes = 0;
    // SAFETY: the target is writable.
    match unsafe { (cuda.api.cuDeviceTotalMem_v2)(&mut bytes, handle) } {
        SUCCESS => Ok(bytes),
        code => Err(refusal(&cuda.api, code, "cuDeviceTotalMem", Some(device), String::new())),
    }
}

/// Free and total memory; the driver answers for the current device only.
pub fn memory_info(cuda: &Cuda, device: i32) -> Result<MemoryInfo> {
    let mut info = MemoryInfo { free: 0, total: 0 };
    // SAFETY: both targets are writable.
    let ask = |on: &Current<'_>| unsafe { (on.api.cuMemGetInfo_v2)(&mut info.free, &mut info.total) };
    cuda.call(device, "cuMemGetInfo", ask, String::new)?;
    Ok(info)
}
