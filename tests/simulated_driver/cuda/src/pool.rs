//! Defines CUDA's functions for stream-ordered memory pools.

use simulated_core::error_codes::INVALID_VALUE;

use crate::entry::{In, Out, export};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemLocation {
    kind: u32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CUmemPoolProps {
    allocation: u32,
    handles: u32,
    location: CUmemLocation,
    security: *mut u8,
    max_size: usize,
    usage: u16,
    reserved: [u8; 54],
}

/// Value of the enum constant for pinned memory, the only allocation type that pools support.
const PINNED: u32 = 1;
/// Value of the enum constant for a location that is a device.
const DEVICE: u32 = 1;

export! {
    fn cuMemPoolCreate(on, pool: Out<u64>, properties: In<CUmemPoolProps>) {
        pool.check()?;
        let requested = properties.get()?;
        let is_plain = requested.handles == 0 && requested.security.is_null() && requested.reserved == [0; 54] && requested.usage <= 1;
        if requested.allocation != PINNED || requested.location.kind != DEVICE || !is_plain {
            return Err(INVALID_VALUE);
        }
        pool.put(on.driver.create_pool(requested.location.id).map_err(|_| INVALID_VALUE)?)
    }

    fn cuMemPoolDestroy(on, pool: u64) {
        on.driver.destroy_pool(on.name, pool)
    }

    fn cuDeviceGetDefaultMemPool(on, pool: Out<u64>, device: i32) {
        pool.put(on.driver.default_pool(device)?)
    }

    fn cuDeviceGetMemPool(on, pool: Out<u64>, device: i32) {
        pool.put(on.driver.default_pool(device)?)
    }

    fn cuMemPoolSetAccess(on, pool: u64, access: In<[u32; 3]>, count: usize) {
        on.driver.pool(on.name, pool)?;
        // All devices can access every pool already, so the request is only checked for validity.
        (0..count).try_for_each(|place| {
            let [kind, device, _] = access.at(place)?;
            if kind != DEVICE {
                return Err(INVALID_VALUE);
            }
            on.driver.device(device as i32).map(drop)
        })
    }

    fn cuMemPoolGetAttribute(on, pool: u64, number: u32, value: Out<u64>) {
        let pool = on.driver.pool(on.name, pool)?;
        match number {
            // CUDA defines the type of these attributes as `int`.
            1..=3 => value.cast::<u32>().put(pool.reuse[number as usize - 1] as u32),
            4 => value.put(pool.threshold),
            5 => value.put(pool.reserved),
            6 => value.put(pool.reserved_peak),
            7 => value.put(pool.used),
            8 => value.put(pool.used_peak),
            _ => Err(INVALID_VALUE),
        }
    }

    fn cuMemPoolSetAttribute(on, pool: u64, number: u32, value: In<u64>) {
        if let 1..=3 = number {
            let switch = u64::from(value.cast::<u32>().get()?);
            return on.driver.change_pool(on.name, pool, |pool| pool.reuse[number as usize - 1] = switch);
        }
        let value = value.get()?;
        on.driver.pool(on.name, pool)?;
        match (number, value) {
            (4, threshold) => on.driver.change_pool(on.name, pool, |pool| pool.threshold = threshold),
            (6, 0) => on.driver.change_pool(on.name, pool, |pool| pool.reserved_peak = pool.reserved),
            (8, 0) => on.driver.change_pool(on.name, pool, |pool| pool.used_peak = pool.used),
            _ => Err(INVALID_VALUE),
        }
    }

    fn cuMemPoolTrimTo(on, pool: u64, keep: usize) {
        on.driver.trim_pool(on.name, pool, keep as u64)
    }

    fn cuMemAllocFromPoolAsync(on, address: Out<u64>, bytes: usize, pool: u64, stream: u64) {
        address.check()?;
        let device = on.device()?;
        address.put(on.driver.allocate_from_pool(on.name, device, Some(pool), bytes as u64, stream)?)
    }

    fn cuMemAllocAsync(on, address: Out<u64>, bytes: usize, stream: u64) {
        address.check()?;
        address.put(on.driver.allocate_from_pool(on.name, on.device()?, None, bytes as u64, stream)?)
    }

    fn cuMemFreeAsync(on, address: u64, stream: u64) {
        on.driver.free_in_order(on.name, on.device()?, address, stream)
    }
}
