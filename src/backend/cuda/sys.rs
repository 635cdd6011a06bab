//! The one list of the driver's functions that PyGPU calls, opened at run time.
//!
//! cudarc gives the types, and the tests hold this list against its declarations. Its own loader is not used: it panics
//! on a missing library or symbol, it takes a toolkit's stub `libcuda.so` before the driver's `libcuda.so.1`, and it
//! returns codes as an enum, which is undefined behaviour for a code that is newer than the header it was made from.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use crate::backend::loader::symbol_table;

pub use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunc_cache,
    CUfunction, CUfunction_attribute, CUgraph, CUgraphExec, CUgraphNode, CUipcEventHandle, CUipcMemHandle,
    CUjit_option, CUjitInputType, CUlimit, CUlinkState, CUmemAccess_flags, CUmemAccessDesc, CUmemAllocationHandleType,
    CUmemAllocationType, CUmemLocation, CUmemLocationType, CUmemPool_attribute, CUmemPoolProps, CUmemoryPool,
    CUmemorytype, CUmodule, CUoccupancyB2DSize, CUpointer_attribute, CUstream, CUstreamCaptureMode,
    CUstreamCaptureStatus, CUuuid,
};

/// A `CUresult` as a number, where a function takes one.
type Code = u32;

/// What the system's loader is asked for. The first is the driver's own name; the second exists only with a toolkit or a
/// driver package for developers, and may be a toolkit's stub.
#[cfg(not(windows))]
pub const CANDIDATES: &[&str] = &["libcuda.so.1", "libcuda.so"];
/// What the system's loader is asked for.
#[cfg(windows)]
pub const CANDIDATES: &[&str] = &["nvcuda.dll"];

/// The oldest driver that is taken. Memory alone would work from 11.4 on, but kernels compiled by NVRTC 12 do not load
/// on a driver of the 11 series, and a backend that fails at the first kernel is worse than one that says why.
pub const OLDEST_VERSION: i32 = 12000;

/// `required` functions are in every driver from [`OLDEST_VERSION`] on; `optional` ones are newer or were there only for
/// a time.
macro_rules! cuda_api {
    ($expand:ident) => {
        $expand! {
            required {
                fn cuInit(flags: c_uint);
                fn cuGetErrorName(code: Code, text: *mut *const c_char);
                fn cuGetErrorString(code: Code, text: *mut *const c_char);

                fn cuDeviceGetCount(count: *mut c_int);
                fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
                fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
                fn cuDeviceGetUuid(uuid: *mut CUuuid, device: CUdevice);
                fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
                fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
                fn cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);
                fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
                fn cuDevicePrimaryCtxReset_v2(device: CUdevice);

                fn cuCtxGetCurrent(context: *mut CUcontext);
                fn cuCtxSetCurrent(context: CUcontext);
                fn cuCtxPushCurrent_v2(context: CUcontext);
                fn cuCtxPopCurrent_v2(context: *mut CUcontext);
                fn cuCtxGetDevice(device: *mut CUdevice);
                fn cuCtxSynchronize();
                fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);

                fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
                fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
                fn cuMemFree_v2(address: CUdeviceptr);
                fn cuMemHostAlloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
                fn cuMemFreeHost(address: *mut c_void);
                fn cuMemHostRegister_v2(address: *mut c_void, bytes: usize, flags: c_uint);
                fn cuMemHostUnregister(address: *mut c_void);
                fn cuMemHostGetDevicePointer_v2(address: *mut CUdeviceptr, host: *mut c_void, flags: c_uint);
                fn cuMemAllocPitch_v2(
                    address: *mut CUdeviceptr,
                    pitch: *mut usize,
                    width: usize,
                    height: usize,
                    access_size: c_uint
                );
                fn cuMemAllocManaged(address: *mut CUdeviceptr, bytes: usize, flags: c_uint);
                fn cuStreamAttachMemAsync(stream: CUstream, address: CUdeviceptr, bytes: usize, flags: c_uint);
                fn cuMemGetAddressRange_v2(first: *mut CUdeviceptr, bytes: *mut usize, address: CUdeviceptr);
                fn cuIpcGetMemHandle(handle: *mut CUipcMemHandle, address: CUdeviceptr);
                fn cuIpcOpenMemHandle_v2(address: *mut CUdeviceptr, handle: CUipcMemHandle, flags: c_uint);
                fn cuIpcCloseMemHandle(address: CUdeviceptr);
                fn cuIpcGetEventHandle(handle: *mut CUipcEventHandle, event: CUevent);
                fn cuIpcOpenEventHandle(event: *mut CUevent, handle: CUipcEventHandle);
                fn cuPointerGetAttributes(
                    count: c_uint,
                    attributes: *mut CUpointer_attribute,
                    values: *mut *mut c_void,
                    address: CUdeviceptr
                );

                fn cuMemPoolCreate(pool: *mut CUmemoryPool, properties: *const CUmemPoolProps);
                fn cuMemPoolDestroy(pool: CUmemoryPool);
                fn cuMemPoolSetAccess(pool: CUmemoryPool, access: *const CUmemAccessDesc, count: usize);
                fn cuMemPoolSetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
                fn cuMemPoolGetAttribute(pool: CUmemoryPool, attribute: CUmemPool_attribute, value: *mut c_void);
                fn cuMemPoolTrimTo(pool: CUmemoryPool, keep: usize);
                fn cuMemAllocFromPoolAsync(
                    address: *mut CUdeviceptr,
                    bytes: usize,
                    pool: CUmemoryPool,
                    stream: CUstream
                );
                fn cuMemFreeAsync(address: CUdeviceptr, stream: CUstream);

                fn cuMemcpyHtoDAsync_v2(target: CUdeviceptr, source: *const c_void, bytes: usize, stream: CUstream);
                fn cuMemcpyDtoHAsync_v2(target: *mut c_void, source: CUdeviceptr, bytes: usize, stream: CUstream);
                fn cuMemcpyDtoDAsync_v2(target: CUdeviceptr, source: CUdeviceptr, bytes: usize, stream: CUstream);
                fn cuMemcpy2DAsync_v2(copy: *const CUDA_MEMCPY2D, stream: CUstream);
                fn cuMemcpy3DAsync_v2(copy: *const CUDA_MEMCPY3D, stream: CUstream);
                fn cuMemcpyPeerAsync(
                    target: CUdeviceptr,
                    target_context: CUcontext,
                    source: CUdeviceptr,
                    source_context: CUcontext,
                    bytes: usize,
                    stream: CUstream
                );
                fn cuMemsetD8Async(target: CUdeviceptr, value: c_uchar, count: usize, stream: CUstream);
                fn cuMemsetD16Async(target: CUdeviceptr, value: c_ushort, count: usize, stream: CUstream);
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

                fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
                fn cuStreamDestroy_v2(stream: CUstream);
                fn cuStreamSynchronize(stream: CUstream);
                fn cuStreamQuery(stream: CUstream);
                fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);

                fn cuEventCreate(event: *mut CUevent, flags: c_uint);
                fn cuEventDestroy_v2(event: CUevent);
                fn cuEventRecord(event: CUevent, stream: CUstream);
                fn cuEventQuery(event: CUevent);
                fn cuEventSynchronize(event: CUevent);
                fn cuEventElapsedTime(milliseconds: *mut f32, start: CUevent, end: CUevent);

                fn cuStreamBeginCapture_v2(stream: CUstream, mode: CUstreamCaptureMode);
                fn cuStreamEndCapture(stream: CUstream, graph: *mut CUgraph);
                fn cuStreamGetCaptureInfo_v2(
                    stream: CUstream,
                    status: *mut CUstreamCaptureStatus,
                    id: *mut u64,
                    graph: *mut CUgraph,
                    dependencies: *mut *const CUgraphNode,
                    count: *mut usize
                );
                fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
                fn cuGraphInstantiateWithFlags(executable: *mut CUgraphExec, graph: CUgraph, flags: c_ulonglong);
                fn cuGraphGetNodes(graph: CUgraph, nodes: *mut CUgraphNode, count: *mut usize);
                fn cuGraphDestroy(graph: CUgraph);
                fn cuGraphUpload(executable: CUgraphExec, stream: CUstream);
                fn cuGraphLaunch(executable: CUgraphExec, stream: CUstream);
                fn cuGraphExecDestroy(executable: CUgraphExec);

                fn cuModuleLoadDataEx(
                    module: *mut CUmodule,
                    image: *const c_void,
                    count: c_uint,
                    options: *mut CUjit_option,
                    values: *mut *mut c_void
                );
                fn cuModuleUnload(module: CUmodule);
                fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
                fn cuModuleGetGlobal_v2(
                    address: *mut CUdeviceptr,
                    bytes: *mut usize,
                    module: CUmodule,
                    name: *const c_char
                );
                fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
                fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
                fn cuFuncSetCacheConfig(function: CUfunction, preference: CUfunc_cache);
                fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    blocks: *mut c_int,
                    function: CUfunction,
                    threads: c_int,
                    shared: usize
                );
                fn cuOccupancyMaxPotentialBlockSize(
                    grid: *mut c_int,
                    threads: *mut c_int,
                    function: CUfunction,
                    shared_of_threads: CUoccupancyB2DSize,
                    shared: usize,
                    limit: c_int
                );
                fn cuLaunchKernel(
                    function: CUfunction,
                    grid_x: c_uint,
                    grid_y: c_uint,
                    grid_z: c_uint,
                    block_x: c_uint,
                    block_y: c_uint,
                    block_z: c_uint,
                    shared: c_uint,
                    stream: CUstream,
                    arguments: *mut *mut c_void,
                    extra: *mut *mut c_void
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
                fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
                fn cuCtxRecordEvent(context: CUcontext, event: CUevent);
                fn cuStreamGetDevice(stream: CUstream, device: *mut CUdevice);
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
    use std::mem::offset_of;

    /// Checked while compiling: each declaration above is that of the header. cudarc, loading at run time, wraps each
    /// function in a Rust one; its parameters are nevertheless those of the header, and that is what can go wrong here.
    mod signatures {
        use super::*;
        // The only difference that is meant: a code goes in as a number.
        use sys::CUresult as Code;

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
    }

    /// Checked while compiling: each required function is in the header of [`OLDEST_VERSION`], and is the same there.
    mod signatures_of_the_oldest {
        use super::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void, offset_of, oldest, sys};
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

    #[test]
    fn a_code_is_as_wide_as_the_header_says() {
        assert_eq!(size_of::<sys::CUresult>(), size_of::<Code>());
    }

    #[test]
    fn a_library_that_is_no_driver_is_refused_with_every_name_it_lacks() {
        let library = crate::backend::Library::open(&["libc.so.6", "libSystem.dylib", "kernel32.dll"]).unwrap();
        // SAFETY: nothing is called.
        let missing = unsafe { Api::load(&library) }.err().unwrap();
        assert!(missing.len() > 50 && missing.contains(&"cuInit"), "{missing:?}");
        assert!(!missing.contains(&"cuCtxRecordEvent"));
    }
}
