//! Defines CUDA's functions for device memory, pinned host memory, and address queries.

use simulated_core::error_codes::{INVALID_DEVICE, INVALID_VALUE};
use simulated_core::host::HostKind;
use simulated_core::pointer::Known;
use simulated_core::{Driver, Outcome};

use crate::entry::{In, Out, export};

/// All valid flags of pinned memory: portable, mapped, write-combined.
const HOST_FLAGS: u32 = 7;
/// All valid flags of registered memory: portable, mapped, I/O memory, read-only.
const REGISTER_FLAGS: u32 = 15;

/// Writes an attribute of an address to `target`. All attributes of an unknown address are zero.
fn attribute(driver: &Driver, number: u32, target: *mut u8, address: u64, known: Option<Known>) -> Outcome<()> {
    let out = Target(target);
    match number {
        1 => out.put(known.and_then(|known| driver.context(known.device)).unwrap_or(0)),
        2 => out.put(known.map_or(0, memory_type)),
        3 => out.put(known.map_or(0, |_| address)),
        4 => out.put(known.and_then(|known| known.host).map_or(0, |_| address)),
        6 => out.put(0_u32),
        7 => out.put(known.map_or(0, |known| known.start)),
        8 => out.put(u8::from(known.is_some_and(|known| known.host == Some(HostKind::Managed)))),
        9 => out.put(known.map_or(-2_i32, |known| known.device as i32)),
        11 => out.put(known.map_or(0, |known| known.start)),
        12 => out.put(known.map_or(0, |known| known.bytes)),
        13 => out.put(u8::from(known.is_some())),
        _ => Err(INVALID_VALUE),
    }
}

/// Returns the kind of an address: 1 for host memory, and 2 for device memory, which includes managed memory.
fn memory_type(known: Known) -> u32 {
    match known.host {
        Some(HostKind::Pinned | HostKind::Registered) => 1,
        Some(HostKind::Managed) | None => 2,
    }
}

struct Target(*mut u8);

impl Target {
    fn put<T>(&self, value: T) -> Outcome<()> {
        if self.0.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller of the C function guarantees that the target has the type of the attribute.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Ok(())
    }
}

export! {
    fn cuMemGetInfo_v2(on, free: Out<usize>, total: Out<usize>) {
        let (left, all) = on.driver.memory_info(on.device()?);
        free.put(left as usize)?;
        total.put(all as usize)
    }

    fn cuMemAlloc_v2(on, address: Out<u64>, bytes: usize) {
        address.check()?;
        address.put(on.driver.allocate(on.device()?, bytes as u64)?)
    }

    fn cuMemFree_v2(on, address: u64) {
        on.device()?;
        if on.driver.is_managed(address) { on.driver.free_host(on.name, address) } else { on.driver.free(on.name, address) }
    }

    fn cuMemAllocManaged(on, address: Out<u64>, bytes: usize, flags: u32) {
        address.check()?;
        if !(1..=2).contains(&flags) {
            return Err(INVALID_VALUE);
        }
        address.put(on.driver.allocate_host(on.device()?, bytes as u64, HostKind::Managed)?)
    }

    fn cuMemHostAlloc(on, address: Out<u64>, bytes: usize, flags: u32) {
        address.check()?;
        if flags & !HOST_FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        address.put(on.driver.allocate_host(on.device()?, bytes as u64, HostKind::Pinned)?)
    }

    fn cuMemAllocHost_v2(on, address: Out<u64>, bytes: usize) {
        address.check()?;
        address.put(on.driver.allocate_host(on.device()?, bytes as u64, HostKind::Pinned)?)
    }

    fn cuMemFreeHost(on, address: u64) {
        on.device()?;
        on.driver.free_host(on.name, address)
    }

    fn cuMemHostRegister_v2(on, address: u64, bytes: usize, flags: u32) {
        if flags & !REGISTER_FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        on.driver.register_host(on.device()?, address, bytes as u64)
    }

    fn cuMemHostUnregister(on, address: u64) {
        on.device()?;
        on.driver.unregister_host(on.name, address)
    }

    fn cuMemHostGetDevicePointer_v2(on, target: Out<u64>, address: u64, flags: u32) {
        on.device()?;
        let known = on.driver.known(address).filter(|known| known.host.is_some() && flags == 0);
        target.put(known.map(|_| address).ok_or(INVALID_VALUE)?)
    }

    fn cuMemGetAddressRange_v2(on, start: Out<u64>, bytes: Out<usize>, address: u64) {
        on.device()?;
        let known = on.driver.known(address).ok_or(simulated_core::error_codes::NOT_FOUND)?;
        start.put_if_wanted(known.start);
        bytes.put_if_wanted(known.bytes as usize);
        Ok(())
    }

    fn cuPointerGetAttribute(on, target: *mut u8, number: u32, address: u64) {
        let known = on.driver.known(address).ok_or(INVALID_VALUE)?;
        attribute(on.driver, number, target, address, Some(known))
    }

    fn cuPointerGetAttributes(on, count: u32, numbers: In<u32>, targets: In<*mut u8>, address: u64) {
        let known = on.driver.known(address);
        (0..count as usize).try_for_each(|place| {
            attribute(on.driver, numbers.at(place)?, targets.at(place)?, address, known)
        })
    }

    fn cuDeviceGetP2PAttribute(on, value: Out<i32>, number: u32, device: i32, peer: i32) {
        let can = on.driver.can_access_peer(device, peer)?;
        if !can {
            return Err(INVALID_DEVICE);
        }
        value.put(i32::from(number != 1))
    }
}
