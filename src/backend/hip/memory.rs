//! Memory of the device and pinned memory of the host: pools, blocks, and what the runtime knows of an address.

use std::ffi::c_void;

use super::context::{Current, beside_captures};
use super::driver::Hip;
use super::errors::{INVALID_VALUE, SUCCESS, allocation_refusal, host_allocation_refusal, tolerated};
use super::properties::has_pools;
use super::streams::raw as raw_stream;
use super::sys::{
    Api, MEMORY_TYPES_5, MEMORY_TYPES_6, VERSION_6, hipHostMallocMapped, hipHostMallocPortable,
    hipHostMallocWriteCombined, hipHostRegisterMapped, hipHostRegisterPortable, hipMemAccessDesc,
    hipMemAccessFlagsProtReadWrite, hipMemAllocationTypePinned, hipMemHandleTypeNone, hipMemLocation,
    hipMemLocationTypeDevice, hipMemPool_t, hipMemPoolAttr as PoolAttribute,
    hipMemPoolAttrReleaseThreshold as RELEASE_THRESHOLD, hipMemPoolAttrReservedMemCurrent as RESERVED,
    hipMemPoolAttrReservedMemHigh as RESERVED_PEAK, hipMemPoolAttrUsedMemCurrent as USED,
    hipMemPoolAttrUsedMemHigh as USED_PEAK, hipMemPoolProps, hipPointerAttribute_t,
};
use crate::backend::{Address, HostFlags, PointerKind, PoolHandle, PoolStatistics, StreamHandle};
use crate::error::{Error, Result};

fn raw(pool: PoolHandle) -> hipMemPool_t {
    std::ptr::with_exposed_provenance_mut(pool.0)
}

/// An address as a pointer, of the device or of the host; the memory may be anybody's.
pub fn pointer(address: Address) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

/// A pool of the device's own memory.
pub fn create_pool(hip: &Hip, device: i32, threshold: u64) -> Result<Option<PoolHandle>> {
    if !has_pools(hip, device)? {
        return Ok(None);
    }
    let properties = hipMemPoolProps {
        allocType: hipMemAllocationTypePinned,
        handleTypes: hipMemHandleTypeNone,
        location: hipMemLocation { type_: hipMemLocationTypeDevice, id: device },
        win32SecurityAttributes: std::ptr::null_mut(),
        reserved: [0; 64],
    };
    let mut pool: hipMemPool_t = std::ptr::null_mut();
    // SAFETY: the target is writable and the properties are complete.
    let create = |on: &Current<'_>| unsafe { (on.api.hipMemPoolCreate)(&mut pool, &properties) };
    hip.call(device, "hipMemPoolCreate", create, String::new)?;
    let handle = PoolHandle(pool.expose_provenance());
    let ready = open_to_peers(hip, device, pool).and_then(|()| set_release_threshold(hip, handle, threshold));
    if ready.is_err() {
        // SAFETY: made above and given to nobody. That it cannot be destroyed either is no news: the first error is told.
        let _ = unsafe { (hip.api.hipMemPoolDestroy)(pool) };
    }
    ready.map(|()| Some(handle))
}

/// Lets every device that can reach this one read and write the pool's blocks. `hipDeviceEnablePeerAccess` does that for
/// plain memory only, and a library that copies from another device would be refused without it.
fn open_to_peers(hip: &Hip, device: i32, pool: hipMemPool_t) -> Result<()> {
    let mut access = Vec::new();
    for peer in (0..).take(hip.slots.len()) {
        if peer != device && hip.can_access(peer, device)? {
            access.push(hipMemAccessDesc {
                location: hipMemLocation { type_: hipMemLocationTypeDevice, id: peer },
                flags: hipMemAccessFlagsProtReadWrite,
            });
        }
    }
    if access.is_empty() {
        return Ok(());
    }
    // SAFETY: as many complete descriptions as are said, which the runtime only reads.
    let open = |api: &Api| unsafe { (api.hipMemPoolSetAccess)(pool, access.as_ptr(), access.len()) };
    hip.call_anywhere("hipMemPoolSetAccess", open, || format!("device {device}, {} peers", access.len()))
}

/// Sets how much a pool keeps.
pub fn set_release_threshold(hip: &Hip, pool: PoolHandle, mut bytes: u64) -> Result<()> {
    let value: *mut u64 = &mut bytes;
    // SAFETY: the attribute is a 64-bit number, which the runtime only reads.
    let set = |api: &Api| unsafe { (api.hipMemPoolSetAttribute)(raw(pool), RELEASE_THRESHOLD, value.cast()) };
    hip.call_anywhere("hipMemPoolSetAttribute", set, || format!("pool {:#x}, release threshold {bytes}", pool.0))
}

/// Gives back what a pool does not use.
pub fn trim_pool(hip: &Hip, pool: PoolHandle, keep: usize) -> Result<()> {
    // SAFETY: the runtime refuses what is no pool.
    let trim = |api: &Api| beside_captures(api, || unsafe { (api.hipMemPoolTrimTo)(raw(pool), keep) });
    hip.call_anywhere("hipMemPoolTrimTo", trim, || format!("pool {:#x}, keeping {keep} bytes", pool.0))
}

/// What a pool holds.
pub fn pool_statistics(hip: &Hip, pool: PoolHandle) -> Result<PoolStatistics> {
    let ask = |which: PoolAttribute| {
        let mut bytes = 0_u64;
        let value: *mut u64 = &mut bytes;
        // SAFETY: the attribute is a 64-bit number.
        let get = |api: &Api| unsafe { (api.hipMemPoolGetAttribute)(raw(pool), which, value.cast()) };
        hip.call_anywhere("hipMemPoolGetAttribute", get, || format!("pool {:#x}, attribute {which}", pool.0))?;
        Ok::<usize, Error>(usize::try_from(bytes).unwrap_or(usize::MAX))
    };
    Ok(PoolStatistics {
        reserved: ask(RESERVED)?,
        reserved_peak: ask(RESERVED_PEAK)?,
        used: ask(USED)?,
        used_peak: ask(USED_PEAK)?,
    })
}

/// A block of a pool.
#[inline]
pub fn allocate_from_pool(
    hip: &Hip,
    device: i32,
    pool: PoolHandle,
    bytes: usize,
    stream: StreamHandle,
) -> Result<Address> {
    let operation = "hipMallocFromPoolAsync";
    let current = hip.enter(device, operation)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: the target is writable; the runtime refuses what is no pool.
    match beside_captures(&hip.api, || unsafe {
        (hip.api.hipMallocFromPoolAsync)(&mut address, bytes, raw(pool), raw_stream(stream))
    }) {
        SUCCESS => Ok(address.expose_provenance()),
        code => Err(allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives a block of a pool back.
///
/// # Safety
/// The block is alive, and nothing uses it behind this point of the stream.
#[inline]
pub unsafe fn free_to_pool(hip: &Hip, device: i32, address: Address, stream: StreamHandle) -> Result<()> {
    hip.call(
        device,
        "hipFreeAsync",
        // SAFETY: the caller's promise is the runtime's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.hipFreeAsync)(pointer(address), raw_stream(stream)) }),
        || format!("address {address:#x}"),
    )
}

/// A block of its own.
pub fn allocate(hip: &Hip, device: i32, bytes: usize) -> Result<Address> {
    let operation = "hipMalloc";
    let current = hip.enter(device, operation)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: the target is writable.
    match beside_captures(&hip.api, || unsafe { (hip.api.hipMalloc)(&mut address, bytes) }) {
        SUCCESS => Ok(address.expose_provenance()),
        code => Err(allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives a block back.
///
/// # Safety
/// The block is alive and used by nothing.
pub unsafe fn free(hip: &Hip, device: i32, address: Address) -> Result<()> {
    hip.call(
        device,
        "hipFree",
        // SAFETY: the caller's promise is the runtime's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.hipFree)(pointer(address)) }),
        || format!("address {address:#x}"),
    )
}

/// The bit of a flag that is set.
fn bit(set: bool, flag: u32) -> u32 {
    if set { flag } else { 0 }
}

/// Pinned host memory.
pub fn allocate_host(hip: &Hip, device: i32, bytes: usize, flags: HostFlags) -> Result<Address> {
    let operation = "hipHostMalloc";
    let bits = bit(flags.portable, hipHostMallocPortable)
        | bit(flags.mapped, hipHostMallocMapped)
        | bit(flags.write_combined, hipHostMallocWriteCombined);
    let current = hip.enter(device, operation)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: the target is writable.
    match beside_captures(&hip.api, || unsafe { (hip.api.hipHostMalloc)(&mut address, bytes, bits) }) {
        SUCCESS => Ok(address.expose_provenance()),
        code => Err(host_allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives pinned host memory back.
///
/// # Safety
/// The block is alive and used by nothing.
pub unsafe fn free_host(hip: &Hip, device: i32, address: Address) -> Result<()> {
    hip.call(
        device,
        "hipHostFree",
        // SAFETY: the caller's promise is the runtime's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.hipHostFree)(pointer(address)) }),
        || format!("address {address:#x}"),
    )
}

/// Pins memory that somebody else owns.
///
/// # Safety
/// The range is mapped and stays so until it is unregistered.
pub unsafe fn register_host(hip: &Hip, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()> {
    if flags.write_combined {
        return Err(Error::value("registered memory cannot be write-combined: that is decided when it is allocated"));
    }
    let bits = bit(flags.portable, hipHostRegisterPortable) | bit(flags.mapped, hipHostRegisterMapped);
    let operation = "hipHostRegister";
    let current = hip.enter(device, operation)?;
    // SAFETY: the caller's promise is the runtime's condition.
    match beside_captures(&hip.api, || unsafe { (hip.api.hipHostRegister)(pointer(address), bytes, bits) }) {
        SUCCESS => Ok(()),
        code => Err(host_allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Unpins memory.
///
/// # Safety
/// The address was registered and no copy uses it.
pub unsafe fn unregister_host(hip: &Hip, device: i32, address: Address) -> Result<()> {
    hip.call(
        device,
        "hipHostUnregister",
        // SAFETY: the caller's promise is the runtime's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.hipHostUnregister)(pointer(address)) }),
        || format!("address {address:#x}"),
    )
}

/// What the runtime knows of an address. It refuses one that it does not know before HIP 6, and says so by the kind from
/// then on.
pub fn pointer_kind(hip: &Hip, address: Address) -> Result<PointerKind> {
    let operation = "hipPointerGetAttributes";
    let mut attributes = hipPointerAttribute_t {
        type_: u32::MAX,
        device: -1,
        devicePointer: std::ptr::null_mut(),
        hostPointer: std::ptr::null_mut(),
        isManaged: 0,
        allocationFlags: 0,
    };
    let is_old = hip.version < VERSION_6;
    let mut known = true;
    let ask = |api: &Api| {
        // SAFETY: the target is writable; the address is only looked up.
        let code = unsafe { (api.hipPointerGetAttributes)(&mut attributes, pointer(address)) };
        known = !(is_old && code == INVALID_VALUE);
        if is_old { tolerated(api, code, INVALID_VALUE) } else { code }
    };
    hip.call_anywhere(operation, ask, || format!("address {address:#x}"))?;
    let [host, of_device, managed] = if is_old { MEMORY_TYPES_5 } else { MEMORY_TYPES_6 };
    Ok(match attributes.type_ {
        _ if !known => PointerKind::Unregistered,
        _ if attributes.isManaged != 0 => PointerKind::Managed,
        found if found == host => PointerKind::Host,
        found if found == of_device => PointerKind::Device(hip.number(attributes.device, operation)?),
        found if found == managed => PointerKind::Managed,
        _ => PointerKind::Unregistered,
    })
}
