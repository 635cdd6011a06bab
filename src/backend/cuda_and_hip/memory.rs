//! Allocates device memory and pinned host memory through CUDA or HIP. The file contains the functions for memory pools
//! and memory blocks, and the queries of an address.

use std::ffi::{c_int, c_uint};

use super::current_context::CurrentDeviceGuard;
use super::devices::VendorDevices;
use super::driver::Driver;
use super::symbols::Raw;
use crate::error_codes::SUCCESS;
use crate::{Address, Advice, HostFlags, Memory, PointerKind, PoolHandle, PoolStatistics, StreamHandle};
use pygpu_base::error::{Error, Result};

/// The driver's flags for allocating and registering pinned host memory.
pub const PORTABLE: c_uint = 1;
pub const MAPPED: c_uint = 2;
pub const WRITE_COMBINED: c_uint = 4;

/// The driver's enum value for the host as a location of managed memory.
pub const HOST: c_int = -1;

/// The vendor's enum values for the pool attributes that PyGPU uses.
pub struct PoolAttributes<T> {
    pub release_threshold: T,
    pub reserved: T,
    pub reserved_peak: T,
    pub used: T,
    pub used_peak: T,
}

/// Vendor-specific part of memory, which CUDA and HIP implement differently.
pub trait VendorMemory: VendorDevices {
    const POOL_ATTRIBUTES: PoolAttributes<Self::PoolAttribute>;
    /// Returns the name of an attribute for messages.
    fn pool_attribute_name(which: Self::PoolAttribute) -> String;
    /// Returns the properties of a pool in the memory of this device.
    fn pool_properties(handle: c_int) -> Self::PoolProperties;
    /// Returns the description that grants a device read and write access to a pool's blocks.
    fn pool_access(handle: c_int) -> Self::PoolAccess;
    /// Name of the driver's function that sets a usage hint for managed memory.
    const ADVISE: &'static str;
    /// Sets a usage hint for managed memory, and returns the driver's error code.
    fn advise(driver: &Driver<Self>, address: Address, bytes: usize, advice: Advice, place: c_int) -> u32;
    /// Implements [`Memory::pointer_kind`].
    fn kind_of(driver: &Driver<Self>, address: Address) -> Result<PointerKind>;
}

fn bit(set: bool, flag: c_uint) -> c_uint {
    if set { flag } else { 0 }
}

impl<V: VendorMemory> Driver<V> {
    /// Grants all peer devices read and write access to the pool's blocks. Enabled peer access does not cover pool
    /// memory. Without the grant, another library's copy from a peer device, e.g. in CuPy's `asarray`, fails.
    fn open_to_peers(&self, device: i32, pool: PoolHandle) -> Result<()> {
        let mut access = Vec::new();
        for (peer, slot) in (0..).zip(&self.slots) {
            if peer != device && self.reaches(peer, device)? {
                access.push(V::pool_access(slot.handle));
            }
        }
        if access.is_empty() {
            return Ok(());
        }
        self.call_anywhere(
            V::NAMES.pool_set_access,
            // SAFETY: the array contains the given number of complete descriptions, which the driver only reads.
            |driver| unsafe { (driver.symbols.pool_set_access)(Raw::of(pool.0), access.as_ptr(), access.len()) },
            || format!("device {device}, {} peers", access.len()),
        )
    }

    fn pool_attribute(&self, pool: PoolHandle, which: V::PoolAttribute) -> Result<usize> {
        let mut bytes = 0_u64;
        let value: *mut u64 = &mut bytes;
        self.call_anywhere(
            V::NAMES.pool_get_attribute,
            // SAFETY: the driver writes a 64-bit number for this attribute, for which `value` has space.
            |driver| unsafe { (driver.symbols.pool_get_attribute)(Raw::of(pool.0), which, value.cast()) },
            || format!("pool {:#x}, {}", pool.0, V::pool_attribute_name(which)),
        )?;
        Ok(usize::try_from(bytes).unwrap_or(usize::MAX))
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorMemory> Memory for Driver<V> {
    fn create_pool(&self, device: i32, threshold: u64) -> Result<Option<PoolHandle>> {
        if !self.has_pools(device)? {
            return Ok(None);
        }
        let operation = V::NAMES.pool_create;
        let properties = V::pool_properties(self.slot(device, operation)?.handle);
        let mut pool = Raw::NONE;
        // SAFETY: the out-parameter is writable and the properties are complete.
        let create = |on: &CurrentDeviceGuard<'_, V>| unsafe { (on.symbols.pool_create)(&mut pool, &properties) };
        self.call(device, operation, create, String::new)?;
        let handle = PoolHandle(pool.number());
        let opened = self.open_to_peers(device, handle);
        let ready = opened.and_then(|()| self.set_pool_release_threshold(handle, threshold));
        if ready.is_err() {
            // SAFETY: the pool was created above, and no other code has its handle. An error of the destruction is
            // ignored, because the error that led to it is reported.
            let _ = unsafe { (self.symbols.pool_destroy)(pool) };
        }
        ready.map(|()| Some(handle))
    }

    fn set_pool_release_threshold(&self, pool: PoolHandle, mut bytes: u64) -> Result<()> {
        let value: *mut u64 = &mut bytes;
        let which = V::POOL_ATTRIBUTES.release_threshold;
        self.call_anywhere(
            V::NAMES.pool_set_attribute,
            // SAFETY: the attribute is a 64-bit number, which the driver only reads.
            |driver| unsafe { (driver.symbols.pool_set_attribute)(Raw::of(pool.0), which, value.cast()) },
            || format!("pool {:#x}, {} {bytes}", pool.0, V::pool_attribute_name(which)),
        )
    }

    fn trim_pool(&self, pool: PoolHandle, keep: usize) -> Result<()> {
        self.call_anywhere(
            V::NAMES.pool_trim,
            // SAFETY: the driver checks the handle and rejects a value that is not a pool.
            |driver| self.beside_captures(|| unsafe { (driver.symbols.pool_trim)(Raw::of(pool.0), keep) }),
            || format!("pool {:#x}, keeping {keep} bytes", pool.0),
        )
    }

    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics> {
        Ok(PoolStatistics {
            reserved: self.pool_attribute(pool, V::POOL_ATTRIBUTES.reserved)?,
            reserved_peak: self.pool_attribute(pool, V::POOL_ATTRIBUTES.reserved_peak)?,
            used: self.pool_attribute(pool, V::POOL_ATTRIBUTES.used)?,
            used_peak: self.pool_attribute(pool, V::POOL_ATTRIBUTES.used_peak)?,
        })
    }

    #[inline]
    fn allocate_from_pool(&self, device: i32, pool: PoolHandle, bytes: usize, stream: StreamHandle) -> Result<Address> {
        let operation = V::NAMES.pool_allocate;
        let current = self.enter(device, operation)?;
        let mut address = Raw::NONE;
        let allocate = current.symbols.pool_allocate;
        // SAFETY: the out-parameter is writable; the driver rejects a value that is not a pool.
        match self.beside_captures(|| unsafe { allocate(&mut address, bytes, Raw::of(pool.0), Raw::of(stream.0)) }) {
            SUCCESS => Ok(address.number()),
            code => Err(self.allocation_refusal(code, operation, device, bytes)),
        }
    }

    #[inline]
    unsafe fn free_to_pool(&self, device: i32, address: Address, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.pool_free,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.pool_free)(Raw::of(address), Raw::of(stream.0)) }),
            || format!("address {address:#x}"),
        )
    }

    fn allocate(&self, device: i32, bytes: usize) -> Result<Address> {
        let operation = V::NAMES.memory_allocate;
        let current = self.enter(device, operation)?;
        let mut address = Raw::NONE;
        // SAFETY: the out-parameter is writable.
        match self.beside_captures(|| unsafe { (current.symbols.memory_allocate)(&mut address, bytes) }) {
            SUCCESS => Ok(address.number()),
            code => Err(self.allocation_refusal(code, operation, device, bytes)),
        }
    }

    unsafe fn free(&self, device: i32, address: Address, _: usize) -> Result<()> {
        self.call(
            device,
            V::NAMES.memory_free,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.memory_free)(Raw::of(address)) }),
            || format!("address {address:#x}"),
        )
    }

    fn allocate_host(&self, device: i32, bytes: usize, flags: HostFlags) -> Result<Address> {
        let operation = V::NAMES.host_allocate;
        let bits =
            bit(flags.portable, PORTABLE) | bit(flags.mapped, MAPPED) | bit(flags.write_combined, WRITE_COMBINED);
        let current = self.enter(device, operation)?;
        let mut address = Raw::NONE;
        // SAFETY: the out-parameter is writable.
        match self.beside_captures(|| unsafe { (current.symbols.host_allocate)(&mut address, bytes, bits) }) {
            SUCCESS => Ok(address.number()),
            code => Err(self.host_allocation_refusal(code, operation, device, bytes)),
        }
    }

    unsafe fn free_host(&self, device: i32, address: Address, _: usize) -> Result<()> {
        self.call(
            device,
            V::NAMES.host_free,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.host_free)(Raw::of(address)) }),
            || format!("address {address:#x}"),
        )
    }

    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()> {
        if flags.write_combined {
            return Err(Error::value(
                "registered memory cannot be write-combined: that is decided when it is allocated",
            ));
        }
        let bits = bit(flags.portable, PORTABLE) | bit(flags.mapped, MAPPED);
        let operation = V::NAMES.host_register;
        let current = self.enter(device, operation)?;
        // SAFETY: the caller guarantees the conditions of the driver call.
        match self.beside_captures(|| unsafe { (current.symbols.host_register)(Raw::of(address), bytes, bits) }) {
            SUCCESS => Ok(()),
            code => Err(self.host_allocation_refusal(code, operation, device, bytes)),
        }
    }

    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()> {
        self.call(
            device,
            V::NAMES.host_unregister,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.host_unregister)(Raw::of(address)) }),
            || format!("address {address:#x}"),
        )
    }

    fn pointer_kind(&self, address: Address) -> Result<PointerKind> {
        V::kind_of(self, address)
    }
}
