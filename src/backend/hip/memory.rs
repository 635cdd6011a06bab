//! Creates the structures by which AMD's runtime describes memory pools, and queries the kind of memory at an address.

use std::ffi::c_int;

use super::driver::Hip;
use super::sys::{
    MEMORY_TYPES_5, MEMORY_TYPES_6, VERSION_6, hipMemAccessDesc, hipMemAccessFlagsProtReadWrite,
    hipMemAllocationTypePinned, hipMemHandleTypeNone, hipMemLocation, hipMemLocationTypeDevice,
    hipMemPoolAttr as PoolAttribute, hipMemPoolAttrReleaseThreshold as RELEASE_THRESHOLD,
    hipMemPoolAttrReservedMemCurrent, hipMemPoolAttrReservedMemHigh, hipMemPoolAttrUsedMemCurrent,
    hipMemPoolAttrUsedMemHigh, hipMemPoolProps, hipPointerAttribute_t,
};
use crate::cuda_and_hip::{Driver, PoolAttributes, Raw, VendorMemory};
use crate::error_codes::INVALID_VALUE;
use crate::{Address, Advice, PointerKind};
use pygpu_base::error::Result;

fn location(device: c_int) -> hipMemLocation {
    hipMemLocation { type_: hipMemLocationTypeDevice, id: device }
}

impl VendorMemory for Hip {
    const POOL_ATTRIBUTES: PoolAttributes<PoolAttribute> = PoolAttributes {
        release_threshold: RELEASE_THRESHOLD,
        reserved: hipMemPoolAttrReservedMemCurrent,
        reserved_peak: hipMemPoolAttrReservedMemHigh,
        used: hipMemPoolAttrUsedMemCurrent,
        used_peak: hipMemPoolAttrUsedMemHigh,
    };

    fn pool_attribute_name(which: PoolAttribute) -> String {
        match which {
            RELEASE_THRESHOLD => "release threshold".to_owned(),
            other => format!("attribute {other}"),
        }
    }

    fn pool_properties(handle: c_int) -> hipMemPoolProps {
        hipMemPoolProps {
            allocType: hipMemAllocationTypePinned,
            handleTypes: hipMemHandleTypeNone,
            location: location(handle),
            win32SecurityAttributes: std::ptr::null_mut(),
            reserved: [0; 64],
        }
    }

    fn pool_access(handle: c_int) -> hipMemAccessDesc {
        hipMemAccessDesc { location: location(handle), flags: hipMemAccessFlagsProtReadWrite }
    }

    const ADVISE: &'static str = "hipMemAdvise";

    fn advise(driver: &Driver<Self>, address: Address, bytes: usize, advice: Advice, place: c_int) -> u32 {
        let first: *mut std::ffi::c_void = Raw::of(address);
        // SAFETY: the call reads and writes no memory; the runtime rejects memory that is not managed.
        unsafe { (driver.api.hipMemAdvise)(first, bytes, advice as u32, place) }
    }

    /// Returns the kind of memory at an address. For an unknown address the runtime returns an error before HIP 6, and
    /// a separate kind in later versions.
    fn kind_of(driver: &Driver<Self>, address: Address) -> Result<PointerKind> {
        let operation = "hipPointerGetAttributes";
        let mut attributes = hipPointerAttribute_t {
            type_: u32::MAX,
            device: -1,
            devicePointer: std::ptr::null_mut(),
            hostPointer: std::ptr::null_mut(),
            isManaged: 0,
            allocationFlags: 0,
        };
        let is_old = driver.version < VERSION_6;
        let mut known = true;
        let ask = |driver: &Driver<Self>| {
            let looked_up: *mut std::ffi::c_void = Raw::of(address);
            // SAFETY: the out-parameter is writable; the address is only looked up.
            let code = unsafe { (driver.api.hipPointerGetAttributes)(&mut attributes, looked_up) };
            known = !(is_old && code == INVALID_VALUE);
            if is_old { driver.tolerated(code, INVALID_VALUE) } else { code }
        };
        driver.call_anywhere(operation, ask, || format!("address {address:#x}"))?;
        let [host, of_device, managed] = if is_old { MEMORY_TYPES_5 } else { MEMORY_TYPES_6 };
        Ok(match attributes.type_ {
            _ if !known => PointerKind::Unregistered,
            _ if attributes.isManaged != 0 => PointerKind::Managed,
            found if found == host => PointerKind::Host,
            found if found == of_device => PointerKind::Device(driver.number(attributes.device, operation)?),
            found if found == managed => PointerKind::Managed,
            _ => PointerKind::Unregistered,
        })
    }
}
