//! Queries device properties, and gets and sets the current device of a thread, through CUDA or HIP.

use std::ffi::{CStr, c_char, c_int};

use super::current_context::{CurrentDeviceGuard, VendorContexts};
use super::driver::Driver;
use super::fork_guard;
use super::symbols::Symbols;
use crate::error_codes::{INVALID_DEVICE, SUCCESS};
use crate::{BackendKind, DeviceProperties, Devices, MemoryInfo};
use pygpu_base::error::Result;

/// The vendor's enum values for the device attributes that PyGPU queries.
pub struct DeviceAttributes<T> {
    pub pci_domain: T,
    pub pci_bus: T,
    pub pci_device: T,
    pub capability_major: T,
    pub capability_minor: T,
    pub multiprocessor_count: T,
    pub warp_size: T,
    pub threads_per_multiprocessor: T,
    pub max_threads_per_block: T,
    pub l2_cache_size: T,
    pub clock_rate: T,
    pub memory_pools: T,
    pub integrated: T,
    pub async_engine_count: T,
    pub max_pitch: T,
    pub uses_host_page_tables: T,
    pub max_block: [T; 3],
    pub max_grid: [T; 3],
    pub shared_per_block: T,
    pub cooperative_launch: T,
}

/// Vendor-specific part of devices, which CUDA and HIP implement differently.
pub trait VendorDevices: VendorContexts {
    const ATTRIBUTES: DeviceAttributes<Self::DeviceAttribute>;
    /// Returns the name of an attribute for messages.
    fn attribute_name(which: Self::DeviceAttribute) -> String;
    /// Returns the architecture name of a device for a compiler.
    fn architecture(driver: &Driver<Self>, device: i32, capability: (i32, i32)) -> Result<String>;
    /// Writes the 16 bytes that identify the device.
    ///
    /// # Safety
    /// `target` is writable.
    unsafe fn uuid(driver: &Driver<Self>, handle: c_int, target: *mut Self::Uuid) -> u32;
    /// Implements [`Devices::current_device`].
    fn current(driver: &Driver<Self>) -> Result<i32>;
    /// Implements [`Devices::set_current_device`].
    fn set_current(driver: &Driver<Self>, device: i32) -> Result<()>;
    /// Implements [`Devices::reset_device`].
    ///
    /// # Safety
    /// No object of the device is used afterwards.
    unsafe fn reset(driver: &Driver<Self>, device: i32) -> Result<()>;
    /// Implements [`Devices::enable_peer_access`].
    fn enable_peer(driver: &Driver<Self>, device: i32, peer: i32) -> Result<()>;
}

impl<V: VendorDevices> Driver<V> {
    /// Returns an attribute of a device.
    ///
    /// # Errors
    /// Errors of the driver, with the attribute's name.
    pub fn attribute(&self, device: i32, which: V::DeviceAttribute) -> Result<i32> {
        let operation = V::NAMES.device_attribute;
        fork_guard::refuse(V::KIND, operation)?;
        let handle = self.slot(device, operation)?.handle;
        attribute_of::<V>(&self.symbols, &self.api, handle, which)
            .map_err(|code| self.refusal(code, operation, Some(device), V::attribute_name(which)))
    }

    /// Returns whether the device supports stream-ordered pools.
    pub fn has_pools(&self, device: i32) -> Result<bool> {
        Ok(self.attribute(device, V::ATTRIBUTES.memory_pools)? != 0)
    }

    /// Returns whether a device can read the memory of a peer device directly.
    pub fn reaches(&self, device: i32, peer: i32) -> Result<bool> {
        let operation = V::NAMES.device_can_access_peer;
        let (own, other) = (self.slot(device, operation)?.handle, self.slot(peer, operation)?.handle);
        let mut can = 0;
        self.call_anywhere(
            operation,
            // SAFETY: the out-parameter is writable; both devices exist.
            |driver| unsafe { (driver.symbols.device_can_access_peer)(&mut can, own, other) },
            || format!("device {device}, peer {peer}"),
        )?;
        Ok(can != 0)
    }

    /// Returns the number of the device that has the given driver handle.
    pub fn number(&self, handle: c_int, operation: &'static str) -> Result<i32> {
        let position = self.slots.iter().position(|slot| slot.handle == handle);
        position.and_then(|position| i32::try_from(position).ok()).ok_or_else(|| {
            let detail = format!("the {} names device {handle}; there are {} devices", V::LIBRARY, self.slots.len());
            self.refusal(INVALID_DEVICE, operation, None, detail)
        })
    }

    fn name(&self, device: i32, handle: c_int) -> Result<String> {
        const LENGTH: usize = 256;
        let mut text: [c_char; LENGTH + 1] = [0; LENGTH + 1];
        // SAFETY: the buffer is one byte longer than the length passed to the driver, so that it ends with 0 in any
        // case.
        match unsafe { (self.symbols.device_name)(text.as_mut_ptr(), LENGTH as c_int, handle) } {
            // SAFETY: the buffer ends with a zero byte, so it contains a C string.
            SUCCESS => Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()),
            code => Err(self.refusal(code, V::NAMES.device_name, Some(device), String::new())),
        }
    }

    fn uuid(&self, device: i32, handle: c_int) -> Result<[u8; 16]> {
        const { assert!(size_of::<V::Uuid>() == 16 && align_of::<V::Uuid>() == 1) };
        let mut bytes = [0; 16];
        // SAFETY: the out-parameter is writable, and the vendor's type consists only of its bytes.
        match unsafe { V::uuid(self, handle, bytes.as_mut_ptr().cast()) } {
            SUCCESS => Ok(bytes),
            code => Err(self.refusal(code, V::NAMES.device_uuid, Some(device), String::new())),
        }
    }

    fn total_memory(&self, device: i32, handle: c_int) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: the out-parameter is writable.
        match unsafe { (self.symbols.device_total_memory)(&mut bytes, handle) } {
            SUCCESS => Ok(bytes),
            code => Err(self.refusal(code, V::NAMES.device_total_memory, Some(device), String::new())),
        }
    }
}

/// Returns an attribute by the driver's device handle, or the driver's error code. Can be used before a [`Driver`]
/// exists.
pub fn attribute_of<V: VendorContexts>(
    symbols: &Symbols<V>,
    api: &V::Api,
    handle: c_int,
    which: V::DeviceAttribute,
) -> std::result::Result<i32, u32> {
    let mut value = 0;
    // SAFETY: the out-parameter is writable.
    match unsafe { (symbols.device_attribute)(&mut value, which, handle) } {
        SUCCESS => Ok(value),
        code => {
            // The error that the driver library stores is cleared, because not every caller reports the code, and
            // another library could otherwise report it.
            V::forget_last_error(api);
            Err(code)
        }
    }
}

impl<V: VendorDevices> Devices for Driver<V> {
    fn kind(&self) -> BackendKind {
        V::KIND
    }

    fn device_count(&self) -> i32 {
        i32::try_from(self.slots.len()).unwrap_or(i32::MAX)
    }

    fn driver_version(&self) -> i32 {
        self.version
    }

    fn library(&self) -> &str {
        &self.library
    }

    fn error_name(&self, code: u32) -> String {
        V::name(&self.api, code)
    }

    fn error_text(&self, code: u32) -> String {
        V::text(&self.api, code)
    }

    fn current_device(&self) -> Result<i32> {
        V::current(self)
    }

    fn set_current_device(&self, device: i32) -> Result<()> {
        V::set_current(self, device)
    }

    fn properties(&self, device: i32) -> Result<DeviceProperties> {
        let ask = |which| self.attribute(device, which);
        let attributes = V::ATTRIBUTES;
        let capability = (ask(attributes.capability_major)?, ask(attributes.capability_minor)?);
        let handle = self.slot(device, V::NAMES.device_attribute)?.handle;
        Ok(DeviceProperties {
            name: self.name(device, handle)?,
            uuid: self.uuid(device, handle)?,
            pci: (ask(attributes.pci_domain)?, ask(attributes.pci_bus)?, ask(attributes.pci_device)?),
            compute_capability: capability,
            architecture: V::architecture(self, device, capability)?,
            total_memory: self.total_memory(device, handle)?,
            multiprocessor_count: ask(attributes.multiprocessor_count)?,
            warp_size: ask(attributes.warp_size)?,
            max_threads_per_block: ask(attributes.max_threads_per_block)?,
            l2_cache_size: ask(attributes.l2_cache_size)?,
            // CUDA 13 has deprecated the attribute for the clock rate. Therefore an error of this query is ignored.
            clock_rate: ask(attributes.clock_rate).unwrap_or(0),
            memory_pools: ask(attributes.memory_pools)? != 0,
            integrated: ask(attributes.integrated)? != 0,
            async_engine_count: ask(attributes.async_engine_count)?,
        })
    }

    /// Makes the device current, because the driver only reports the memory of the current device.
    fn memory_info(&self, device: i32) -> Result<MemoryInfo> {
        let mut info = MemoryInfo { free: 0, total: 0 };
        // SAFETY: the out-parameters are writable.
        let ask = |on: &CurrentDeviceGuard<'_, V>| unsafe { (on.symbols.memory_info)(&mut info.free, &mut info.total) };
        self.call(device, V::NAMES.memory_info, ask, String::new)?;
        Ok(info)
    }

    fn synchronize_device(&self, device: i32) -> Result<()> {
        // SAFETY: the call only requires a current device.
        let wait = |on: &CurrentDeviceGuard<'_, V>| unsafe { (on.symbols.device_synchronize)() };
        self.call(device, V::NAMES.device_synchronize, wait, String::new)
    }

    unsafe fn reset_device(&self, device: i32) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of `reset`.
        unsafe { V::reset(self, device) }
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        self.reaches(device, peer)
    }

    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()> {
        V::enable_peer(self, device, peer)
    }
}
