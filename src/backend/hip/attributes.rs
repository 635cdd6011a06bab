//! Maps device attributes from CUDA's enum values to HIP's, where the two differ. Attributes that the layers above
//! query by name are not included.

use super::sys::{
    hipDeviceAttribute_t, hipDeviceAttributeCanMapHostMemory, hipDeviceAttributeCanUseHostPointerForRegisteredMem,
    hipDeviceAttributeComputePreemptionSupported, hipDeviceAttributeConcurrentKernels,
    hipDeviceAttributeConcurrentManagedAccess, hipDeviceAttributeDirectManagedMemAccessFromHost,
    hipDeviceAttributeEccEnabled, hipDeviceAttributeHostNativeAtomicSupported, hipDeviceAttributeKernelExecTimeout,
    hipDeviceAttributeManagedMemory, hipDeviceAttributeMaxPitch, hipDeviceAttributeMaxRegistersPerBlock,
    hipDeviceAttributeMaxRegistersPerMultiprocessor, hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeMemoryBusWidth, hipDeviceAttributeMemoryClockRate, hipDeviceAttributePageableMemoryAccess,
    hipDeviceAttributePageableMemoryAccessUsesHostPageTables, hipDeviceAttributeStreamPrioritiesSupported,
    hipDeviceAttributeTextureAlignment, hipDeviceAttributeUnifiedAddressing,
};

/// Returns HIP's enum value for the device attribute whose enum value in CUDA is `number`.
pub const fn of_cuda(number: i32) -> Option<hipDeviceAttribute_t> {
    Some(match number {
        11 => hipDeviceAttributeMaxPitch,
        12 => hipDeviceAttributeMaxRegistersPerBlock,
        14 => hipDeviceAttributeTextureAlignment,
        17 => hipDeviceAttributeKernelExecTimeout,
        19 => hipDeviceAttributeCanMapHostMemory,
        31 => hipDeviceAttributeConcurrentKernels,
        32 => hipDeviceAttributeEccEnabled,
        36 => hipDeviceAttributeMemoryClockRate,
        37 => hipDeviceAttributeMemoryBusWidth,
        39 => hipDeviceAttributeMaxThreadsPerMultiProcessor,
        41 => hipDeviceAttributeUnifiedAddressing,
        78 => hipDeviceAttributeStreamPrioritiesSupported,
        82 => hipDeviceAttributeMaxRegistersPerMultiprocessor,
        83 => hipDeviceAttributeManagedMemory,
        86 => hipDeviceAttributeHostNativeAtomicSupported,
        88 => hipDeviceAttributePageableMemoryAccess,
        89 => hipDeviceAttributeConcurrentManagedAccess,
        90 => hipDeviceAttributeComputePreemptionSupported,
        91 => hipDeviceAttributeCanUseHostPointerForRegisteredMem,
        101 => hipDeviceAttributeDirectManagedMemAccessFromHost,
        100 => hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
        _ => return None,
    })
}
