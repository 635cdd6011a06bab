//! Declares structures, constants and functions of AMD's runtime that NVIDIA's driver lacks in this form. Functions of
//! both vendors are in `cuda_and_hip::symbols`.
//!
//! The declarations are not taken from a crate of bindings. Bindings that link the runtime make a build search for
//! ROCm. Bindings that return codes as an enum are undefined behaviour for codes newer than their header, and ROCm 6.4
//! has such codes. The names are AMD's, so that `abi` can compare all declarations with the headers of HIP 5.4 and HIP
//! 7.

#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, missing_docs)]

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

use crate::cuda_and_hip::RawConfig;
use crate::cuda_and_hip::loader::symbol_table;
use crate::cuda_and_hip::textures::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};

pub type hipError_t = u32;
pub type hipDeviceptr_t = *mut c_void;
pub type hipStream_t = *mut c_void;
pub type hipEvent_t = *mut c_void;
pub type hipMemPool_t = *mut c_void;
pub type hipArray_t = *mut c_void;
pub type hipTextureObject_t = *mut c_void;
pub type hipSurfaceObject_t = *mut c_void;
pub type hipModule_t = *mut c_void;
pub type hipFunction_t = *mut c_void;
pub type hipGraph_t = *mut c_void;
pub type hipGraphExec_t = *mut c_void;
pub type hipGraphNode_t = *mut c_void;
pub type hipStreamCaptureMode = c_uint;
pub type hipStreamCaptureStatus = c_uint;
pub type hipJitOption = c_uint;
pub type hipFunction_attribute = c_uint;
pub type hipDeviceAttribute_t = c_uint;
pub type hipMemcpyKind = c_uint;
pub type hipMemoryType = c_uint;
pub type hipMemPoolAttr = c_uint;
pub type hipMemAllocationType = c_uint;
pub type hipMemAllocationHandleType = c_uint;
pub type hipMemLocationType = c_uint;
pub type hipMemAccessFlags = c_uint;
pub type hipMemoryAdvise = c_uint;
pub type hipGraphNodeType = c_uint;
pub type hipGraphExecUpdateResult = c_uint;
/// Opaque types in place of `hipKernelNodeParams` and `hipMemsetParams`, because PyGPU only passes pointers to them.
pub type hipKernelNodeParams = [u64; 8];
pub type hipMemsetParams = [u64; 6];

/// Names of the runtime's library, in search order. The file name contains the runtime's major version, and packages
/// other than developer packages lack the plain name. The last entry is ROCm's default location, which may be unknown
/// to the loader.
#[cfg(not(windows))]
pub const CANDIDATES: &[&str] =
    &["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"];
/// Names of the runtime's library, in search order.
#[cfg(windows)]
pub const CANDIDATES: &[&str] = &["amdhip64_7.dll", "amdhip64_6.dll", "amdhip64.dll"];

/// Oldest supported runtime version. It is the oldest version with memory pools that the tests cover.
pub const OLDEST_VERSION: i32 = 50_200_000;
/// First runtime version in which the enum `hipMemoryType` has new values. From this version on, a query of an unknown
/// address is not an error.
pub const VERSION_6: i32 = 60_000_000;

/// Declares the runtime's functions. `required` functions exist in every runtime from [`OLDEST_VERSION`] on. `old`
/// functions are only in the headers of HIP 5. `new` functions are in the headers of HIP 6 and 7, but not in every HIP
/// 5 runtime. A runtime may lack `old` and `new` functions.
macro_rules! hip_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn hipGetErrorName(code: hipError_t) -> *const c_char;
                fn hipGetErrorString(code: hipError_t) -> *const c_char;
                fn hipGetLastError();

                fn hipGetDevice(device: *mut c_int);
                fn hipSetDevice(device: c_int);
                fn hipDeviceReset();
                fn hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint);

                fn hipPointerGetAttributes(attributes: *mut hipPointerAttribute_t, address: *const c_void);

                fn hipMemcpyAsync(
                    target: *mut c_void,
                    source: *const c_void,
                    bytes: usize,
                    kind: hipMemcpyKind,
                    stream: hipStream_t
                );
                fn hipMemcpy2DAsync(
                    target: *mut c_void,
                    target_pitch: usize,
                    source: *const c_void,
                    source_pitch: usize,
                    width: usize,
                    height: usize,
                    kind: hipMemcpyKind,
                    stream: hipStream_t
                );
                fn hipMemcpy3DAsync(copy: *const hipMemcpy3DParms, stream: hipStream_t);
                fn hipMemsetD32Async(target: hipDeviceptr_t, value: c_int, count: usize, stream: hipStream_t);
                fn hipMemset2DAsync(
                    target: *mut c_void,
                    pitch: usize,
                    value: c_int,
                    width: usize,
                    height: usize,
                    stream: hipStream_t
                );

                fn hipMemAdvise(address: *const c_void, bytes: usize, advice: hipMemoryAdvise, place: c_int);

                fn hipModuleLoadDataEx(
                    module: *mut hipModule_t,
                    image: *const c_void,
                    count: c_uint,
                    options: *mut hipJitOption,
                    values: *mut *mut c_void
                );
                fn hipModuleOccupancyMaxPotentialBlockSize(
                    grid: *mut c_int,
                    threads: *mut c_int,
                    function: hipFunction_t,
                    shared: usize,
                    limit: c_int
                );
            }
            old {
                fn hipGetDeviceProperties(properties: *mut hipDeviceProp_t, device: c_int);
            }
            new {
                fn hipGetDevicePropertiesR0600(properties: *mut hipDeviceProp_tR0600, device: c_int);
                fn hipGraphKernelNodeGetParams(node: hipGraphNode_t, parameters: *mut hipKernelNodeParams);
                fn hipGraphExecKernelNodeSetParams(
                    executable: hipGraphExec_t,
                    node: hipGraphNode_t,
                    parameters: *const hipKernelNodeParams
                );
                fn hipGraphMemcpyNodeGetParams(node: hipGraphNode_t, parameters: *mut hipMemcpy3DParms);
                fn hipGraphExecMemcpyNodeSetParams(
                    executable: hipGraphExec_t,
                    node: hipGraphNode_t,
                    parameters: *mut hipMemcpy3DParms
                );
                fn hipGraphMemsetNodeGetParams(node: hipGraphNode_t, parameters: *mut hipMemsetParams);
                fn hipGraphExecMemsetNodeSetParams(
                    executable: hipGraphExec_t,
                    node: hipGraphNode_t,
                    parameters: *const hipMemsetParams
                );
                fn hipGraphExecUpdate(
                    executable: hipGraphExec_t,
                    graph: hipGraph_t,
                    node: *mut hipGraphNode_t,
                    result: *mut hipGraphExecUpdateResult
                );
                fn hipModuleLaunchCooperativeKernel(
                    f: hipFunction_t,
                    grid_x: c_uint,
                    grid_y: c_uint,
                    grid_z: c_uint,
                    block_x: c_uint,
                    block_y: c_uint,
                    block_z: c_uint,
                    shared: c_uint,
                    stream: hipStream_t,
                    arguments: *mut *mut c_void
                );
            }
        }
    };
}

macro_rules! table {
    (
        required { $($required:tt)* }
        old { $($old:tt)* }
        new { $($new:tt)* }
    ) => {
        symbol_table! { required { $($required)* } optional { $($old)* $($new)* } }
    };
}
hip_api!(table);

pub type HIP_LAUNCH_CONFIG = RawConfig;
pub type HIP_ARRAY3D_DESCRIPTOR = ArrayDescriptor;
pub type HIP_RESOURCE_DESC = ResourceDescriptor;
pub type HIP_TEXTURE_DESC = TextureDescriptor;
/// A resource view, which PyGPU never passes to the runtime.
pub type HIP_RESOURCE_VIEW_DESC = c_void;
/// Describes the memory of a texture: the kind of the resource and, for an array, its handle.
pub type hipResourceDesc = c_void;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipUUID {
    pub bytes: [c_char; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipIpcMemHandle_t {
    pub reserved: [c_char; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipIpcEventHandle_t {
    pub reserved: [c_char; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPointerAttribute_t {
    /// Kind of memory; the headers of HIP 5 name this field `memoryType`.
    pub type_: hipMemoryType,
    pub device: c_int,
    pub devicePointer: *mut c_void,
    pub hostPointer: *mut c_void,
    pub isManaged: c_int,
    pub allocationFlags: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemLocation {
    pub type_: hipMemLocationType,
    pub id: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemPoolProps {
    pub allocType: hipMemAllocationType,
    pub handleTypes: hipMemAllocationHandleType,
    pub location: hipMemLocation,
    pub win32SecurityAttributes: *mut c_void,
    /// Bytes that PyGPU does not use. Newer headers name the first eight of them `maxSize`, where 0 means unlimited.
    pub reserved: [c_uchar; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemAccessDesc {
    pub location: hipMemLocation,
    pub flags: hipMemAccessFlags,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipPitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipExtent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct hipMemcpy3DParms {
    pub srcArray: hipArray_t,
    pub srcPos: hipPos,
    pub srcPtr: hipPitchedPtr,
    pub dstArray: hipArray_t,
    pub dstPos: hipPos,
    pub dstPtr: hipPitchedPtr,
    pub extent: hipExtent,
    pub kind: hipMemcpyKind,
}

/// Size in bytes of the buffer for the structure of device properties of any HIP version, with space for fields that
/// later runtimes append.
pub const PROPERTIES_SIZE: usize = 4096;

/// The structure of device properties as HIP 5 defines it. PyGPU reads only the architecture.
#[repr(C, align(8))]
pub struct hipDeviceProp_t(pub [u8; PROPERTIES_SIZE]);
/// The structure of device properties as HIP 6 and 7 define it. PyGPU reads only the architecture.
#[repr(C, align(8))]
pub struct hipDeviceProp_tR0600(pub [u8; PROPERTIES_SIZE]);

/// Byte offsets, in HIP 5 and in HIP 6, of the name of the GPU architecture in the structure of device properties, and
/// the maximum length of this name in bytes.
pub const ARCHITECTURE_AT: usize = 396;
pub const ARCHITECTURE_AT_R0600: usize = 1160;
pub const ARCHITECTURE_SIZE: usize = 256;

/// Values of the driver's enum `hipMemoryType` for host, device and managed memory, in versions before [`VERSION_6`].
pub const MEMORY_TYPES_5: [hipMemoryType; 3] = [0, 1, 4];
/// Values of the driver's enum `hipMemoryType` for host, device and managed memory, from [`VERSION_6`] on. In these
/// versions the value 0 means memory that is not registered with the driver.
pub const MEMORY_TYPES_6: [hipMemoryType; 3] = [1, 2, 3];

/// Declares constants of HIP that have the same value in every version of the runtime.
macro_rules! hip_values {
    ($expand:ident) => {
        $expand! {
            hipError_t {
                hipErrorNoDevice = 100,
                hipErrorECCNotCorrectable = 214,
                hipErrorIllegalAddress = 700,
                hipErrorLaunchTimeOut = 702,
                hipErrorAssert = 710,
                hipErrorLaunchFailure = 719,
            }
            hipMemcpyKind {
                hipMemcpyHostToDevice = 1,
                hipMemcpyDeviceToHost = 2,
                hipMemcpyDeviceToDevice = 3,
            }
            hipMemAllocationType {
                hipMemAllocationTypePinned = 1,
            }
            hipMemAllocationHandleType {
                hipMemHandleTypeNone = 0,
            }
            hipMemLocationType {
                hipMemLocationTypeDevice = 1,
            }
            hipMemAccessFlags {
                hipMemAccessFlagsProtReadWrite = 3,
            }
            hipMemPoolAttr {
                hipMemPoolAttrReleaseThreshold = 4,
                hipMemPoolAttrReservedMemCurrent = 5,
                hipMemPoolAttrReservedMemHigh = 6,
                hipMemPoolAttrUsedMemCurrent = 7,
                hipMemPoolAttrUsedMemHigh = 8,
            }
            hipDeviceAttribute_t {
                hipDeviceAttributeAsyncEngineCount = 2,
                hipDeviceAttributeClockRate = 5,
                hipDeviceAttributeIntegrated = 16,
                hipDeviceAttributeL2CacheSize = 19,
                hipDeviceAttributeComputeCapabilityMajor = 23,
                hipDeviceAttributeMaxThreadsPerBlock = 56,
                hipDeviceAttributeMaxThreadsPerMultiProcessor = 57,
                hipDeviceAttributeMaxPitch = 58,
                hipDeviceAttributeComputeCapabilityMinor = 61,
                hipDeviceAttributeMultiprocessorCount = 63,
                hipDeviceAttributePageableMemoryAccessUsesHostPageTables = 66,
                hipDeviceAttributePciBusId = 67,
                hipDeviceAttributePciDeviceId = 68,
                hipDeviceAttributePciDomainID = 69,
                hipDeviceAttributeWarpSize = 87,
                hipDeviceAttributeMemoryPoolsSupported = 88,
                hipDeviceAttributeCooperativeLaunch = 10,
                hipDeviceAttributeMaxBlockDimX = 26,
                hipDeviceAttributeMaxBlockDimY = 27,
                hipDeviceAttributeMaxBlockDimZ = 28,
                hipDeviceAttributeMaxGridDimX = 29,
                hipDeviceAttributeMaxGridDimY = 30,
                hipDeviceAttributeMaxGridDimZ = 31,
                hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
                hipDeviceAttributeSharedMemPerBlockOptin = 75,
                hipDeviceAttributeMaxRegistersPerBlock = 71,
                hipDeviceAttributeTextureAlignment = 81,
                hipDeviceAttributeKernelExecTimeout = 18,
                hipDeviceAttributeCanMapHostMemory = 3,
                hipDeviceAttributeConcurrentKernels = 8,
                hipDeviceAttributeEccEnabled = 0,
                hipDeviceAttributeMemoryClockRate = 60,
                hipDeviceAttributeMemoryBusWidth = 59,
                hipDeviceAttributeUnifiedAddressing = 85,
                hipDeviceAttributeStreamPrioritiesSupported = 78,
                hipDeviceAttributeMaxRegistersPerMultiprocessor = 72,
                hipDeviceAttributeManagedMemory = 24,
                hipDeviceAttributeHostNativeAtomicSupported = 15,
                hipDeviceAttributePageableMemoryAccess = 65,
                hipDeviceAttributeConcurrentManagedAccess = 9,
                hipDeviceAttributeComputePreemptionSupported = 7,
                hipDeviceAttributeCanUseHostPointerForRegisteredMem = 4,
                hipDeviceAttributeDirectManagedMemAccessFromHost = 13,
            }
            hipFunction_attribute {
                HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
                HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
                HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
                HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
                HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
                HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
                HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
                HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
                HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
            }
        }
    };
}

macro_rules! constants {
    ($($type:ident { $($name:ident = $value:literal,)* })*) => {
        $($(pub const $name: $type = $value;)*)*
    };
}
hip_values!(constants);

#[cfg(test)]
pub(super) use {hip_api, hip_values};
