//! Memory of the device and pinned memory of the host: pools, blocks, and what the driver knows of an address.

use std::ffi::{c_int, c_uint, c_void};

use super::context::beside_captures;
use super::driver::Cuda;
use super::errors::{SUCCESS, allocation_refusal, host_allocation_refusal};
use super::properties::has_pools;
use super::streams::raw as raw_stream;
use super::sys::{
    Api, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType,
    CUmemLocation, CUmemLocationType, CUmemPool_attribute as PoolAttribute, CUmemPoolProps, CUmemoryPool,
    CUpointer_attribute as PointerAttribute,
};
use crate::backend::{Address, HostFlags, PointerKind, PoolHandle, PoolStatistics, StreamHandle};
use crate::error::{Error, Result};

fn raw(pool: PoolHandle) -> CUmemoryPool {
    std::ptr::with_exposed_provenance_mut(pool.0)
}

/// A host address as a pointer; the memory may be anybody's.
pub fn host(address: Address) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address)
}

/// A pool of the device's own memory.
pub fn create_pool(cuda: &Cuda, device: i32, threshold: u64) -> Result<Option<PoolHandle>> {
    if !has_pools(cuda, device)? {
        return Ok(None);
    }
    let operation = "cuMemPoolCreate";
    let properties = CUmemPoolProps {
        allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: cuda.slot(device, operation)?.handle,
        },
        win32SecurityAttributes: std::ptr::null_mut(),
        maxSize: 0,
        usage: 0,
        reserved: [0; 54],
    };
    let mut pool: CUmemoryPool = std::ptr::null_mut();
    // SAFETY: the target is writable and the properties are complete.
    cuda.call(device, operation, |on| unsafe { (on.api.cuMemPoolCreate)(&mut pool, &properties) }, String::new)?;
    let handle = PoolHandle(pool.expose_provenance());
    let ready = open_to_peers(cuda, device, pool).and_then(|()| set_release_threshold(cuda, handle, threshold));
    if ready.is_err() {
        // SAFETY: made above and given to nobody. That it cannot be destroyed either is no news: the first error is told.
        let _ = unsafe { (cuda.api.cuMemPoolDestroy)(pool) };
    }
    ready.map(|()| Some(handle))
}

/// Lets every device that can reach this one read and write the pool's blocks. `cuCtxEnablePeerAccess` does that for
/// plain memory only, and a library that copies from another device (CuPy's `asarray` does) is refused without it.
fn open_to_peers(cuda: &Cuda, device: i32, pool: CUmemoryPool) -> Result<()> {
    let mut access = Vec::new();
    for (peer, slot) in (0..).zip(&cuda.slots) {
        if peer != device && cuda.can_access(peer, device)? {
            access.push(CUmemAccessDesc {
                location: CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: slot.handle },
                flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            });
        }
    }
    if access.is_empty() {
        return Ok(());
    }
    // SAFETY: as many complete descriptions as are said, which the driver only reads.
    let open = |api: &Api| unsafe { (api.cuMemPoolSetAccess)(pool, access.as_ptr(), access.len()) };
    cuda.call_anywhere("cuMemPoolSetAccess", open, || format!("device {device}, {} peers", access.len()))
}

/// Sets how much a pool keeps.
pub fn set_release_threshold(cuda: &Cuda, pool: PoolHandle, mut bytes: u64) -> Result<()> {
    let value: *mut u64 = &mut bytes;
    let which = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the attribute is a 64-bit number, which the driver only reads.
    let set = |api: &Api| unsafe { (api.cuMemPoolSetAttribute)(raw(pool), which, value.cast()) };
    cuda.call_anywhere("cuMemPoolSetAttribute", set, || format!("pool {:#x}, {which:?} {bytes}", pool.0))
}

/// Gives back what a pool does not use.
pub fn trim_pool(cuda: &Cuda, pool: PoolHandle, keep: usize) -> Result<()> {
    // SAFETY: the driver refuses what is no pool.
    let trim = |api: &Api| beside_captures(api, || unsafe { (api.cuMemPoolTrimTo)(raw(pool), keep) });
    cuda.call_anywhere("cuMemPoolTrimTo", trim, || format!("pool {:#x}, keeping {keep} bytes", pool.0))
}

/// What a pool holds.
pub fn pool_statistics(cuda: &Cuda, pool: PoolHandle) -> Result<PoolStatistics> {
    let ask = |which: PoolAttribute| {
        let mut bytes = 0_u64;
        let value: *mut u64 = &mut bytes;
        // SAFETY: the attribute is a 64-bit number.
        let get = |api: &Api| unsafe { (api.cuMemPoolGetAttribute)(raw(pool), which, value.cast()) };
        cuda.call_anywhere("cuMemPoolGetAttribute", get, || format!("pool {:#x}, {which:?}", pool.0))?;
        Ok::<usize, Error>(usize::try_from(bytes).unwrap_or(usize::MAX))
    };
    Ok(PoolStatistics {
        reserved: ask(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?,
        reserved_peak: ask(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)?,
        used: ask(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?,
        used_peak: ask(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH)?,
    })
}

/// A block of a pool.
#[inline]
pub fn allocate_from_pool(
    cuda: &Cuda,
    device: i32,
    pool: PoolHandle,
    bytes: usize,
    stream: StreamHandle,
) -> Result<Address> {
    let operation = "cuMemAllocFromPoolAsync";
    let current = cuda.enter(device, operation)?;
    let mut address: CUdeviceptr = 0;
    // SAFETY: the target is writable; the driver refuses what is no pool.
    match beside_captures(&cuda.api, || unsafe {
        (cuda.api.cuMemAllocFromPoolAsync)(&mut address, bytes, raw(pool), raw_stream(stream))
    }) {
        SUCCESS => Ok(address as Address),
        code => Err(allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives a block of a pool back.
///
/// # Safety
/// The block is alive, and nothing uses it behind this point of the stream.
#[inline]
pub unsafe fn free_to_pool(cuda: &Cuda, device: i32, address: Address, stream: StreamHandle) -> Result<()> {
    cuda.call(
        device,
        "cuMemFreeAsync",
        // SAFETY: the caller's promise is the driver's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.cuMemFreeAsync)(address as CUdeviceptr, raw_stream(stream)) }),
        || format!("address {address:#x}"),
    )
}

/// A block of its own.
pub fn allocate(cuda: &Cuda, device: i32, bytes: usize) -> Result<Address> {
    let operation = "cuMemAlloc";
    let current = cuda.enter(device, operation)?;
    let mut address: CUdeviceptr = 0;
    // SAFETY: the target is writable.
    match beside_captures(&cuda.api, || unsafe { (cuda.api.cuMemAlloc_v2)(&mut address, bytes) }) {
        SUCCESS => Ok(address as Address),
        code => Err(allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives a block back.
///
/// # Safety
/// The block is alive and used by nothing.
pub unsafe fn free(cuda: &Cuda, device: i32, address: Address) -> Result<()> {
    cuda.call(
        device,
        "cuMemFree",
        // SAFETY: the caller's promise is the driver's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.cuMemFree_v2)(address as CUdeviceptr) }),
        || format!("address {address:#x}"),
    )
}

/// Pinned host memory.
pub fn allocate_host(cuda: &Cuda, device: i32, bytes: usize, flags: HostFlags) -> Result<Address> {
    let operation = "cuMemHostAlloc";
    let bits = c_uint::from(flags.portable) | c_uint::from(flags.mapped) << 1 | c_uint::from(flags.write_combined) << 2;
    let current = cuda.enter(device, operation)?;
    let mut address = std::ptr::null_mut();
    // SAFETY: the target is writable.
    match beside_captures(&cuda.api, || unsafe { (cuda.api.cuMemHostAlloc)(&mut address, bytes, bits) }) {
        SUCCESS => Ok(address.expose_provenance()),
        code => Err(host_allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Gives pinned host memory back.
///
/// # Safety
/// The block is alive and used by nothing.
pub unsafe fn free_host(cuda: &Cuda, device: i32, address: Address) -> Result<()> {
    cuda.call(
        device,
        "cuMemFreeHost",
        // SAFETY: the caller's promise is the driver's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.cuMemFreeHost)(host(address)) }),
        || format!("address {address:#x}"),
    )
}

/// Pins memory that somebody else owns.
///
/// # Safety
/// The range is mapped and stays so until it is unregistered.
pub unsafe fn register_host(cuda: &Cuda, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()> {
    if flags.write_combined {
        return Err(Error::value("registered memory cannot be write-combined: that is decided when it is allocated"));
    }
    let bits = c_uint::from(flags.portable) | c_uint::from(flags.mapped) << 1;
    let operation = "cuMemHostRegister";
    let current = cuda.enter(device, operation)?;
    // SAFETY: the caller's promise is the driver's condition.
    match beside_captures(&cuda.api, || unsafe { (cuda.api.cuMemHostRegister_v2)(host(address), bytes, bits) }) {
        SUCCESS => Ok(()),
        code => Err(host_allocation_refusal(current.api, code, operation, device, bytes)),
    }
}

/// Unpins memory.
///
/// # Safety
/// The address was registered and no copy uses it.
pub unsafe fn unregister_host(cuda: &Cuda, device: i32, address: Address) -> Result<()> {
    cuda.call(
        device,
        "cuMemHostUnregister",
        // SAFETY: the caller's promise is the driver's condition.
        |on| beside_captures(on.api, || unsafe { (on.api.cuMemHostUnregister)(host(address)) }),
        || format!("address {address:#x}"),
    )
}

/// What the driver knows of an address. The plural call answers for all three attributes at once and, unlike the singular
/// one, does not fail for an address that it does not know.
pub fn pointer_kind(cuda: &Cuda, address: Address) -> Result<PointerKind> {
    let (mut memory_type, mut managed, mut ordinal): (c_uint, c_uint, c_int) = (0, 0, -1);
    let mut attributes = [
        PointerAttribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        PointerAttribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
        PointerAttribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    ];
    let mut values: [*mut c_void; 3] =
        [(&raw mut memory_type).cast(), (&raw mut managed).cast(), (&raw mut ordinal).cast()];
    // Of an address that it does not know the driver says nothing, without an error.
    let ask = |api: &Api| {
        let get = api.cuPointerGetAttributes;
        // SAFETY: three attributes and three writable values, each of the type or wider than the attribute asks.
        unsafe { get(3, attributes.as_mut_ptr(), values.as_mut_ptr(), address as CUdeviceptr) }
    };
    cuda.call_anywhere("cuPointerGetAttributes", ask, || format!("address {address:#x}"))?;
    Ok(match (memory_type, managed) {
        (_, 1) => PointerKind::Managed,
        (1, _) => PointerKind::Host,
        (2, _) => PointerKind::Device(cuda.number(ordinal, "cuPointerGetAttributes")?),
        (4, _) => PointerKind::Managed,
        _ => PointerKind::Unregistered,
    })
}
