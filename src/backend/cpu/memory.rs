//! Implements memory for the CPU backend as heap blocks. Blocks whose address escaped are quarantined when they are
//! freed.

use super::driver::{Cpu, check_device};
use super::error_codes::{self, INVALID_HANDLE, INVALID_VALUE, refuse};
use super::{heap, host_memory_registry, host_properties, quarantine};
use crate::{Address, HostFlags, Memory, PointerKind, PoolHandle, PoolStatistics, StreamHandle};
use pygpu_base::error::{Error, OutOfMemory, Result};

/// Allocates `bytes` bytes, or returns `None` if memory is exhausted. `bytes` must not be 0.
pub fn block(bytes: usize) -> Option<Address> {
    heap::allocate(bytes).or_else(|| {
        quarantine::trim();
        heap::allocate(bytes)
    })
}

/// Frees a memory block. If the block's address escaped, puts the block into quarantine instead.
///
/// # Safety
/// The address came from [`block`] with the same `bytes`, and is no longer in use.
pub unsafe fn give_back(address: Address, bytes: usize) {
    // SAFETY: the caller guarantees the conditions of `free`.
    unsafe {
        if !quarantine::withhold(address, bytes) {
            heap::free(address, bytes);
        }
    }
}

fn no_pool(operation: &'static str, pool: PoolHandle) -> Error {
    refuse(operation, INVALID_HANDLE, format!("pool {:#x}; the CPU backend has no pools", pool.0))
}

/// Allocates a block, and returns the backend's error if memory is exhausted.
pub fn allocate(operation: &'static str, device: i32, bytes: usize) -> Result<Address> {
    check_device(operation, device)?;
    if bytes == 0 {
        return Err(refuse(operation, INVALID_VALUE, "0 bytes asked for".to_owned()));
    }
    block(bytes).ok_or_else(|| {
        let memory = host_properties::memory();
        Error::OutOfMemory(Box::new(OutOfMemory {
            operation,
            name: error_codes::name(error_codes::OUT_OF_MEMORY).to_owned(),
            text: error_codes::text(error_codes::OUT_OF_MEMORY).to_owned(),
            requested: bytes,
            device: "cpu".to_owned(),
            free: memory.map(|info| info.free),
            total: memory.map(|info| info.total),
            used: 0,
            limit: None,
            detail: String::new(),
        }))
    })
}

impl Memory for Cpu {
    fn create_pool(&self, device: i32, _: u64) -> Result<Option<PoolHandle>> {
        check_device("create_pool", device)?;
        Ok(None)
    }

    fn set_pool_release_threshold(&self, pool: PoolHandle, _bytes: u64) -> Result<()> {
        Err(no_pool("set_pool_release_threshold", pool))
    }

    fn trim_pool(&self, pool: PoolHandle, _keep: usize) -> Result<()> {
        Err(no_pool("trim_pool", pool))
    }

    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics> {
        Err(no_pool("pool_statistics", pool))
    }

    fn allocate_from_pool(&self, _: i32, pool: PoolHandle, _: usize, _: StreamHandle) -> Result<Address> {
        Err(no_pool("allocate_from_pool", pool))
    }

    unsafe fn free_to_pool(&self, _: i32, address: Address, _: StreamHandle) -> Result<()> {
        let detail = format!("address {address:#x}; the CPU backend has no pools");
        Err(refuse("free_to_pool", INVALID_VALUE, detail))
    }

    fn allocate(&self, device: i32, bytes: usize) -> Result<Address> {
        allocate("allocate", device, bytes)
    }

    unsafe fn free(&self, _: i32, address: Address, bytes: usize) -> Result<()> {
        host_memory_registry::remove_managed(address);
        // SAFETY: the caller guarantees the conditions of `give_back`.
        unsafe { give_back(address, bytes) };
        Ok(())
    }

    fn allocate_host(&self, device: i32, bytes: usize, _: HostFlags) -> Result<Address> {
        let address = allocate("allocate_host", device, bytes)?;
        host_memory_registry::enter(address, bytes);
        Ok(address)
    }

    unsafe fn free_host(&self, _: i32, address: Address, bytes: usize) -> Result<()> {
        host_memory_registry::remove(address);
        // SAFETY: the caller guarantees the conditions of `give_back`.
        unsafe { give_back(address, bytes) };
        Ok(())
    }

    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, _: HostFlags) -> Result<()> {
        check_device("register_host", device)?;
        if address == 0 || bytes == 0 {
            let detail = format!("address {address:#x}, {bytes} bytes");
            return Err(refuse("register_host", INVALID_VALUE, detail));
        }
        host_memory_registry::enter(address, bytes);
        Ok(())
    }

    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()> {
        check_device("unregister_host", device)?;
        host_memory_registry::remove(address);
        Ok(())
    }

    fn pointer_kind(&self, address: Address) -> Result<PointerKind> {
        Ok(host_memory_registry::kind_of(address).map_or(PointerKind::Unregistered, |(kind, _)| kind))
    }
}
