//! Lists the functions that CUDA and HIP have under different names and with the same parameters.
//!
//! The list names a vendor's types as `V::Stream`. In the library `V` is the vendor, which defines the types in
//! [`Types`]. In the tests `V` is a module with the types of a vendor's header, so that a list that differs from the
//! header does not compile. Functions that only one vendor has, or that differ in their parameters, are in the vendors'
//! `sys` modules.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ulonglong, c_ushort, c_void};

use super::loader::Library;

/// A handle or an address in the driver's type. All layers above represent it as a number.
pub trait Raw: Copy {
    /// The null handle.
    const NONE: Self;
    /// Converts a number to the driver's type of handle or address.
    fn of(number: usize) -> Self;
    /// Converts a value of the driver's type of handle or address to a number.
    fn number(self) -> usize;
}

impl<T> Raw for *mut T {
    const NONE: Self = std::ptr::null_mut();

    #[inline]
    fn of(number: usize) -> Self {
        std::ptr::with_exposed_provenance_mut(number)
    }

    #[inline]
    fn number(self) -> usize {
        self.expose_provenance()
    }
}

impl<T> Raw for *const T {
    const NONE: Self = std::ptr::null();

    #[inline]
    fn of(number: usize) -> Self {
        std::ptr::with_exposed_provenance(number)
    }

    #[inline]
    fn number(self) -> usize {
        self.expose_provenance()
    }
}

impl Raw for u64 {
    const NONE: Self = 0;

    #[inline]
    fn of(number: usize) -> Self {
        number as Self
    }

    #[inline]
    fn number(self) -> usize {
        self as usize
    }
}

/// A vendor's types, under the names that the list of functions uses.
pub trait Types: Sized + Send + Sync + 'static {
    type Address: Raw;
    /// An address from which the driver only reads.
    type Source: Raw;
    type Stream: Raw;
    type Event: Raw;
    type Pool: Raw;
    type Graph: Raw;
    type Executable: Raw;
    type GraphNode: Raw;
    type Module: Raw;
    type Function: Raw;
    type Array: Raw;
    type Texture: Raw;
    type Surface: Raw;
    /// The value by which copies between two devices identify a device.
    type Peer: Copy;
    /// The driver's integer types, such as the number of a device attribute.
    type DeviceAttribute: Copy;
    type FunctionAttribute: Copy;
    type PoolAttribute: Copy;
    type CaptureMode: Copy;
    type CaptureStatus: Copy;
    type NodeKind: Copy;
    /// The driver's structures, such as the properties of a memory pool.
    type PoolProperties;
    type PoolAccess;
    type Uuid;
    type IpcMemory;
    type IpcEvent;
    type ArrayDescriptor;
    type ResourceDescriptor;
    type TextureDescriptor;
    type ViewDescriptor;
    type SurfaceDescriptor;
    type LaunchConfig;
}

/// Entries of the list: PyGPU's name of the function, its parameters, CUDA's symbol, HIP's symbol. A library may lack
/// an `optional` or a `newer` function. The oldest supported header lacks the `newer` functions, too.
macro_rules! shared_symbols {
    ($expand:ident) => {
        $expand! {
            required {
                fn init(flags: c_uint) = cuInit, hipInit;

                fn device_count(count: *mut c_int) = cuDeviceGetCount, hipGetDeviceCount;
                fn device_name(name: *mut c_char, length: c_int, device: c_int) = cuDeviceGetName, hipDeviceGetName;
                fn device_uuid(uuid: *mut V::Uuid, device: c_int) = cuDeviceGetUuid, hipDeviceGetUuid;
                fn device_total_memory(bytes: *mut usize, device: c_int) = cuDeviceTotalMem_v2, hipDeviceTotalMem;
                fn device_attribute(value: *mut c_int, which: V::DeviceAttribute, device: c_int)
                    = cuDeviceGetAttribute, hipDeviceGetAttribute;
                fn device_can_access_peer(can: *mut c_int, device: c_int, peer: c_int)
                    = cuDeviceCanAccessPeer, hipDeviceCanAccessPeer;
                fn device_synchronize() = cuCtxSynchronize, hipDeviceSynchronize;

                fn memory_info(free: *mut usize, total: *mut usize) = cuMemGetInfo_v2, hipMemGetInfo;
                fn memory_allocate(address: *mut V::Address, bytes: usize) = cuMemAlloc_v2, hipMalloc;
                fn memory_free(address: V::Address) = cuMemFree_v2, hipFree;
                fn memory_allocate_pitched(
                    address: *mut V::Address,
                    pitch: *mut usize,
                    width: usize,
                    height: usize,
                    access_size: c_uint
                ) = cuMemAllocPitch_v2, hipMemAllocPitch;
                fn memory_allocate_managed(address: *mut V::Address, bytes: usize, flags: c_uint)
                    = cuMemAllocManaged, hipMallocManaged;
                fn memory_prefetch(address: V::Source, bytes: usize, place: c_int, stream: V::Stream)
                    = cuMemPrefetchAsync, hipMemPrefetchAsync;
                fn memory_range(first: *mut V::Address, bytes: *mut usize, address: V::Address)
                    = cuMemGetAddressRange_v2, hipMemGetAddressRange;

                fn host_allocate(address: *mut *mut c_void, bytes: usize, flags: c_uint) = cuMemHostAlloc, hipHostMalloc;
                fn host_free(address: *mut c_void) = cuMemFreeHost, hipHostFree;
                fn host_register(address: *mut c_void, bytes: usize, flags: c_uint) = cuMemHostRegister_v2, hipHostRegister;
                fn host_unregister(address: *mut c_void) = cuMemHostUnregister, hipHostUnregister;
                fn host_device_address(address: *mut V::Address, host: *mut c_void, flags: c_uint)
                    = cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer;

                fn ipc_get_memory(handle: *mut V::IpcMemory, address: V::Address) = cuIpcGetMemHandle, hipIpcGetMemHandle;
                fn ipc_open_memory(address: *mut V::Address, handle: V::IpcMemory, flags: c_uint)
                    = cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle;
                fn ipc_close_memory(address: V::Address) = cuIpcCloseMemHandle, hipIpcCloseMemHandle;
                fn ipc_get_event(handle: *mut V::IpcEvent, event: V::Event) = cuIpcGetEventHandle, hipIpcGetEventHandle;
                fn ipc_open_event(event: *mut V::Event, handle: V::IpcEvent) = cuIpcOpenEventHandle, hipIpcOpenEventHandle;

                fn pool_create(pool: *mut V::Pool, properties: *const V::PoolProperties)
                    = cuMemPoolCreate, hipMemPoolCreate;
                fn pool_destroy(pool: V::Pool) = cuMemPoolDestroy, hipMemPoolDestroy;
                fn pool_set_access(pool: V::Pool, access: *const V::PoolAccess, count: usize)
                    = cuMemPoolSetAccess, hipMemPoolSetAccess;
                fn pool_set_attribute(pool: V::Pool, which: V::PoolAttribute, value: *mut c_void)
                    = cuMemPoolSetAttribute, hipMemPoolSetAttribute;
                fn pool_get_attribute(pool: V::Pool, which: V::PoolAttribute, value: *mut c_void)
                    = cuMemPoolGetAttribute, hipMemPoolGetAttribute;
                fn pool_trim(pool: V::Pool, keep: usize) = cuMemPoolTrimTo, hipMemPoolTrimTo;
                fn pool_allocate(address: *mut V::Address, bytes: usize, pool: V::Pool, stream: V::Stream)
                    = cuMemAllocFromPoolAsync, hipMallocFromPoolAsync;
                fn pool_free(address: V::Address, stream: V::Stream) = cuMemFreeAsync, hipFreeAsync;

                fn copy_peer(
                    target: V::Address,
                    target_device: V::Peer,
                    source: V::Source,
                    source_device: V::Peer,
                    bytes: usize,
                    stream: V::Stream
                ) = cuMemcpyPeerAsync, hipMemcpyPeerAsync;
                fn fill_8(target: V::Address, value: c_uchar, count: usize, stream: V::Stream)
                    = cuMemsetD8Async, hipMemsetD8Async;
                fn fill_16(target: V::Address, value: c_ushort, count: usize, stream: V::Stream)
                    = cuMemsetD16Async, hipMemsetD16Async;

                fn stream_create(stream: *mut V::Stream, flags: c_uint, priority: c_int)
                    = cuStreamCreateWithPriority, hipStreamCreateWithPriority;
                fn stream_destroy(stream: V::Stream) = cuStreamDestroy_v2, hipStreamDestroy;
                fn stream_synchronize(stream: V::Stream) = cuStreamSynchronize, hipStreamSynchronize;
                fn stream_query(stream: V::Stream) = cuStreamQuery, hipStreamQuery;
                fn stream_flags(stream: V::Stream, flags: *mut c_uint) = cuStreamGetFlags, hipStreamGetFlags;
                fn stream_priority(stream: V::Stream, priority: *mut c_int)
                    = cuStreamGetPriority, hipStreamGetPriority;
                fn stream_wait_event(stream: V::Stream, event: V::Event, flags: c_uint)
                    = cuStreamWaitEvent, hipStreamWaitEvent;
                fn stream_attach_memory(stream: V::Stream, address: V::Address, bytes: usize, flags: c_uint)
                    = cuStreamAttachMemAsync, hipStreamAttachMemAsync;

                fn event_create(event: *mut V::Event, flags: c_uint) = cuEventCreate, hipEventCreateWithFlags;
                fn event_destroy(event: V::Event) = cuEventDestroy_v2, hipEventDestroy;
                fn event_record(event: V::Event, stream: V::Stream) = cuEventRecord, hipEventRecord;
                fn event_query(event: V::Event) = cuEventQuery, hipEventQuery;
                fn event_synchronize(event: V::Event) = cuEventSynchronize, hipEventSynchronize;
                fn event_elapsed(milliseconds: *mut f32, start: V::Event, end: V::Event)
                    = cuEventElapsedTime, hipEventElapsedTime;

                fn capture_begin(stream: V::Stream, mode: V::CaptureMode) = cuStreamBeginCapture_v2, hipStreamBeginCapture;
                fn capture_end(stream: V::Stream, graph: *mut V::Graph) = cuStreamEndCapture, hipStreamEndCapture;
                fn capture_info(
                    stream: V::Stream,
                    status: *mut V::CaptureStatus,
                    id: *mut c_ulonglong,
                    graph: *mut V::Graph,
                    dependencies: *mut *const V::GraphNode,
                    count: *mut usize
                ) = cuStreamGetCaptureInfo_v2, hipStreamGetCaptureInfo_v2;
                fn capture_exchange_mode(mode: *mut V::CaptureMode)
                    = cuThreadExchangeStreamCaptureMode, hipThreadExchangeStreamCaptureMode;
                fn graph_instantiate(executable: *mut V::Executable, graph: V::Graph, flags: c_ulonglong)
                    = cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags;
                fn graph_nodes(graph: V::Graph, nodes: *mut V::GraphNode, count: *mut usize)
                    = cuGraphGetNodes, hipGraphGetNodes;
                fn graph_destroy(graph: V::Graph) = cuGraphDestroy, hipGraphDestroy;
                fn executable_launch(executable: V::Executable, stream: V::Stream) = cuGraphLaunch, hipGraphLaunch;
                fn executable_destroy(executable: V::Executable) = cuGraphExecDestroy, hipGraphExecDestroy;

                fn module_unload(module: V::Module) = cuModuleUnload, hipModuleUnload;
                fn module_function(function: *mut V::Function, module: V::Module, name: *const c_char)
                    = cuModuleGetFunction, hipModuleGetFunction;
                fn module_global(address: *mut V::Address, bytes: *mut usize, module: V::Module, name: *const c_char)
                    = cuModuleGetGlobal_v2, hipModuleGetGlobal;
                fn function_attribute(value: *mut c_int, which: V::FunctionAttribute, function: V::Function)
                    = cuFuncGetAttribute, hipFuncGetAttribute;
                fn function_active_blocks(blocks: *mut c_int, function: V::Function, threads: c_int, shared: usize)
                    = cuOccupancyMaxActiveBlocksPerMultiprocessor, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor;
                fn function_launch(
                    function: V::Function,
                    grid_x: c_uint,
                    grid_y: c_uint,
                    grid_z: c_uint,
                    block_x: c_uint,
                    block_y: c_uint,
                    block_z: c_uint,
                    shared: c_uint,
                    stream: V::Stream,
                    arguments: *mut *mut c_void,
                    extra: *mut *mut c_void
                ) = cuLaunchKernel, hipModuleLaunchKernel;
            }
            optional {
                fn host_call(stream: V::Stream, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void)
                    = cuLaunchHostFunc, hipLaunchHostFunc;

                fn array_create(array: *mut V::Array, descriptor: *const V::ArrayDescriptor)
                    = cuArray3DCreate_v2, hipArray3DCreate;
                fn array_destroy(array: V::Array) = cuArrayDestroy, hipArrayDestroy;
                fn texture_create(
                    texture: *mut V::Texture,
                    resource: *const V::ResourceDescriptor,
                    sampling: *const V::TextureDescriptor,
                    view: *const V::ViewDescriptor
                ) = cuTexObjectCreate, hipTexObjectCreate;
                fn texture_destroy(texture: V::Texture) = cuTexObjectDestroy, hipTexObjectDestroy;
                fn graph_upload(executable: V::Executable, stream: V::Stream) = cuGraphUpload, hipGraphUpload;
                fn node_kind(node: V::GraphNode, kind: *mut V::NodeKind) = cuGraphNodeGetType, hipGraphNodeGetType;
            }
            newer {
                fn function_launch_ex(
                    config: *const V::LaunchConfig,
                    function: V::Function,
                    arguments: *mut *mut c_void,
                    extra: *mut *mut c_void
                ) = cuLaunchKernelEx, hipDrvLaunchKernelEx;
                fn stream_device(stream: V::Stream, device: *mut c_int) = cuStreamGetDevice, hipStreamGetDevice;

                fn surface_create(surface: *mut V::Surface, resource: *const V::SurfaceDescriptor)
                    = cuSurfObjectCreate, hipCreateSurfaceObject;
                fn surface_destroy(surface: V::Surface) = cuSurfObjectDestroy, hipDestroySurfaceObject;
            }
        }
    };
}

macro_rules! table {
    (
        required { $(fn $name:ident($($parameter:ident: $type:ty),*) = $cuda:ident, $hip:ident;)* }
        $($optional:ident {
            $(fn $extra:ident($($extra_parameter:ident: $extra_type:ty),*) = $extra_cuda:ident, $extra_hip:ident;)*
        })*
    ) => {
        /// The addresses of the listed functions in a vendor's library.
        pub struct Symbols<V: Types> {
            $(pub $name: unsafe extern "C" fn($($parameter: $type),*) -> u32,)*
            $($(pub $extra: Option<unsafe extern "C" fn($($extra_parameter: $extra_type),*) -> u32>,)*)*
        }

        /// A name for each function of the list: the symbol that the library exports, or the name in error messages.
        pub struct Names {
            $(pub $name: &'static str,)*
            $($(pub $extra: &'static str,)*)*
        }

        impl Names {
            pub const CUDA: Self =
                Self { $($name: stringify!($cuda),)* $($($extra: stringify!($extra_cuda),)*)* };
            pub const HIP: Self =
                Self { $($name: stringify!($hip),)* $($($extra: stringify!($extra_hip),)*)* };

            /// Returns the symbol names without version suffixes (`_v2`), as in the vendors' documentation. In the
            /// headers, a macro maps the documented name to the symbol with the suffix.
            pub const fn without_versions(self) -> Self {
                Self { $($name: without_version(self.$name),)* $($($extra: without_version(self.$extra),)*)* }
            }
        }

        impl<V: Types> Symbols<V> {
            /// Looks up each listed function in the library.
            ///
            /// # Errors
            /// The names of the required functions that the library lacks.
            ///
            /// # Safety
            /// The library is that of the vendor `V`, and `names` are the symbol names of this vendor.
            pub unsafe fn load(library: &Library, names: &Names) -> std::result::Result<Self, Vec<&'static str>> {
                let missing: Vec<_> = [$(names.$name),*].into_iter().filter(|name| !library.has(name)).collect();
                if !missing.is_empty() {
                    return Err(missing);
                }
                Ok(Self {
                    // SAFETY: the signatures are those of the vendor's header; a test compares them.
                    $($name: unsafe { library.get(names.$name) }.ok_or(vec![names.$name])?,)*
                    // SAFETY: the signatures are those of the vendor's header; a test compares them.
                    $($($extra: unsafe { library.get(names.$extra) },)*)*
                })
            }
        }
    };
}
shared_symbols!(table);

const fn without_version(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [.., b'_', b'v', b'2'] => name.split_at(name.len() - 3).0,
        _ => name,
    }
}

#[cfg(test)]
pub(crate) use shared_symbols;
