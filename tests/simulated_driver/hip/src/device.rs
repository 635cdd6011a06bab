//! Defines HIP's functions that return properties of devices.

use std::ffi::c_char;

use simulated_core::Outcome;
use simulated_core::control_functions::give;
use simulated_core::error_codes::{INVALID_DEVICE, INVALID_VALUE, NO_DEVICE};

use crate::attributes::{ARCHITECTURE, attribute};
use crate::entry::{Out, export};

fn text(target: *mut c_char, length: i32, text: &str) -> Outcome<()> {
    let length = usize::try_from(length).ok().filter(|length| *length > 0 && !target.is_null()).ok_or(INVALID_VALUE)?;
    // SAFETY: the caller of the C function guarantees that `target` is writable for `length` bytes.
    unsafe { give(text, target, length) };
    Ok(())
}

/// Size of the properties structure of HIP 6 and 7 in bytes. Fields that the simulator does not set contain 0xEE.
const PROPERTIES_SIZE: usize = 1472;
const TOTAL_MEMORY_AT: usize = 288;
const ARCHITECTURE_AT: usize = 1160;

fn properties(name: &str, total: u64) -> [u8; PROPERTIES_SIZE] {
    let mut properties = [0xee; PROPERTIES_SIZE];
    let mut write = |at: usize, bytes: &[u8]| properties[at..at + bytes.len()].copy_from_slice(bytes);
    write(0, format!("{name}\0").as_bytes());
    write(TOTAL_MEMORY_AT, &total.to_ne_bytes());
    write(ARCHITECTURE_AT, format!("{ARCHITECTURE}\0").as_bytes());
    properties
}

fn name(device: usize) -> String {
    format!("Simulated GPU {device}")
}

export! {
    fn hipGetDeviceCount(on, count: Out<i32>) {
        count.put(on.driver.device_count() as i32)?;
        if on.driver.device_count() == 0 { Err(NO_DEVICE) } else { Ok(()) }
    }

    fn hipDeviceGet(on, device: Out<i32>, ordinal: i32) {
        device.put(on.driver.device(ordinal)? as i32)
    }

    fn hipDeviceGetName(on, target: *mut c_char, length: i32, device: i32) {
        text(target, length, &name(on.driver.device(device)?))
    }

    fn hipDeviceGetPCIBusId(on, target: *mut c_char, length: i32, device: i32) {
        let bus = attribute(67, on.driver.device(device)?).unwrap_or(0);
        text(target, length, &format!("0000:{bus:02x}:00.0"))
    }

    fn hipDeviceGetUuid(on, target: Out<[u8; 16]>, device: i32) {
        let mut uuid = *b"simulatedhip___\0";
        uuid[15] = b'0' + on.driver.device(device)? as u8;
        target.put(uuid)
    }

    fn hipDeviceTotalMem(on, bytes: Out<usize>, device: i32) {
        let device = on.driver.device(device)?;
        bytes.put(on.driver.memory_info(device).1 as usize)
    }

    fn hipGetDevicePropertiesR0600(on, target: Out<[u8; PROPERTIES_SIZE]>, device: i32) {
        let device = on.driver.device(device)?;
        target.put(properties(&name(device), on.driver.memory_info(device).1))
    }

    fn hipDeviceGetAttribute(on, value: Out<i32>, number: u32, device: i32) {
        let device = on.driver.device(device)?;
        value.put(attribute(number, device).ok_or(INVALID_VALUE)?)
    }

    fn hipDeviceCanAccessPeer(on, can: Out<i32>, device: i32, peer: i32) {
        can.put(i32::from(on.driver.can_access_peer(device, peer).map_err(|_| INVALID_DEVICE)?))
    }
}
