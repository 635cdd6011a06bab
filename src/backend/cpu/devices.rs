//! Implements devices for the CPU backend. The host appears as `PYGPU_CPU_DEVICES` devices, so that programs for
//! several GPUs run without a GPU.

use super::driver::{Cpu, check_device};
use super::error_codes::{self, INVALID_DEVICE, refuse};
use super::{device_numbers, host_properties};
use crate::{BackendKind, DeviceProperties, Devices, MemoryInfo};
use pygpu_base::error::{Error, Result};

impl Devices for Cpu {
    fn kind(&self) -> BackendKind {
        BackendKind::Cpu
    }

    fn device_count(&self) -> i32 {
        device_numbers::count()
    }

    fn driver_version(&self) -> i32 {
        0
    }

    fn library(&self) -> &str {
        ""
    }

    fn error_name(&self, code: u32) -> String {
        error_codes::name(code).to_owned()
    }

    fn error_text(&self, code: u32) -> String {
        error_codes::text(code).to_owned()
    }

    fn current_device(&self) -> Result<i32> {
        Ok(device_numbers::current())
    }

    fn set_current_device(&self, device: i32) -> Result<()> {
        check_device("set_current_device", device)?;
        device_numbers::set_current(device);
        Ok(())
    }

    fn properties(&self, device: i32) -> Result<DeviceProperties> {
        check_device("properties", device)?;
        let mut properties = host_properties::properties();
        properties.uuid[15] = device as u8;
        Ok(properties)
    }

    fn memory_info(&self, device: i32) -> Result<MemoryInfo> {
        check_device("memory_info", device)?;
        host_properties::memory()
            .ok_or_else(|| Error::not_supported("this system does not say how much memory is free"))
    }

    fn synchronize_device(&self, device: i32) -> Result<()> {
        check_device("synchronize_device", device)?;
        self.captures.refuse_any("synchronize_device")
    }

    unsafe fn reset_device(&self, device: i32) -> Result<()> {
        check_device("reset_device", device)?;
        self.events.clear();
        Ok(())
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        check_device("can_access_peer", device)?;
        check_device("can_access_peer", peer)?;
        Ok(device != peer)
    }

    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()> {
        check_device("enable_peer_access", device)?;
        check_device("enable_peer_access", peer)?;
        if device != peer {
            return Ok(());
        }
        Err(refuse("enable_peer_access", INVALID_DEVICE, format!("peer {peer}; a device is no peer of itself")))
    }
}
