//! Queries device properties. The architecture comes from the runtime's structure of device properties, and all other
//! properties come from the runtime's device attributes.

use std::ffi::c_int;

use super::driver::Hip;
use super::sys::{
    ARCHITECTURE_AT, ARCHITECTURE_AT_R0600, ARCHITECTURE_SIZE, PROPERTIES_SIZE, hipDeviceAttribute_t as Attribute,
    hipDeviceAttributeAsyncEngineCount, hipDeviceAttributeClockRate, hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeComputeCapabilityMinor, hipDeviceAttributeCooperativeLaunch, hipDeviceAttributeIntegrated,
    hipDeviceAttributeL2CacheSize, hipDeviceAttributeMaxBlockDimX, hipDeviceAttributeMaxBlockDimY,
    hipDeviceAttributeMaxBlockDimZ, hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxGridDimY,
    hipDeviceAttributeMaxGridDimZ, hipDeviceAttributeMaxPitch, hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeMaxThreadsPerBlock, hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeMemoryPoolsSupported, hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributePageableMemoryAccessUsesHostPageTables, hipDeviceAttributePciBusId,
    hipDeviceAttributePciDeviceId, hipDeviceAttributePciDomainID, hipDeviceAttributeWarpSize, hipDeviceProp_t,
    hipDeviceProp_tR0600, hipUUID,
};
use crate::BackendKind;
use crate::cuda_and_hip::{CurrentDeviceGuard, DeviceAttributes, Driver, VendorDevices, fork_guard};
use crate::error_codes::{PEER_ACCESS_ALREADY_ENABLED, SUCCESS};
use pygpu_base::error::Result;

impl VendorDevices for Hip {
    const ATTRIBUTES: DeviceAttributes<Attribute> = DeviceAttributes {
        pci_domain: hipDeviceAttributePciDomainID,
        pci_bus: hipDeviceAttributePciBusId,
        pci_device: hipDeviceAttributePciDeviceId,
        capability_major: hipDeviceAttributeComputeCapabilityMajor,
        capability_minor: hipDeviceAttributeComputeCapabilityMinor,
        multiprocessor_count: hipDeviceAttributeMultiprocessorCount,
        warp_size: hipDeviceAttributeWarpSize,
        threads_per_multiprocessor: hipDeviceAttributeMaxThreadsPerMultiProcessor,
        max_threads_per_block: hipDeviceAttributeMaxThreadsPerBlock,
        l2_cache_size: hipDeviceAttributeL2CacheSize,
        clock_rate: hipDeviceAttributeClockRate,
        memory_pools: hipDeviceAttributeMemoryPoolsSupported,
        integrated: hipDeviceAttributeIntegrated,
        async_engine_count: hipDeviceAttributeAsyncEngineCount,
        max_pitch: hipDeviceAttributeMaxPitch,
        uses_host_page_tables: hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
        max_block: [hipDeviceAttributeMaxBlockDimX, hipDeviceAttributeMaxBlockDimY, hipDeviceAttributeMaxBlockDimZ],
        max_grid: [hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxGridDimY, hipDeviceAttributeMaxGridDimZ],
        shared_per_block: hipDeviceAttributeMaxSharedMemoryPerBlock,
        cooperative_launch: hipDeviceAttributeCooperativeLaunch,
    };

    fn attribute_name(which: Attribute) -> String {
        format!("attribute {which}")
    }

    /// Returns the architecture with its features, as the compiler expects it: `gfx90a:sramecc+:xnack-`. HIP 6 extended
    /// the structure that contains the architecture and added a new function for the extended structure. The old
    /// function still fills the old structure.
    fn architecture(driver: &Driver<Self>, device: i32, _: (i32, i32)) -> Result<String> {
        let (code, operation, bytes, at) = if let Some(ask) = driver.api.hipGetDevicePropertiesR0600 {
            let mut properties = Box::new(hipDeviceProp_tR0600([0; PROPERTIES_SIZE]));
            // SAFETY: the out-parameter is writable and larger than the structure of any version.
            let code = unsafe { ask(&mut *properties, device) };
            (code, "hipGetDevicePropertiesR0600", properties.0, ARCHITECTURE_AT_R0600)
        } else if let Some(ask) = driver.api.hipGetDeviceProperties {
            let mut properties = Box::new(hipDeviceProp_t([0; PROPERTIES_SIZE]));
            // SAFETY: the out-parameter is writable and larger than the structure of any version.
            let code = unsafe { ask(&mut *properties, device) };
            (code, "hipGetDeviceProperties", properties.0, ARCHITECTURE_AT)
        } else {
            return Ok(String::new());
        };
        if code != SUCCESS {
            return Err(driver.refusal(code, operation, Some(device), String::new()));
        }
        let text = bytes[at..at + ARCHITECTURE_SIZE].split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Stores the device's UUID, which consists of sixteen characters of the device's serial number. For a device
    /// without a serial number, stores zeros.
    unsafe fn uuid(driver: &Driver<Self>, handle: c_int, target: *mut hipUUID) -> u32 {
        // SAFETY: the caller guarantees that the device exists and the target is writable.
        unsafe { (driver.symbols.device_uuid)(target, handle) }
    }

    fn current(driver: &Driver<Self>) -> Result<i32> {
        fork_guard::refuse(BackendKind::Hip, "hipGetDevice")?;
        // The call bypasses the guard that blocks driver calls at process exit, because it only reads a thread-local
        // variable. Threads that hold the GIL also make this call. If the guard blocked such a thread, the thread would
        // never release the GIL.
        driver.found()
    }

    fn set_current(driver: &Driver<Self>, device: i32) -> Result<()> {
        fork_guard::refuse(BackendKind::Hip, "hipSetDevice")?;
        driver.slot(device, "hipSetDevice")?;
        driver.switch(device)
    }

    unsafe fn reset(driver: &Driver<Self>, device: i32) -> Result<()> {
        // SAFETY: the caller guarantees that no object of the device is used afterwards.
        driver.call(device, "hipDeviceReset", |on| unsafe { (on.api.hipDeviceReset)() }, String::new)
    }

    fn enable_peer(driver: &Driver<Self>, device: i32, peer: i32) -> Result<()> {
        let operation = "hipDeviceEnablePeerAccess";
        driver.slot(peer, operation)?;
        let enable = |on: &CurrentDeviceGuard<'_, Self>| {
            // SAFETY: the peer exists; 0 is the only valid value of the flags.
            let code = unsafe { (on.api.hipDeviceEnablePeerAccess)(peer, 0) };
            driver.tolerated(code, PEER_ACCESS_ALREADY_ENABLED)
        };
        driver.call(device, operation, enable, || format!("device {device}, peer {peer}"))
    }
}
