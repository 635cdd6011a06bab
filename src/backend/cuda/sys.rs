//! Declares the functions of the CUDA driver that AMD's runtime lacks in this form, and the driver's types. The
//! functions that both vendors have are in `cuda_and_hip::symbols`.
//!
//! cudarc provides the types, and the tests compare the functions listed here with cudarc's declarations. cudarc's
//! loader is not used, for three reasons: it panics on a missing library or symbol; it prefers a toolkit's stub
//! `libcuda.so` to the driver's `libcuda.so.1`; and it returns codes as an enum, which is undefined behaviour for codes
//! newer than its header.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

use crate::cuda_and_hip::loader::symbol_table;

pub use cudarc::driver::sys::{
    CUDA_ARRAY3D_DESCRIPTOR, CUDA_CONDITIONAL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY2D, CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUarray, CUcontext,
    CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunc_cache, CUfunction, CUfunction_attribute, CUgraph,
    CUgraphConditionalHandle, CUgraphConditionalNodeType, CUgraphEdgeData, CUgraphExec, CUgraphExecUpdateResultInfo,
    CUgraphNode, CUgraphNodeParams, CUgraphNodeType, CUipcEventHandle, CUipcMemHandle, CUjit_option, CUjitInputType,
    CUlaunchConfig, CUlimit, CUlinkState, CUmem_advise, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType,
    CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
    CUmemorytype, CUmodule, CUoccupancyB2DSize, CUpointer_attribute, CUresult, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, CUsurfObject, CUtensorMap, CUtexObject, CUuuid,
};

/// The driver's result code `CUresult` as an integer, for functions that take one.
type Code = u32;
/// Enumerations of the header, declared as integers because a newer driver may accept more values.
type CUtensorMapDataType = u32;
type CUtensorMapInterleave = u32;
type CUtensorMapSwizzle = u32;
type CUtensorMapL2promotion = u32;
type CUtensorMapFloatOOBfill = u32;

/// Names of the driver's library, in search order. The first is the driver's own name; the second exists only with a
/// toolkit or a developer package, and may be a toolkit's stub.
#[cfg(not(windows))]
pub const CANDIDATES: &[&str] = &["libcuda.so.1", "libcuda.so"];
/// Returns the names of the driver's library, in search order.
#[cfg(windows)]
pub const CANDIDATES: &[&str] = &["nvcuda.dll"];

/// Oldest supported driver version. Memory alone would work from 11.4 on, but kernels compiled by NVRTC 12 do not
/// load on drivers of the 11 series. An early error with the reason is better than a failure at the first kernel.
pub const OLDEST_VERSION: i32 = 12000;

/// Declares the driver's functions. `required` functions exist in every driver from [`OLDEST_VERSION`] on. `optional`
/// functions are newer than this version, or were removed later.
macro_rules! cuda_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn cuGetErrorName(code: Code, text: *mut *const c_char);
                fn cuGetErrorString(code: Code, text: *mut *const c_char);

                fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
                fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
                fn cuDevicePrimaryCtxReset_v2(device: CUdevice);

                fn cuCtxGetCurrent(context: *mut CUcontext);
                fn cuCtxSetCurrent(context: CUcontext);
                fn cuCtxPushCurrent_v2(context: CUcontext);
                fn cuCtxPopCurrent_v2(context: *mut CUcontext);
                fn cuCtxGetDevice(device: *mut CUdevice);
                fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);

                fn cuPointerGetAttributes(
                    count: c_uint,
                    attributes: *mut CUpointer_attribute,
                    values: *mut *mut c_void,
                    address: CUdeviceptr
                );

                fn cuMemcpyHtoDAsync_v2(target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream);
                fn cuMemcpyDtoHAsync_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream);
                fn cuMemcpyDtoDAsync_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream);
                fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
                fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream);
                fn cuMemsetD32Async(target: CUdeviceptr, value: c_uint, count: usize, stream: CUstream);
                fn cuMemsetD2D8Async(
                    target: CUdeviceptr,
                    pitch: usize,
                    value: c_uchar,
                    width: usize,
                    height: usize,
                    stream: CUstream
                );
                fn cuMemsetD2D16Async(
                    target: CUdeviceptr,
                    pitch: usize,
                    value: c_ushort,
                    width: usize,
                    height: usize,
                    stream: CUstream
                );
                fn cuMemsetD2D32Async(
                    target: CUdeviceptr,
                    pitch: usize,
                    value: c_uint,
                    width: usize,
                    height: usize,
                    stream: CUstream
                );

                fn cuMemAdvise(address: CUdeviceptr, bytes: usize, advice: CUmem_advise, place: CUdevice);

                fn cuModuleLoadDataEx(
                    module: *mut CUmodule,
                    image: *const c_void,
                    count: c_uint,
                    options: *mut CUjit_option,
                    values: *mut *mut c_void
                );
                fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
                fn cuFuncSetCacheConfig(function: CUfunction, preference: CUfunc_cache);
                fn cuOccupancyMaxPotentialBlockSize(
                    grid: *mut c_int,
                    threads: *mut c_int,
                    function: CUfunction,
                    shared_of_threads: CUoccupancyB2DSize,
                    shared: usize,
                    limit: c_int
                );
                fn cuLaunchCooperativeKernel(
                    function: CUfunction,
                    grid_x: c_uint,
                    grid_y: c_uint,
                    grid_z: c_uint,
                    block_x: c_uint,
                    block_y: c_uint,
                    block_z: c_uint,
                    shared: c_uint,
                    stream: CUstream,
                    arguments: *mut *mut c_void
                );
            }
            optional {
                fn cuOccupancyMaxPotentialClusterSize(
                    blocks: *mut c_int,
                    function: CUfunction,
                    config: *const CUlaunchConfig
                );
                fn cuOccupancyMaxActiveClusters(
                    clusters: *mut c_int,
                    function: CUfunction,
                    config: *const CUlaunchConfig
                );
                fn cuFuncGetParamInfo(function: CUfunction, index: usize, offset: *mut usize, size: *mut usize);
                fn cuCtxGetLimit(value: *mut usize, limit: CUlimit);
                fn cuCtxSetLimit(limit: CUlimit, value: usize);
                fn cuCtxGetCacheConfig(preference: *mut CUfunc_cache);
                fn cuCtxSetCacheConfig(preference: CUfunc_cache);
                fn cuLinkCreate_v2(
                    count: c_uint,
                    options: *mut CUjit_option,
                    values: *mut *mut c_void,
                    state: *mut CUlinkState
                );
                fn cuLinkAddData_v2(
                    state: CUlinkState,
                    kind: CUjitInputType,
                    data: *mut c_void,
                    bytes: usize,
                    name: *const c_char,
                    count: c_uint,
                    options: *mut CUjit_option,
                    values: *mut *mut c_void
                );
                fn cuLinkComplete(state: CUlinkState, image: *mut *mut c_void, bytes: *mut usize);
                fn cuLinkDestroy(state: CUlinkState);
                fn cuMemcpyHtoD_v2(target: CUdeviceptr, source: *const c_void, bytes: usize);
                fn cuMemcpyDtoH_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize);
                fn cuTensorMapEncodeTiled(
                    map: *mut CUtensorMap,
                    element: CUtensorMapDataType,
                    rank: u32,
                    address: *mut c_void,
                    lengths: *const u64,
                    strides: *const u64,
                    extent: *const u32,
                    steps: *const u32,
                    interleave: CUtensorMapInterleave,
                    swizzle: CUtensorMapSwizzle,
                    promotion: CUtensorMapL2promotion,
                    fill: CUtensorMapFloatOOBfill
                );
                fn cuGraphKernelNodeGetParams_v2(node: CUgraphNode, parameters: *mut CUDA_KERNEL_NODE_PARAMS);
                fn cuGraphExecKernelNodeSetParams_v2(
                    executable: CUgraphExec,
                    node: CUgraphNode,
                    parameters: *const CUDA_KERNEL_NODE_PARAMS
                );
                fn cuGraphMemcpyNodeGetParams(node: CUgraphNode, parameters: *mut CUDA_MEMCPY3D);
                fn cuGraphExecMemcpyNodeSetParams(
                    executable: CUgraphExec,
                    node: CUgraphNode,
                    parameters: *const CUDA_MEMCPY3D,
                    context: CUcontext
                );
                fn cuGraphMemsetNodeGetParams(node: CUgraphNode, parameters: *mut CUDA_MEMSET_NODE_PARAMS);
                fn cuGraphExecMemsetNodeSetParams(
                    executable: CUgraphExec,
                    node: CUgraphNode,
                    parameters: *const CUDA_MEMSET_NODE_PARAMS,
                    context: CUcontext
                );
                fn cuGraphExecUpdate_v2(
                    executable: CUgraphExec,
                    graph: CUgraph,
                    result: *mut CUgraphExecUpdateResultInfo
                );
                fn cuGraphConditionalHandleCreate(
                    handle: *mut CUgraphConditionalHandle,
                    graph: CUgraph,
                    context: CUcontext,
                    default: c_uint,
                    flags: c_uint
                );
                fn cuGraphAddNode_v2(
                    node: *mut CUgraphNode,
                    graph: CUgraph,
                    dependencies: *const CUgraphNode,
                    edges: *const CUgraphEdgeData,
                    count: usize,
                    parameters: *mut CUgraphNodeParams
                );
                fn cuStreamUpdateCaptureDependencies_v2(
                    stream: CUstream,
                    dependencies: *mut CUgraphNode,
                    edges: *const CUgraphEdgeData,
                    count: usize,
                    flags: c_uint
                );
                fn cuStreamBeginCaptureToGraph(
                    stream: CUstream,
                    graph: CUgraph,
                    dependencies: *const CUgraphNode,
                    edges: *const CUgraphEdgeData,
                    count: usize,
                    mode: CUstreamCaptureMode
                );
                fn cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule);
                fn cuModuleEnumerateFunctions(functions: *mut CUfunction, count: c_uint, module: CUmodule);
                fn cuFuncGetName(name: *mut *const c_char, function: CUfunction);
                fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
                fn cuCtxRecordEvent(context: CUcontext, event: CUevent);
                fn cuStreamGetCtx(stream: CUstream, context: *mut CUcontext);
            }
        }
    };
}

cuda_api!(symbol_table);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use cudarc::driver::sys;
    use cudarc_oldest::driver::sys as oldest;
    use std::ffi::c_ulonglong;
    use std::mem::offset_of;

    use super::super::driver::Cuda;
    use crate::cuda_and_hip::{Names, Symbols, shared_symbols};

    /// Imports a header's types under vendor-independent names, which `shared_symbols` uses, the list of functions
    /// common to CUDA and HIP.
    macro_rules! header {
        ($($header:tt)+) => {
            pub use $($header)+::{
                CUdevice_attribute as DeviceAttribute, CUdeviceptr as Address, CUevent as Event,
                CUfunction as Function, CUfunction_attribute as FunctionAttribute, CUgraph as Graph,
                CUgraphExec as Executable, CUgraphNode as GraphNode, CUipcEventHandle as IpcEvent,
                CUipcMemHandle as IpcMemory, CUmemAccessDesc as PoolAccess, CUmemPool_attribute as PoolAttribute,
                CUmemPoolProps as PoolProperties, CUmemoryPool as Pool, CUmodule as Module, CUstream as Stream,
                CUstreamCaptureMode as CaptureMode, CUstreamCaptureStatus as CaptureStatus, CUuuid as Uuid,
                CUDA_ARRAY3D_DESCRIPTOR as ArrayDescriptor, CUDA_RESOURCE_DESC as ResourceDescriptor,
                CUDA_RESOURCE_VIEW_DESC as ViewDescriptor, CUDA_TEXTURE_DESC as TextureDescriptor, CUarray as Array,
                CUcontext as Peer, CUdeviceptr as Source, CUgraphNodeType as NodeKind, CUtexObject as Texture,
            };
        };
    }

    /// Checks at compile time that each declaration above matches the header. cudarc has a Rust function for each
    /// driver function, with the parameters of the header. The check compares these parameters with those declared
    /// above.
    mod signatures {
        use super::*;
        // The declarations differ from the header in one respect on purpose: codes and enumerations are passed as
        // integers.
        use sys::{
            CUresult as Code, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
            CUtensorMapL2promotion, CUtensorMapSwizzle,
        };

        macro_rules! check {
            (
                required { $(fn $name:ident($($arg:ident: $type:ty),*);)* }
                optional { $(fn $extra:ident($($extra_arg:ident: $extra_type:ty),*);)* }
            ) => {
                $(const _: unsafe fn($($type),*) -> sys::CUresult = sys::$name;)*
                $(const _: unsafe fn($($extra_type),*) -> sys::CUresult = sys::$extra;)*
            };
        }
        cuda_api!(check);

        #[allow(non_snake_case)]
        mod V {
            header!(super::sys);
            pub use super::sys::{
                CUDA_RESOURCE_DESC as SurfaceDescriptor, CUlaunchConfig as LaunchConfig, CUsurfObject as Surface,
            };
        }
        macro_rules! check_shared {
            ($($group:ident { $(fn $name:ident($($arg:ident: $type:ty),*) = $cuda:ident, $hip:ident;)* })*) => {
                $($(const _: unsafe fn($($type),*) -> sys::CUresult = sys::$cuda;)*)*
            };
        }
        shared_symbols!(check_shared);
    }

    /// Checks at compile time that each required function exists in the header of [`OLDEST_VERSION`] with the same
    /// signature.
    mod signatures_of_the_oldest {
        use super::{
            c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void, offset_of, oldest, shared_symbols, sys,
        };
        use oldest::{CUresult as Code, *};

        macro_rules! check {
            (
                required { $(fn $name:ident($($arg:ident: $type:ty),*);)* }
                optional { $($optional:tt)* }
            ) => {
                $(const _: unsafe fn($($type),*) -> oldest::CUresult = oldest::$name;)*
            };
        }
        cuda_api!(check);

        #[allow(non_snake_case)]
        mod V {
            header!(super::oldest);
        }
        macro_rules! check_shared {
            (
                required { $(fn $name:ident($($arg:ident: $type:ty),*) = $cuda:ident, $hip:ident;)* }
                optional {
                    $(fn $extra:ident($($extra_arg:ident: $extra_type:ty),*) = $extra_cuda:ident, $extra_hip:ident;)*
                }
                newer { $($newer:tt)* }
            ) => {
                $(const _: unsafe fn($($type),*) -> oldest::CUresult = oldest::$cuda;)*
                $(const _: unsafe fn($($extra_type),*) -> oldest::CUresult = oldest::$extra_cuda;)*
            };
        }
        shared_symbols!(check_shared);

        macro_rules! same_layout {
            ($($name:ident { $($field:ident),* })*) => {
                $(
                    const _: () = assert!(
                        size_of::<oldest::$name>() == size_of::<sys::$name>()
                            && align_of::<oldest::$name>() == align_of::<sys::$name>()
                            $(&& offset_of!(oldest::$name, $field) == offset_of!(sys::$name, $field))*,
                        stringify!($name)
                    );
                )*
            };
        }
        same_layout! {
            CUuuid { bytes }
            CUipcMemHandle { reserved }
            CUipcEventHandle { reserved }
            CUmemLocation { type_, id }
            CUmemPoolProps { allocType, handleTypes, location, win32SecurityAttributes }
            CUDA_MEMCPY2D {
                srcXInBytes, srcY, srcMemoryType, srcHost, srcDevice, srcArray, srcPitch,
                dstXInBytes, dstY, dstMemoryType, dstHost, dstDevice, dstArray, dstPitch, WidthInBytes, Height
            }
            CUDA_MEMCPY3D {
                srcXInBytes, srcY, srcZ, srcLOD, srcMemoryType, srcHost, srcDevice, srcArray, srcPitch, srcHeight,
                dstXInBytes, dstY, dstZ, dstLOD, dstMemoryType, dstHost, dstDevice, dstArray, dstPitch, dstHeight,
                WidthInBytes, Height, Depth
            }
        }
    }

    /// Checks the layout of the texture structures shared by both vendors at compile time.
    const _: () = {
        use crate::cuda_and_hip::textures::{ArrayDescriptor, ResourceDescriptor, TextureDescriptor};
        assert!(size_of::<ArrayDescriptor>() == size_of::<sys::CUDA_ARRAY3D_DESCRIPTOR>());
        assert!(offset_of!(ArrayDescriptor, flags) == offset_of!(sys::CUDA_ARRAY3D_DESCRIPTOR, Flags));
        assert!(size_of::<ResourceDescriptor>() == size_of::<sys::CUDA_RESOURCE_DESC>());
        assert!(offset_of!(ResourceDescriptor, words) == offset_of!(sys::CUDA_RESOURCE_DESC, res));
        assert!(offset_of!(ResourceDescriptor, flags) == offset_of!(sys::CUDA_RESOURCE_DESC, flags));
        assert!(size_of::<TextureDescriptor>() == size_of::<sys::CUDA_TEXTURE_DESC>());
        assert!(offset_of!(TextureDescriptor, border) == offset_of!(sys::CUDA_TEXTURE_DESC, borderColor));
    };

    /// Checks the layout of the launch structures shared by both vendors at compile time.
    const _: () = {
        use crate::cuda_and_hip::{RawAttribute, RawConfig, raw_launch_attributes as ours};
        use sys::CUlaunchAttributeID as Attribute;
        assert!(size_of::<RawAttribute>() == size_of::<sys::CUlaunchAttribute>());
        assert!(offset_of!(RawAttribute, value) == offset_of!(sys::CUlaunchAttribute, value));
        assert!(size_of::<RawConfig>() == size_of::<sys::CUlaunchConfig>());
        assert!(offset_of!(RawConfig, stream) == offset_of!(sys::CUlaunchConfig, hStream));
        assert!(offset_of!(RawConfig, count) == offset_of!(sys::CUlaunchConfig, numAttrs));
        assert!(ours::COOPERATIVE == Attribute::CU_LAUNCH_ATTRIBUTE_COOPERATIVE as u32);
        assert!(ours::CLUSTER == Attribute::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION as u32);
        assert!(ours::CLUSTER_POLICY == Attribute::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE as u32);
        assert!(ours::PROGRAMMATIC == Attribute::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION as u32);
        assert!(ours::PRIORITY == Attribute::CU_LAUNCH_ATTRIBUTE_PRIORITY as u32);
        assert!(ours::CARVEOUT == Attribute::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT as u32);
    };

    /// Checks at compile time that the constants shared by both vendors equal those of the header.
    const _: () = {
        use crate::cuda_and_hip::*;
        macro_rules! same {
            ($($ours:ident = $name:ident,)*) => {
                $(assert!(crate::error_codes::$ours == sys::CUresult::$name as u32, stringify!($ours));)*
            };
        }
        same! {
            SUCCESS = CUDA_SUCCESS,
            INVALID_VALUE = CUDA_ERROR_INVALID_VALUE,
            OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY,
            INVALID_DEVICE = CUDA_ERROR_INVALID_DEVICE,
            INVALID_HANDLE = CUDA_ERROR_INVALID_HANDLE,
            ILLEGAL_STATE = CUDA_ERROR_ILLEGAL_STATE,
            NOT_FOUND = CUDA_ERROR_NOT_FOUND,
            NOT_READY = CUDA_ERROR_NOT_READY,
            OUT_OF_RESOURCES = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
            LAUNCH_TIMEOUT = CUDA_ERROR_LAUNCH_TIMEOUT,
            PEER_ACCESS_ALREADY_ENABLED = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
            ASSERT = CUDA_ERROR_ASSERT,
            LAUNCH_FAILURE = CUDA_ERROR_LAUNCH_FAILED,
            COOPERATIVE_TOO_LARGE = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            INVALID_CLUSTER = CUDA_ERROR_INVALID_CLUSTER_SIZE,
            NOT_SUPPORTED = CUDA_ERROR_NOT_SUPPORTED,
            CAPTURE_UNSUPPORTED = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            CAPTURE_INVALIDATED = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
            CAPTURE_MERGE = CUDA_ERROR_STREAM_CAPTURE_MERGE,
            CAPTURE_UNMATCHED = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
            CAPTURE_ISOLATION = CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
            CAPTURE_IMPLICIT = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
            CAPTURED_EVENT = CUDA_ERROR_CAPTURED_EVENT,
        }
        assert!(streams::NON_BLOCKING == sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32);
        assert!(events::BLOCKING_SYNC == sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32);
        assert!(events::DISABLE_TIMING == sys::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32);
        assert!(events::INTERPROCESS == sys::CUevent_flags::CU_EVENT_INTERPROCESS as u32);
        assert!(memory::PORTABLE == sys::CU_MEMHOSTALLOC_PORTABLE && memory::MAPPED == sys::CU_MEMHOSTALLOC_DEVICEMAP);
        assert!(memory::WRITE_COMBINED == sys::CU_MEMHOSTALLOC_WRITECOMBINED);
        assert!(memory::PORTABLE == sys::CU_MEMHOSTREGISTER_PORTABLE);
        assert!(memory::MAPPED == sys::CU_MEMHOSTREGISTER_DEVICEMAP);
    };

    #[test]
    fn error_code_has_size_of_header_type() {
        assert_eq!(size_of::<sys::CUresult>(), size_of::<Code>());
    }

    #[test]
    fn load_rejects_library_without_driver_and_lists_missing_symbols() {
        let library = crate::Library::open(&["libc.so.6", "libSystem.dylib", "kernel32.dll"]).unwrap();
        // SAFETY: the symbols are only looked up, and no function is called.
        let missing = unsafe { Api::load(&library) }.err().unwrap();
        assert!(missing.len() > 25 && missing.contains(&"cuCtxGetCurrent"), "{missing:?}");
        assert!(!missing.contains(&"cuCtxRecordEvent"));
        // SAFETY: the symbols are only looked up, and no function is called.
        let missing = unsafe { Symbols::<Cuda>::load(&library, &Names::CUDA) }.err().unwrap();
        assert!(missing.len() > 50 && missing.contains(&"cuInit"), "{missing:?}");
    }
}
