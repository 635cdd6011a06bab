//! Defines CUDA's functions that return properties of devices.

use std::ffi::c_char;

use simulated_core::control_functions::give;
use simulated_core::error_codes::INVALID_VALUE;

use crate::attributes::attribute;
use crate::entry::{Call, Out, export};

/// Returns sixteen bytes that identify a device. Both versions of the CUDA call return the same bytes.
fn uuid(on: &Call, device: i32) -> simulated_core::Outcome<[u8; 16]> {
    let mut uuid = *b"simulated GPU  \0";
    uuid[15] = on.driver.device(device)? as u8;
    Ok(uuid)
}

fn text(target: *mut c_char, length: i32, text: &str) -> simulated_core::Outcome<()> {
    let length = usize::try_from(length).ok().filter(|length| *length > 0 && !target.is_null()).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller of the C function guarantees that `target` is writable for `length` bytes.
    unsafe { give(text, target, length) };
    Ok(())
}

export! {
    fn cuDeviceGetCount(on, count: Out<i32>) {
        count.put(on.driver.device_count() as i32)
    }

    fn cuDeviceGet(on, device: Out<i32>, ordinal: i32) {
        device.put(on.driver.device(ordinal)? as i32)
    }

    fn cuDeviceGetName(on, name: *mut c_char, length: i32, device: i32) {
        let device = on.driver.device(device)?;
        text(name, length, &format!("Simulated GPU {device}"))
    }

    fn cuDeviceGetPCIBusId(on, name: *mut c_char, length: i32, device: i32) {
        let bus = attribute(33, on.driver.device(device)?).unwrap_or(0);
        text(name, length, &format!("0000:{bus:02X}:00.0"))
    }

    fn cuDeviceGetUuid(on, target: Out<[u8; 16]>, device: i32) {
        target.put(uuid(on, device)?)
    }

    fn cuDeviceGetUuid_v2(on, target: Out<[u8; 16]>, device: i32) {
        target.put(uuid(on, device)?)
    }

    fn cuDeviceTotalMem_v2(on, bytes: Out<usize>, device: i32) {
        let device = on.driver.device(device)?;
        bytes.put(on.driver.memory_info(device).1 as usize)
    }

    fn cuDeviceGetAttribute(on, value: Out<i32>, number: u32, device: i32) {
        let device = on.driver.device(device)?;
        value.put(attribute(number, device).ok_or(INVALID_VALUE)?)
    }

    fn cuDeviceCanAccessPeer(on, can: Out<i32>, device: i32, peer: i32) {
        can.put(i32::from(on.driver.can_access_peer(device, peer)?))
    }
}
