//! Checks `sys` against AMD's headers at compile time, in the tests only: HIP 5.4 through hip-sys, the newest version
//! through cubecl-hip-sys. This module uses only types and constants of these crates. Therefore it needs neither ROCm
//! nor a device, and links nothing.
//!
//! If one of the two headers lacks a required function, this module does not compile; the function must then be
//! declared `old` or `new`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, non_camel_case_types)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};
use std::mem::offset_of;

use cubecl_hip_sys as newest;
use hip_sys::hiprt as oldest;

use super::sys::{self, hip_api, hip_values};
use crate::cuda_and_hip::{self, shared_symbols};
use crate::error_codes;

/// Return type of a runtime function: `hipError_t`, unless the list of functions states another type.
macro_rules! output {
    () => {
        hipError_t
    };
    ($output:ty) => {
        $output
    };
}

/// Defines a header's types under the vendor-independent names by which `shared_symbols`, the list of functions common
/// to CUDA and HIP, refers to them.
macro_rules! header {
    ($($header:tt)+) => {
        pub use $($header)+::{
            hipDeviceAttribute_t as DeviceAttribute, hipDeviceptr_t as Address, hipEvent_t as Event,
            hipFunction_attribute as FunctionAttribute, hipFunction_t as Function, hipGraph_t as Graph,
            hipGraphExec_t as Executable, hipGraphNode_t as GraphNode, hipIpcEventHandle_t as IpcEvent,
            hipIpcMemHandle_t as IpcMemory, hipMemAccessDesc as PoolAccess, hipMemPool_t as Pool,
            hipMemPoolAttr as PoolAttribute, hipMemPoolProps as PoolProperties, hipModule_t as Module,
            hipStream_t as Stream, hipStreamCaptureMode as CaptureMode, hipStreamCaptureStatus as CaptureStatus,
            hipUUID as Uuid, HIP_ARRAY3D_DESCRIPTOR as ArrayDescriptor, HIP_RESOURCE_DESC as ResourceDescriptor,
            HIP_RESOURCE_VIEW_DESC as ViewDescriptor, HIP_TEXTURE_DESC as TextureDescriptor, hipArray_t as Array,
            hipGraphNodeType as NodeKind, hipTextureObject_t as Texture,
        };
        pub type Peer = std::ffi::c_int;
        pub type Source = *const std::ffi::c_void;
    };
}

mod functions_of_the_oldest {
    use super::*;
    use oldest::*;

    macro_rules! check {
        (
            required { $(fn $name:ident($($arg:ident: $type:ty),*) $(-> $output:ty)?;)* }
            old { $(fn $old:ident($($old_arg:ident: $old_type:ty),*);)* }
            new { $($new:tt)* }
        ) => {
            $(const _: unsafe extern "C" fn($($type),*) -> output!($($output)?) = oldest::$name;)*
            $(const _: unsafe extern "C" fn($($old_type),*) -> hipError_t = oldest::$old;)*
        };
    }
    hip_api!(check);
    const _: unsafe extern "C" fn(*mut c_int) -> hipError_t = oldest::hipRuntimeGetVersion;

    #[allow(non_snake_case)]
    mod V {
        header!(super::oldest);
    }
    macro_rules! check_shared {
        (
            required { $(fn $name:ident($($arg:ident: $type:ty),*) = $cuda:ident, $hip:ident;)* }
            optional { $(fn $extra:ident($($extra_arg:ident: $extra_type:ty),*) = $extra_cuda:ident, $extra_hip:ident;)* }
            newer { $($newer:tt)* }
        ) => {
            $(const _: unsafe extern "C" fn($($type),*) -> hipError_t = oldest::$hip;)*
            $(const _: unsafe extern "C" fn($($extra_type),*) -> hipError_t = oldest::$extra_hip;)*
        };
    }
    shared_symbols!(check_shared);
}

mod functions_of_the_newest {
    use super::*;
    use newest::*;

    macro_rules! check {
        (
            required { $(fn $name:ident($($arg:ident: $type:ty),*) $(-> $output:ty)?;)* }
            old { $($old:tt)* }
            new { $(fn $new:ident($($new_arg:ident: $new_type:ty),*);)* }
        ) => {
            $(const _: unsafe extern "C" fn($($type),*) -> output!($($output)?) = newest::$name;)*
            $(const _: unsafe extern "C" fn($($new_type),*) -> hipError_t = newest::$new;)*
        };
    }
    hip_api!(check);
    const _: unsafe extern "C" fn(*mut c_int) -> hipError_t = newest::hipRuntimeGetVersion;

    #[allow(non_snake_case)]
    mod V {
        header!(super::newest);
        pub use super::newest::{
            HIP_LAUNCH_CONFIG as LaunchConfig, hipResourceDesc as SurfaceDescriptor, hipSurfaceObject_t as Surface,
        };
    }
    macro_rules! check_shared {
        ($($group:ident { $(fn $name:ident($($arg:ident: $type:ty),*) = $cuda:ident, $hip:ident;)* })*) => {
            $($(const _: unsafe extern "C" fn($($type),*) -> hipError_t = newest::$hip;)*)*
        };
    }
    shared_symbols!(check_shared);
}

/// Checks that structures are equal in the headers of HIP 5.4 and of the newest version, field by field.
macro_rules! same_layout {
    ($($name:ident { $($field:ident),* })*) => {
        $(
            const _: () = assert!(
                size_of::<sys::$name>() == size_of::<oldest::$name>()
                    && size_of::<sys::$name>() == size_of::<newest::$name>()
                    && align_of::<sys::$name>() == align_of::<oldest::$name>()
                    && align_of::<sys::$name>() == align_of::<newest::$name>(),
                concat!("size or alignment of ", stringify!($name))
            );
            $(const _: () = assert!(
                offset_of!(sys::$name, $field) == offset_of!(oldest::$name, $field)
                    && offset_of!(sys::$name, $field) == offset_of!(newest::$name, $field),
                concat!(stringify!($name), ".", stringify!($field))
            );)*
        )*
    };
}
same_layout! {
    hipError_t {} hipDeviceptr_t {} hipStream_t {} hipEvent_t {} hipMemPool_t {} hipArray_t {}
    hipModule_t {} hipFunction_t {} hipJitOption {} hipFunction_attribute {}
    hipGraph_t {} hipGraphExec_t {} hipGraphNode_t {} hipStreamCaptureMode {} hipStreamCaptureStatus {}
    hipDeviceAttribute_t {} hipMemcpyKind {} hipMemoryType {} hipMemPoolAttr {} hipMemAllocationType {}
    hipMemAllocationHandleType {} hipMemLocationType {} hipMemAccessFlags {}
    hipUUID { bytes }
    hipIpcMemHandle_t { reserved }
    hipIpcEventHandle_t { reserved }
    hipPointerAttribute_t { device, devicePointer, hostPointer, isManaged, allocationFlags }
    hipMemLocation { type_, id }
    hipMemPoolProps { allocType, handleTypes, location, win32SecurityAttributes }
    hipMemAccessDesc { location, flags }
    hipPos { x, y, z }
    hipPitchedPtr { ptr, pitch, xsize, ysize }
    hipExtent { width, height, depth }
    hipMemcpy3DParms { srcArray, srcPos, srcPtr, dstArray, dstPos, dstPtr, extent, kind }
}

/// Checks the layout of the texture structures shared by both vendors.
const _: () = {
    use cuda_and_hip::textures::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
    use newest::{HIP_ARRAY3D_DESCRIPTOR, HIP_RESOURCE_DESC, HIP_TEXTURE_DESC, hipResourceDesc};
    assert!(size_of::<ArrayDescriptor>() == size_of::<HIP_ARRAY3D_DESCRIPTOR>());
    assert!(offset_of!(ArrayDescriptor, flags) == offset_of!(HIP_ARRAY3D_DESCRIPTOR, Flags));
    assert!(size_of::<ResourceDescriptor>() == size_of::<HIP_RESOURCE_DESC>());
    assert!(offset_of!(ResourceDescriptor, words) == offset_of!(HIP_RESOURCE_DESC, res));
    assert!(offset_of!(ResourceDescriptor, flags) == offset_of!(HIP_RESOURCE_DESC, flags));
    assert!(size_of::<TextureDescriptor>() == size_of::<HIP_TEXTURE_DESC>());
    assert!(offset_of!(TextureDescriptor, border) == offset_of!(HIP_TEXTURE_DESC, borderColor));
    // The runtime reads a surface's resource as `hipResourceDesc`, which is not longer than `ResourceDescriptor`.
    assert!(size_of::<ResourceDescriptor>() >= size_of::<hipResourceDesc>());
    assert!(offset_of!(ResourceDescriptor, words) == offset_of!(hipResourceDesc, res));
};

/// Checks the memory layout of the structures for kernel launches that both vendors share.
const _: () = {
    use cuda_and_hip::{RawAttribute, RawConfig, raw_launch_attributes as ours};
    use newest::{HIP_LAUNCH_CONFIG, hipLaunchAttribute};
    assert!(size_of::<RawAttribute>() == size_of::<hipLaunchAttribute>());
    assert!(offset_of!(RawAttribute, value) == offset_of!(hipLaunchAttribute, __bindgen_anon_1));
    assert!(size_of::<RawConfig>() == size_of::<HIP_LAUNCH_CONFIG>());
    assert!(offset_of!(RawConfig, stream) == offset_of!(HIP_LAUNCH_CONFIG, hStream));
    assert!(offset_of!(RawConfig, count) == offset_of!(HIP_LAUNCH_CONFIG, numAttrs));
    assert!(ours::COOPERATIVE == newest::hipLaunchAttributeID_hipLaunchAttributeCooperative);
    assert!(ours::PRIORITY == newest::hipLaunchAttributeID_hipLaunchAttributePriority);
};

/// Two fields of a structure have different names, but equal offsets, in the headers of HIP 5.4 and of the newest
/// version.
const _: () = assert!(
    offset_of!(sys::hipPointerAttribute_t, type_) == offset_of!(oldest::hipPointerAttribute_t, memoryType)
        && offset_of!(sys::hipPointerAttribute_t, type_) == offset_of!(newest::hipPointerAttribute_t, type_)
        && offset_of!(sys::hipMemPoolProps, reserved) == offset_of!(oldest::hipMemPoolProps, reserved)
        && offset_of!(sys::hipMemPoolProps, reserved) == offset_of!(newest::hipMemPoolProps, maxSize)
);

/// The structures of device properties differ completely between the headers of HIP 5.4 and of the newest version. Only
/// their sizes and the offset of the architecture's name are checked, because `sys` uses nothing else of these
/// structures.
const _: () = assert!(
    sys::ARCHITECTURE_AT == offset_of!(oldest::hipDeviceProp_t, gcnArchName)
        && sys::ARCHITECTURE_AT_R0600 == offset_of!(newest::hipDeviceProp_tR0600, gcnArchName)
        && size_of::<oldest::hipDeviceProp_t>() <= size_of::<sys::hipDeviceProp_t>()
        && size_of::<newest::hipDeviceProp_tR0600>() <= size_of::<sys::hipDeviceProp_tR0600>()
        && align_of::<oldest::hipDeviceProp_t>() <= align_of::<sys::hipDeviceProp_t>()
        && align_of::<newest::hipDeviceProp_tR0600>() <= align_of::<sys::hipDeviceProp_tR0600>()
);
const _: fn(oldest::hipDeviceProp_t) -> [c_char; sys::ARCHITECTURE_SIZE] = |properties| properties.gcnArchName;
const _: fn(newest::hipDeviceProp_tR0600) -> [c_char; sys::ARCHITECTURE_SIZE] = |properties| properties.gcnArchName;

/// Checks that the constants shared by both vendors equal those in the headers of HIP 5.4 and of the newest version.
macro_rules! shared_value {
    ($($shared:expr => $type:ident $name:ident $newest:ident,)*) => {
        $(const _: () = assert!(
            $shared == oldest::$type::$name as u32 && $shared == newest::$newest,
            stringify!($name)
        );)*
    };
    ($($shared:expr => $name:ident,)*) => {
        $(const _: () = assert!($shared == oldest::$name && $shared == newest::$name, stringify!($name));)*
    };
}
shared_value! {
    error_codes::SUCCESS => hipError_t hipSuccess hipError_t_hipSuccess,
    error_codes::INVALID_VALUE => hipError_t hipErrorInvalidValue hipError_t_hipErrorInvalidValue,
    error_codes::OUT_OF_MEMORY => hipError_t hipErrorOutOfMemory hipError_t_hipErrorOutOfMemory,
    error_codes::INVALID_DEVICE => hipError_t hipErrorInvalidDevice hipError_t_hipErrorInvalidDevice,
    error_codes::NOT_READY => hipError_t hipErrorNotReady hipError_t_hipErrorNotReady,
    error_codes::PEER_ACCESS_ALREADY_ENABLED =>
        hipError_t hipErrorPeerAccessAlreadyEnabled hipError_t_hipErrorPeerAccessAlreadyEnabled,
}
shared_value! {
    cuda_and_hip::memory::PORTABLE => hipHostMallocPortable,
    cuda_and_hip::memory::MAPPED => hipHostMallocMapped,
    cuda_and_hip::memory::WRITE_COMBINED => hipHostMallocWriteCombined,
    cuda_and_hip::memory::PORTABLE => hipHostRegisterPortable,
    cuda_and_hip::memory::MAPPED => hipHostRegisterMapped,
    cuda_and_hip::streams::NON_BLOCKING => hipStreamNonBlocking,
    cuda_and_hip::events::BLOCKING_SYNC => hipEventBlockingSync,
    cuda_and_hip::events::DISABLE_TIMING => hipEventDisableTiming,
    cuda_and_hip::events::INTERPROCESS => hipEventInterprocess,
}

/// From HIP 6 on, the enum values of the memory kinds differ from those of HIP 5.
const _: () = {
    use newest::{
        hipMemoryType_hipMemoryTypeDevice as DEVICE, hipMemoryType_hipMemoryTypeHost as HOST,
        hipMemoryType_hipMemoryTypeManaged as MANAGED, hipMemoryType_hipMemoryTypeUnregistered as UNREGISTERED,
    };
    use oldest::hipMemoryType::{hipMemoryTypeDevice, hipMemoryTypeHost, hipMemoryTypeManaged};
    let [host, device, managed] = sys::MEMORY_TYPES_5;
    assert!(host == hipMemoryTypeHost as u32 && device == hipMemoryTypeDevice as u32);
    assert!(managed == hipMemoryTypeManaged as u32);
    let [host, device, managed] = sys::MEMORY_TYPES_6;
    assert!(host == HOST && device == DEVICE && managed == MANAGED && UNREGISTERED == 0);
};

/// Returns a constant of hip-sys, in which the constants are variants of enums.
macro_rules! oldest_value {
    ($type:ident $name:ident) => {
        oldest::$type::$name as u32
    };
}

macro_rules! check_values {
    ($($type:ident { $($name:ident = $value:literal,)* })*) => {
        $($(const _: () = assert!(sys::$name == oldest_value!($type $name), stringify!($name));)*)*

        const NAMES: &[&str] = &[$($(stringify!($name)),*),*];
    };
}
hip_values!(check_values);

/// Returns a constant of cubecl-hip-sys, in which each constant's name begins with the name of its enum.
macro_rules! newest_values {
    ($($name:ident = $newest:ident,)*) => {
        $(const _: () = assert!(sys::$name == newest::$newest, stringify!($name));)*

        const NAMES_IN_THE_NEWEST: &[&str] = &[$(stringify!($name)),*];
    };
}
newest_values! {
    hipErrorNoDevice = hipError_t_hipErrorNoDevice,
    hipErrorECCNotCorrectable = hipError_t_hipErrorECCNotCorrectable,
    hipErrorIllegalAddress = hipError_t_hipErrorIllegalAddress,
    hipErrorLaunchTimeOut = hipError_t_hipErrorLaunchTimeOut,
    hipErrorAssert = hipError_t_hipErrorAssert,
    hipErrorLaunchFailure = hipError_t_hipErrorLaunchFailure,
    hipMemcpyHostToDevice = hipMemcpyKind_hipMemcpyHostToDevice,
    hipMemcpyDeviceToHost = hipMemcpyKind_hipMemcpyDeviceToHost,
    hipMemcpyDeviceToDevice = hipMemcpyKind_hipMemcpyDeviceToDevice,
    hipMemAllocationTypePinned = hipMemAllocationType_hipMemAllocationTypePinned,
    hipMemHandleTypeNone = hipMemAllocationHandleType_hipMemHandleTypeNone,
    hipMemLocationTypeDevice = hipMemLocationType_hipMemLocationTypeDevice,
    hipMemAccessFlagsProtReadWrite = hipMemAccessFlags_hipMemAccessFlagsProtReadWrite,
    hipMemPoolAttrReleaseThreshold = hipMemPoolAttr_hipMemPoolAttrReleaseThreshold,
    hipMemPoolAttrReservedMemCurrent = hipMemPoolAttr_hipMemPoolAttrReservedMemCurrent,
    hipMemPoolAttrReservedMemHigh = hipMemPoolAttr_hipMemPoolAttrReservedMemHigh,
    hipMemPoolAttrUsedMemCurrent = hipMemPoolAttr_hipMemPoolAttrUsedMemCurrent,
    hipMemPoolAttrUsedMemHigh = hipMemPoolAttr_hipMemPoolAttrUsedMemHigh,
    hipDeviceAttributeAsyncEngineCount = hipDeviceAttribute_t_hipDeviceAttributeAsyncEngineCount,
    hipDeviceAttributeClockRate = hipDeviceAttribute_t_hipDeviceAttributeClockRate,
    hipDeviceAttributeIntegrated = hipDeviceAttribute_t_hipDeviceAttributeIntegrated,
    hipDeviceAttributeL2CacheSize = hipDeviceAttribute_t_hipDeviceAttributeL2CacheSize,
    hipDeviceAttributeComputeCapabilityMajor = hipDeviceAttribute_t_hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeMaxThreadsPerBlock = hipDeviceAttribute_t_hipDeviceAttributeMaxThreadsPerBlock,
    hipDeviceAttributeMaxThreadsPerMultiProcessor = hipDeviceAttribute_t_hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeMaxPitch = hipDeviceAttribute_t_hipDeviceAttributeMaxPitch,
    hipDeviceAttributeComputeCapabilityMinor = hipDeviceAttribute_t_hipDeviceAttributeComputeCapabilityMinor,
    hipDeviceAttributeMultiprocessorCount = hipDeviceAttribute_t_hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributePageableMemoryAccessUsesHostPageTables = hipDeviceAttribute_t_hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
    hipDeviceAttributePciBusId = hipDeviceAttribute_t_hipDeviceAttributePciBusId,
    hipDeviceAttributePciDeviceId = hipDeviceAttribute_t_hipDeviceAttributePciDeviceId,
    hipDeviceAttributePciDomainID = hipDeviceAttribute_t_hipDeviceAttributePciDomainID,
    hipDeviceAttributeWarpSize = hipDeviceAttribute_t_hipDeviceAttributeWarpSize,
    hipDeviceAttributeMemoryPoolsSupported = hipDeviceAttribute_t_hipDeviceAttributeMemoryPoolsSupported,
    hipDeviceAttributeCooperativeLaunch = hipDeviceAttribute_t_hipDeviceAttributeCooperativeLaunch,
    hipDeviceAttributeMaxBlockDimX = hipDeviceAttribute_t_hipDeviceAttributeMaxBlockDimX,
    hipDeviceAttributeMaxBlockDimY = hipDeviceAttribute_t_hipDeviceAttributeMaxBlockDimY,
    hipDeviceAttributeMaxBlockDimZ = hipDeviceAttribute_t_hipDeviceAttributeMaxBlockDimZ,
    hipDeviceAttributeMaxGridDimX = hipDeviceAttribute_t_hipDeviceAttributeMaxGridDimX,
    hipDeviceAttributeMaxGridDimY = hipDeviceAttribute_t_hipDeviceAttributeMaxGridDimY,
    hipDeviceAttributeMaxGridDimZ = hipDeviceAttribute_t_hipDeviceAttributeMaxGridDimZ,
    hipDeviceAttributeMaxSharedMemoryPerBlock = hipDeviceAttribute_t_hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeSharedMemPerBlockOptin = hipDeviceAttribute_t_hipDeviceAttributeSharedMemPerBlockOptin,
    hipDeviceAttributeMaxRegistersPerBlock = hipDeviceAttribute_t_hipDeviceAttributeMaxRegistersPerBlock,
    hipDeviceAttributeTextureAlignment = hipDeviceAttribute_t_hipDeviceAttributeTextureAlignment,
    hipDeviceAttributeKernelExecTimeout = hipDeviceAttribute_t_hipDeviceAttributeKernelExecTimeout,
    hipDeviceAttributeCanMapHostMemory = hipDeviceAttribute_t_hipDeviceAttributeCanMapHostMemory,
    hipDeviceAttributeConcurrentKernels = hipDeviceAttribute_t_hipDeviceAttributeConcurrentKernels,
    hipDeviceAttributeEccEnabled = hipDeviceAttribute_t_hipDeviceAttributeEccEnabled,
    hipDeviceAttributeMemoryClockRate = hipDeviceAttribute_t_hipDeviceAttributeMemoryClockRate,
    hipDeviceAttributeMemoryBusWidth = hipDeviceAttribute_t_hipDeviceAttributeMemoryBusWidth,
    hipDeviceAttributeUnifiedAddressing = hipDeviceAttribute_t_hipDeviceAttributeUnifiedAddressing,
    hipDeviceAttributeStreamPrioritiesSupported = hipDeviceAttribute_t_hipDeviceAttributeStreamPrioritiesSupported,
    hipDeviceAttributeMaxRegistersPerMultiprocessor = hipDeviceAttribute_t_hipDeviceAttributeMaxRegistersPerMultiprocessor,
    hipDeviceAttributeManagedMemory = hipDeviceAttribute_t_hipDeviceAttributeManagedMemory,
    hipDeviceAttributeHostNativeAtomicSupported = hipDeviceAttribute_t_hipDeviceAttributeHostNativeAtomicSupported,
    hipDeviceAttributePageableMemoryAccess = hipDeviceAttribute_t_hipDeviceAttributePageableMemoryAccess,
    hipDeviceAttributeConcurrentManagedAccess = hipDeviceAttribute_t_hipDeviceAttributeConcurrentManagedAccess,
    hipDeviceAttributeComputePreemptionSupported = hipDeviceAttribute_t_hipDeviceAttributeComputePreemptionSupported,
    hipDeviceAttributeCanUseHostPointerForRegisteredMem = hipDeviceAttribute_t_hipDeviceAttributeCanUseHostPointerForRegisteredMem,
    hipDeviceAttributeDirectManagedMemAccessFromHost = hipDeviceAttribute_t_hipDeviceAttributeDirectManagedMemAccessFromHost,
    HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_NUM_REGS = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_NUM_REGS,
    HIP_FUNC_ATTRIBUTE_PTX_VERSION = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_PTX_VERSION,
    HIP_FUNC_ATTRIBUTE_BINARY_VERSION = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_BINARY_VERSION,
    HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = hipFunction_attribute_HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
}

#[test]
fn every_constant_is_checked_against_headers() {
    assert_eq!(NAMES, NAMES_IN_THE_NEWEST);
}
