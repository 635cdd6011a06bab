//! Implements memory for the CUDA driver: structures that describe memory pools, and queries of the memory at an
//! address.

use std::ffi::{c_int, c_uint, c_void};

use super::driver::Cuda;
use super::sys::{
    CUmem_advise, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation,
    CUmemLocationType, CUmemPool_attribute as PoolAttribute, CUmemPoolProps, CUpointer_attribute as PointerAttribute,
};
use crate::cuda_and_hip::{Driver, PoolAttributes, Raw, VendorMemory};
use crate::{Address, Advice, PointerKind};
use pygpu_base::error::Result;

fn location(handle: c_int) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: handle }
}

impl VendorMemory for Cuda {
    const POOL_ATTRIBUTES: PoolAttributes<PoolAttribute> = PoolAttributes {
        release_threshold: PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
        reserved: PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
        reserved_peak: PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
        used: PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
        used_peak: PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_HIGH,
    };

    fn pool_attribute_name(which: PoolAttribute) -> String {
        format!("{which:?}")
    }

    fn pool_properties(handle: c_int) -> CUmemPoolProps {
        CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: location(handle),
            win32SecurityAttributes: std::ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        }
    }

    fn pool_access(handle: c_int) -> CUmemAccessDesc {
        CUmemAccessDesc { location: location(handle), flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE }
    }

    const ADVISE: &'static str = "cuMemAdvise";

    fn advise(driver: &Driver<Self>, address: Address, bytes: usize, advice: Advice, place: c_int) -> u32 {
        let advice = match advice {
            Advice::SetReadMostly => CUmem_advise::CU_MEM_ADVISE_SET_READ_MOSTLY,
            Advice::UnsetReadMostly => CUmem_advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY,
            Advice::SetPreferredLocation => CUmem_advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
            Advice::UnsetPreferredLocation => CUmem_advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
            Advice::SetAccessedBy => CUmem_advise::CU_MEM_ADVISE_SET_ACCESSED_BY,
            Advice::UnsetAccessedBy => CUmem_advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY,
        };
        // SAFETY: the call reads and writes no memory; the driver rejects memory that is not managed.
        unsafe { (driver.api.cuMemAdvise)(Raw::of(address), bytes, advice, place) }
    }

    /// Returns the kind of memory at an address. `cuPointerGetAttributes` returns all three attributes in one call.
    /// Unlike `cuPointerGetAttribute`, it does not fail for an unknown address.
    fn kind_of(driver: &Driver<Self>, address: Address) -> Result<PointerKind> {
        let operation = "cuPointerGetAttributes";
        let (mut memory_type, mut managed, mut ordinal): (c_uint, c_uint, c_int) = (0, 0, -1);
        let mut attributes = [
            PointerAttribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            PointerAttribute::CU_POINTER_ATTRIBUTE_IS_MANAGED,
            PointerAttribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        ];
        let mut values: [*mut c_void; 3] =
            [(&raw mut memory_type).cast(), (&raw mut managed).cast(), (&raw mut ordinal).cast()];
        // For an unknown address the driver returns no error and leaves the output values unchanged.
        let ask = |driver: &Driver<Self>| {
            let get = driver.api.cuPointerGetAttributes;
            // SAFETY: the call receives three attributes and three pointers to writable values, each at least as wide
            // as its attribute.
            unsafe { get(3, attributes.as_mut_ptr(), values.as_mut_ptr(), Raw::of(address)) }
        };
        driver.call_anywhere(operation, ask, || format!("address {address:#x}"))?;
        Ok(match (memory_type, managed) {
            (_, 1) => PointerKind::Managed,
            (1, _) => PointerKind::Host,
            (2, _) => PointerKind::Device(driver.number(ordinal, operation)?),
            (4, _) => PointerKind::Managed,
            _ => PointerKind::Unregistered,
        })
    }
}
