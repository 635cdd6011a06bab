//! Defines HIP's functions for device memory, pinned host memory, and address queries.

use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::host::HostKind;
use simulated_core::pointer::Known;

use crate::entry::{Out, export};

/// All valid flags of pinned memory: portable, mapped, write-combined, NUMA node, coherent, non-coherent.
const HOST_FLAGS: u32 = 7 | 0x2000_0000 | 0x4000_0000 | 0x8000_0000;
/// All valid flags of registered memory: portable, mapped, I/O memory, read-only.
const REGISTER_FLAGS: u32 = 15;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPointerAttribute_t {
    kind: u32,
    device: i32,
    on_device: u64,
    on_host: u64,
    is_managed: i32,
    flags: u32,
}

/// Returns HIP's description of an address. Its memory kind is that of HIP 6 and 7: 1 is host, 2 device and 3 managed
/// memory.
fn described(address: u64, known: Known) -> hipPointerAttribute_t {
    let kind = match known.host {
        Some(HostKind::Pinned | HostKind::Registered) => 1,
        None => 2,
        Some(HostKind::Managed) => 3,
    };
    hipPointerAttribute_t {
        kind,
        device: known.device as i32,
        on_device: address,
        on_host: if known.host.is_some() { address } else { 0 },
        is_managed: i32::from(kind == 3),
        flags: 0,
    }
}

/// An unknown address has kind 0 and is no error.
const UNKNOWN: hipPointerAttribute_t =
    hipPointerAttribute_t { kind: 0, device: -2, on_device: 0, on_host: 0, is_managed: 0, flags: 0 };

export! {
    fn hipMemGetInfo(on, free: Out<usize>, total: Out<usize>) {
        let (left, all) = on.driver.memory_info(on.device()?);
        free.put(left as usize)?;
        total.put(all as usize)
    }

    fn hipMalloc(on, address: Out<u64>, bytes: usize) {
        address.check()?;
        address.put(on.driver.allocate(on.device()?, bytes as u64)?)
    }

    fn hipFree(on, address: u64) {
        on.device()?;
        if on.driver.is_managed(address) { on.driver.free_host(on.name, address) } else { on.driver.free(on.name, address) }
    }

    fn hipMallocManaged(on, address: Out<u64>, bytes: usize, flags: u32) {
        address.check()?;
        if !(1..=2).contains(&flags) {
            return Err(INVALID_VALUE);
        }
        address.put(on.driver.allocate_host(on.device()?, bytes as u64, HostKind::Managed)?)
    }

    fn hipHostMalloc(on, address: Out<u64>, bytes: usize, flags: u32) {
        address.check()?;
        if flags & !HOST_FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        address.put(on.driver.allocate_host(on.device()?, bytes as u64, HostKind::Pinned)?)
    }

    fn hipHostFree(on, address: u64) {
        on.device()?;
        on.driver.free_host(on.name, address)
    }

    fn hipHostRegister(on, address: u64, bytes: usize, flags: u32) {
        if flags & !REGISTER_FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        on.driver.register_host(on.device()?, address, bytes as u64)
    }

    fn hipHostUnregister(on, address: u64) {
        on.device()?;
        on.driver.unregister_host(on.name, address)
    }

    fn hipPointerGetAttributes(on, target: Out<hipPointerAttribute_t>, address: u64) {
        target.put(on.driver.known(address).map_or(UNKNOWN, |known| described(address, known)))
    }
}
