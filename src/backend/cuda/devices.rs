//! Queries device properties by the driver's attributes, and the current device of a thread by its context.

use std::ffi::c_int;

use super::driver::Cuda;
use super::sys::{CUcontext, CUdevice_attribute as Attribute, CUuuid};
use crate::cuda_and_hip::{CurrentDeviceGuard, DeviceAttributes, Driver, DriverCallGuard, VendorDevices, fork_guard};
use crate::error_codes::{PEER_ACCESS_ALREADY_ENABLED, SUCCESS};
use crate::{BackendKind, default_device};
use pygpu_base::error::Result;

impl VendorDevices for Cuda {
    const ATTRIBUTES: DeviceAttributes<Attribute> = DeviceAttributes {
        pci_domain: Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID,
        pci_bus: Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID,
        pci_device: Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID,
        capability_major: Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        capability_minor: Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        multiprocessor_count: Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
        warp_size: Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE,
        threads_per_multiprocessor: Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
        max_threads_per_block: Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        l2_cache_size: Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
        clock_rate: Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
        memory_pools: Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
        integrated: Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED,
        async_engine_count: Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT,
        max_pitch: Attribute::CU_DEVICE_ATTRIBUTE_MAX_PITCH,
        uses_host_page_tables: Attribute::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
        max_block: [
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
        ],
        max_grid: [
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
        ],
        shared_per_block: Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
        cooperative_launch: Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH,
    };

    fn attribute_name(which: Attribute) -> String {
        format!("{which:?}")
    }

    fn architecture(_: &Driver<Self>, _: i32, (major, minor): (i32, i32)) -> Result<String> {
        Ok(format!("sm_{major}{minor}"))
    }

    /// Stores the device's UUID. If a device is partitioned (MIG), the second version of the driver's function returns
    /// the UUID of the partition; the first version returns the UUID of the whole device.
    unsafe fn uuid(driver: &Driver<Self>, handle: c_int, target: *mut CUuuid) -> u32 {
        let ask = driver.api.cuDeviceGetUuid_v2.unwrap_or(driver.symbols.device_uuid);
        // SAFETY: the caller guarantees that the device exists and the target is writable.
        unsafe { ask(target, handle) }
    }

    fn current(driver: &Driver<Self>) -> Result<i32> {
        const OPERATION: &str = "cuCtxGetCurrent";
        fork_guard::refuse(BackendKind::Cuda, OPERATION)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // The call bypasses the guard that blocks driver calls at process exit, because it only reads a thread-local
        // variable. Threads that hold the GIL also make this call. If the guard blocked such a thread, the thread would
        // never release the GIL.
        // SAFETY: the out-parameter is writable.
        let code = unsafe { (driver.api.cuCtxGetCurrent)(&mut found) };
        if code != SUCCESS {
            return Err(driver.refusal(code, OPERATION, None, String::new()));
        }
        if found.is_null() { Ok(default_device(BackendKind::Cuda)) } else { driver.device_of(found) }
    }

    fn set_current(driver: &Driver<Self>, device: i32) -> Result<()> {
        let operation = "cuCtxSetCurrent";
        let context = driver.context_of(device, operation)?;
        // SAFETY: the context is a retained primary context.
        match unsafe { (driver.api.cuCtxSetCurrent)(context) } {
            SUCCESS => Ok(()),
            code => Err(driver.refusal(code, operation, Some(device), String::new())),
        }
    }

    /// Resets a device. The thread's current device stays the same.
    unsafe fn reset(driver: &Driver<Self>, device: i32) -> Result<()> {
        let operation = "cuDevicePrimaryCtxReset";
        fork_guard::refuse(BackendKind::Cuda, operation)?;
        let _passage = DriverCallGuard::begin();
        let slot = driver.slot(device, operation)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable.
        let ask = |driver: &Driver<Self>| unsafe { (driver.api.cuCtxGetCurrent)(&mut found) };
        driver.call_anywhere("cuCtxGetCurrent", ask, String::new)?;
        let was_current = !found.is_null() && driver.owner(found) == Some(device);
        // SAFETY: the caller guarantees that no object of the device is used afterwards.
        let code = unsafe { (driver.api.cuDevicePrimaryCtxReset_v2)(slot.handle) };
        if code != SUCCESS {
            return Err(driver.refusal(code, operation, Some(device), String::new()));
        }
        // The reset invalidates the stored handle of the context until the context is retained again. It is cleared,
        // because no thread may compare contexts with it.
        driver.forget_context(slot);
        // The reset has succeeded. An error of the following call is ignored, because returning it would suggest that
        // the reset has failed. A driver that fails here also fails in every later call, which reports the error.
        let _ = match (was_current, device) {
            (false, _) => Ok(()),
            // If the thread has no current context, it uses this device implicitly. The thread's current context is
            // therefore only cleared.
            (true, device) if device == default_device(BackendKind::Cuda) => {
                let none = std::ptr::null_mut();
                // SAFETY: null, which means no context, is always allowed.
                let set = |driver: &Driver<Self>| unsafe { (driver.api.cuCtxSetCurrent)(none) };
                driver.call_anywhere("cuCtxSetCurrent", set, String::new)
            }
            (true, _) => Self::set_current(driver, device),
        };
        Ok(())
    }

    fn enable_peer(driver: &Driver<Self>, device: i32, peer: i32) -> Result<()> {
        let operation = "cuCtxEnablePeerAccess";
        let other = driver.context_of(peer, operation)?;
        let enable = |on: &CurrentDeviceGuard<'_, Self>| {
            // SAFETY: the context is a retained primary context; 0 is the only valid value of the flags.
            let code = unsafe { (on.api.cuCtxEnablePeerAccess)(other, 0) };
            driver.tolerated(code, PEER_ACCESS_ALREADY_ENABLED)
        };
        driver.call(device, operation, enable, || format!("device {device}, peer {peer}"))
    }
}
