/* A HIP runtime on an NVIDIA GPU, for the tests only. Every function listed in src/backend/hip/sys.rs and
 * src/backend/cuda_and_hip/symbols.rs calls the function of CUDA. With this library the HIP backend is tested with real streams,
 * real asynchronous work and real errors of a driver, but not with the behaviour and the compiled code of AMD's runtime.
 *
 * These have the same numbers in HIP and CUDA and are passed unchanged: errors, kinds of copies, flags of streams, events and
 * pinned memory, attributes of pools and, from HIP 6 on, kinds of memory. Attributes of devices have other numbers. HIP's
 * structures are defined here, because AMD's and CUDA's headers cannot be included together. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
/* Name in HIP, parameters, and the equivalent call of CUDA's runtime. */
#define FORWARD(name, parameters, call) EXPORT int name parameters { return (int)call; }
/* Name in HIP, parameters, and the equivalent call of CUDA's driver. The driver requires a current context, CUDA's runtime only
 * a current device. */
#define DRIVER(name, parameters, call) EXPORT int name parameters { int code = with_context(); return code ? code : (int)call; }

static int with_context(void) {
    CUcontext context = NULL;
    int device = 0;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context) return 0;
    int code = (int)cudaGetDevice(&device);
    return code ? code : (int)cudaSetDevice(device);
}

FORWARD(hipInit, (unsigned flags), cuInit(flags))
EXPORT int hipRuntimeGetVersion(int *version) { *version = 70253211; return 0; }
FORWARD(hipGetLastError, (void), cudaGetLastError())

/* Errors for which HIP and CUDA's runtime have the same number but different names: number and HIP's name. */
static const struct { int code; const char *name; } NAMES[] = {
    { 0, "hipSuccess" }, { 2, "hipErrorOutOfMemory" }, { 3, "hipErrorNotInitialized" }, { 200, "hipErrorInvalidImage" },
    { 201, "hipErrorInvalidContext" }, { 209, "hipErrorNoBinaryForGpu" }, { 400, "hipErrorInvalidHandle" }, { 500, "hipErrorNotFound" },
};
EXPORT const char *hipGetErrorName(int code) {
    static __thread char text[128];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (NAMES[i].code == code) return NAMES[i].name;
    const char *name = cudaGetErrorName((cudaError_t)code);
    if (strncmp(name, "cuda", 4)) return "hipErrorUnknown";
    snprintf(text, sizeof text, "hip%s", name + 4);
    return text;
}
EXPORT const char *hipGetErrorString(int code) { return cudaGetErrorString((cudaError_t)code); }

FORWARD(hipGetDeviceCount, (int *count), cudaGetDeviceCount(count))
FORWARD(hipGetDevice, (int *device), cudaGetDevice(device))
FORWARD(hipSetDevice, (int device), cudaSetDevice(device))
FORWARD(hipDeviceSynchronize, (void), cudaDeviceSynchronize())
FORWARD(hipDeviceReset, (void), cudaDeviceReset())
FORWARD(hipDeviceGetName, (char *name, int length, int device), cuDeviceGetName(name, length, device))
FORWARD(hipDeviceGetUuid, (void *uuid, int device), cuDeviceGetUuid(uuid, device))
FORWARD(hipDeviceTotalMem, (size_t *bytes, int device), cuDeviceTotalMem(bytes, device))
FORWARD(hipDeviceCanAccessPeer, (int *can, int device, int peer), cudaDeviceCanAccessPeer(can, device, peer))
FORWARD(hipDeviceEnablePeerAccess, (int peer, unsigned flags), cudaDeviceEnablePeerAccess(peer, flags))

/* Device attributes: HIP's number and CUDA's number. */
static const struct { int hip; CUdevice_attribute cuda; } ATTRIBUTES[] = {
    { 0, CU_DEVICE_ATTRIBUTE_ECC_ENABLED },
    { 2, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT },
    { 3, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY },
    { 4, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM },
    { 5, CU_DEVICE_ATTRIBUTE_CLOCK_RATE },
    { 7, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED },
    { 8, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS },
    { 9, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS },
    { 10, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH },
    { 13, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST },
    { 15, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED },
    { 16, CU_DEVICE_ATTRIBUTE_INTEGRATED },
    { 18, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT },
    { 19, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE },
    { 23, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR },
    { 24, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY },
    { 26, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X },
    { 27, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y },
    { 28, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z },
    { 29, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X },
    { 30, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y },
    { 31, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z },
    { 56, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK },
    { 57, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR },
    { 58, CU_DEVICE_ATTRIBUTE_MAX_PITCH },
    { 59, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH },
    { 60, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE },
    { 61, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR },
    { 63, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT },
    { 65, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS },
    { 66, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES },
    { 67, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID },
    { 68, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID },
    { 69, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID },
    { 71, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK },
    { 72, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR },
    { 74, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK },
    { 75, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN },
    { 78, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED },
    { 81, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT },
    { 85, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING },
    { 87, CU_DEVICE_ATTRIBUTE_WARP_SIZE },
    { 88, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED },
};
EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
    for (size_t i = 0; i < sizeof ATTRIBUTES / sizeof *ATTRIBUTES; i++)
        if (ATTRIBUTES[i].hip == attribute) return (int)cuDeviceGetAttribute(value, ATTRIBUTES[i].cuda, device);
    return cudaErrorInvalidValue;
}

/* The device properties of HIP 6 and 7. Only the architecture is set, because no attribute contains it. */
enum { PROPERTIES_SIZE = 1472, ARCHITECTURE_AT = 1160, ARCHITECTURE_SIZE = 256 };
EXPORT int hipGetDevicePropertiesR0600(char *properties, int device) {
    int major = 0, minor = 0, code = hipDeviceGetAttribute(&major, 23, device);
    if (code || (code = hipDeviceGetAttribute(&minor, 61, device))) return code;
    memset(properties, 0, PROPERTIES_SIZE);
    snprintf(properties + ARCHITECTURE_AT, ARCHITECTURE_SIZE, "sm_%d%d", major, minor);
    return 0;
}
/* The device properties of HIP 5 have another layout. PyGPU calls this function only if it did not find the function above, so
 * a call is an error. */
EXPORT int hipGetDeviceProperties(char *properties, int device) { (void)properties; (void)device; return cudaErrorNotSupported; }

FORWARD(hipMemGetInfo, (size_t *free, size_t *total), cudaMemGetInfo(free, total))
FORWARD(hipMalloc, (void **address, size_t bytes), cudaMalloc(address, bytes))
FORWARD(hipFree, (void *address), cudaFree(address))
FORWARD(hipHostMalloc, (void **address, size_t bytes, unsigned flags), cudaHostAlloc(address, bytes, flags))
FORWARD(hipHostFree, (void *address), cudaFreeHost(address))
FORWARD(hipHostRegister, (void *address, size_t bytes, unsigned flags), cudaHostRegister(address, bytes, flags))
FORWARD(hipHostUnregister, (void *address), cudaHostUnregister(address))

FORWARD(hipHostGetDevicePointer, (void **address, void *host, unsigned flags), cudaHostGetDevicePointer(address, host, flags))
DRIVER(hipMemAllocPitch,
    (void **address, size_t *pitch, size_t width, size_t height, unsigned access_size),
    cuMemAllocPitch((CUdeviceptr *)address, pitch, width, height, access_size))
FORWARD(hipMallocManaged, (void **address, size_t bytes, unsigned flags), cudaMallocManaged(address, bytes, flags))
DRIVER(hipStreamAttachMemAsync,
    (void *stream, void *address, size_t bytes, unsigned flags),
    cuStreamAttachMemAsync(stream, (CUdeviceptr)address, bytes, flags))
/* From CUDA 13 on, these names denote calls that take the location as a structure. */
#if CUDA_VERSION >= 13000
static CUmemLocation place_of(int device) {
    CUmemLocation place;
    memset(&place, 0, sizeof place);
    place.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    place.id = device < 0 ? 0 : device;
    return place;
}
#define PREFETCH(address, bytes, device, stream) cuMemPrefetchAsync(address, bytes, place_of(device), 0, stream)
#define ADVISE(address, bytes, advice, device) cuMemAdvise(address, bytes, (CUmem_advise)(advice), place_of(device))
#else
#define PREFETCH(address, bytes, device, stream) cuMemPrefetchAsync(address, bytes, device, stream)
#define ADVISE(address, bytes, advice, device) cuMemAdvise(address, bytes, (CUmem_advise)(advice), device)
#endif
DRIVER(hipMemPrefetchAsync, (void *address, size_t bytes, int device, void *stream),
    PREFETCH((CUdeviceptr)address, bytes, device, stream))
DRIVER(hipMemAdvise, (void *address, size_t bytes, unsigned advice, int device), ADVISE((CUdeviceptr)address, bytes, advice, device))
DRIVER(hipMemGetAddressRange, (void **first, size_t *bytes, void *address), cuMemGetAddressRange((CUdeviceptr *)first, bytes, (CUdeviceptr)address))
_Static_assert(sizeof(cudaIpcMemHandle_t) == 64, "both structures are 64 bytes");
FORWARD(hipIpcGetMemHandle, (cudaIpcMemHandle_t *handle, void *address), cudaIpcGetMemHandle(handle, address))
FORWARD(hipIpcOpenMemHandle, (void **address, cudaIpcMemHandle_t handle, unsigned flags), cudaIpcOpenMemHandle(address, handle, flags))
_Static_assert(sizeof(cudaIpcEventHandle_t) == 64, "both structures are 64 bytes");
FORWARD(hipIpcGetEventHandle, (cudaIpcEventHandle_t *handle, void *event), cudaIpcGetEventHandle(handle, event))
FORWARD(hipIpcOpenEventHandle, (void **event, cudaIpcEventHandle_t handle), cudaIpcOpenEventHandle((cudaEvent_t *)event, handle))
FORWARD(hipIpcCloseMemHandle, (void *address), cudaIpcCloseMemHandle(address))

struct PointerAttributes { unsigned type; int device; void *on_device, *on_host; int is_managed; unsigned flags; };
EXPORT int hipPointerGetAttributes(struct PointerAttributes *attributes, const void *address) {
    struct cudaPointerAttributes found;
    int code = (int)cudaPointerGetAttributes(&found, address);
    if (code) return code;
    *attributes = (struct PointerAttributes){
        found.type, found.device, found.devicePointer, found.hostPointer, found.type == cudaMemoryTypeManaged, 0,
    };
    return 0;
}

_Static_assert(sizeof(struct cudaMemPoolProps) == 88, "both structures have the same fields at the same places");
FORWARD(hipMemPoolCreate, (void **pool, const void *properties), cudaMemPoolCreate((cudaMemPool_t *)pool, properties))
FORWARD(hipMemPoolDestroy, (void *pool), cudaMemPoolDestroy(pool))
_Static_assert(sizeof(struct cudaMemAccessDesc) == 12, "both structures have the same fields at the same places");
FORWARD(hipMemPoolSetAccess, (void *pool, const void *access, size_t count), cudaMemPoolSetAccess(pool, access, count))
FORWARD(hipMemPoolSetAttribute, (void *pool, int attribute, void *value), cudaMemPoolSetAttribute(pool, attribute, value))
FORWARD(hipMemPoolGetAttribute, (void *pool, int attribute, void *value), cudaMemPoolGetAttribute(pool, attribute, value))
FORWARD(hipMemPoolTrimTo, (void *pool, size_t keep), cudaMemPoolTrimTo(pool, keep))
FORWARD(hipMallocFromPoolAsync, (void **address, size_t bytes, void *pool, void *stream), cudaMallocFromPoolAsync(address, bytes, pool, stream))
FORWARD(hipFreeAsync, (void *address, void *stream), cudaFreeAsync(address, stream))

FORWARD(hipMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream), cudaMemcpyAsync(to, from, bytes, kind, stream))
FORWARD(hipMemcpy2DAsync,
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, void *stream),
    cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, stream))
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "both structures have the same fields at the same places");
FORWARD(hipMemcpy3DAsync, (const void *copy, void *stream), cudaMemcpy3DAsync(copy, stream))
FORWARD(hipMemcpyPeerAsync,
    (void *to, int to_device, const void *from, int from_device, size_t bytes, void *stream),
    cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream))

/* Arrays, textures and surfaces. The structures are the same in HIP and CUDA, and the handle of an array is valid for both the
 * driver and the runtime of CUDA. */
DRIVER(hipArray3DCreate, (void **array, const void *descriptor), cuArray3DCreate((CUarray *)array, descriptor))
DRIVER(hipArrayDestroy, (void *array), cuArrayDestroy(array))
DRIVER(hipTexObjectCreate, (void **texture, const void *resource, const void *sampling, const void *view),
    cuTexObjectCreate((CUtexObject *)texture, resource, sampling, view))
DRIVER(hipTexObjectDestroy, (void *texture), cuTexObjectDestroy((CUtexObject)texture))
/* In both runtimes, the resource structure of an array consists of the kind, which is 0, and the handle. */
FORWARD(hipCreateSurfaceObject, (void **surface, const void *resource),
    cudaCreateSurfaceObject((cudaSurfaceObject_t *)surface, resource))
FORWARD(hipDestroySurfaceObject, (void *surface), cudaDestroySurfaceObject((cudaSurfaceObject_t)surface))

DRIVER(hipMemsetD8Async, (void *to, unsigned char value, size_t count, void *stream), cuMemsetD8Async((CUdeviceptr)to, value, count, stream))
DRIVER(hipMemsetD16Async, (void *to, unsigned short value, size_t count, void *stream), cuMemsetD16Async((CUdeviceptr)to, value, count, stream))
DRIVER(hipMemsetD32Async, (void *to, int value, size_t count, void *stream), cuMemsetD32Async((CUdeviceptr)to, (unsigned)value, count, stream))
FORWARD(hipMemset2DAsync,
    (void *to, size_t pitch, int value, size_t width, size_t height, void *stream),
    cudaMemset2DAsync(to, pitch, value, width, height, stream))

FORWARD(hipStreamCreateWithPriority, (void **stream, unsigned flags, int priority), cudaStreamCreateWithPriority((cudaStream_t *)stream, flags, priority))
FORWARD(hipLaunchHostFunc, (void *stream, void (*function)(void *), void *data), cudaLaunchHostFunc(stream, function, data))
/* PyGPU does not call this function; the tests call it as another library would. */
FORWARD(hipStreamCreateWithFlags, (void **stream, unsigned flags), cudaStreamCreateWithFlags((cudaStream_t *)stream, flags))
FORWARD(hipStreamDestroy, (void *stream), cudaStreamDestroy(stream))
FORWARD(hipStreamSynchronize, (void *stream), cudaStreamSynchronize(stream))
FORWARD(hipStreamGetFlags, (void *stream, unsigned *flags), cudaStreamGetFlags(stream, flags))
FORWARD(hipStreamGetPriority, (void *stream, int *priority), cudaStreamGetPriority(stream, priority))
FORWARD(hipStreamQuery, (void *stream), cudaStreamQuery(stream))
FORWARD(hipStreamWaitEvent, (void *stream, void *event, unsigned flags), cudaStreamWaitEvent(stream, event, flags))
#if CUDART_VERSION >= 12080
FORWARD(hipStreamGetDevice, (void *stream, int *device), cudaStreamGetDevice(stream, device))
#endif

FORWARD(hipEventCreateWithFlags, (void **event, unsigned flags), cudaEventCreateWithFlags((cudaEvent_t *)event, flags))
FORWARD(hipEventDestroy, (void *event), cudaEventDestroy(event))
FORWARD(hipEventRecord, (void *event, void *stream), cudaEventRecord(event, stream))
FORWARD(hipEventQuery, (void *event), cudaEventQuery(event))
FORWARD(hipEventSynchronize, (void *event), cudaEventSynchronize(event))
FORWARD(hipEventElapsedTime, (float *milliseconds, void *start, void *end), cudaEventElapsedTime(milliseconds, start, end))

/* Graphs. The modes and states of captures have the same numbers in HIP and CUDA. */
static int capture_info(void *stream, unsigned *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count) {
    CUstreamCaptureStatus *state = (CUstreamCaptureStatus *)status;
    CUgraph *captured = (CUgraph *)graph;
    const CUgraphNode **nodes = (const CUgraphNode **)dependencies;
#if CUDA_VERSION >= 13000
    return (int)cuStreamGetCaptureInfo(stream, state, (cuuint64_t *)id, captured, nodes, NULL, count);
#else
    return (int)cuStreamGetCaptureInfo(stream, state, (cuuint64_t *)id, captured, nodes, count);
#endif
}
DRIVER(hipStreamBeginCapture, (void *stream, unsigned mode), cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode))
DRIVER(hipStreamEndCapture, (void *stream, void **graph), cuStreamEndCapture(stream, (CUgraph *)graph))
DRIVER(hipStreamGetCaptureInfo_v2,
    (void *stream, unsigned *status, unsigned long long *id, void **graph, const void **dependencies, size_t *count),
    capture_info(stream, status, id, graph, dependencies, count))
FORWARD(hipThreadExchangeStreamCaptureMode, (unsigned *mode), cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode))
DRIVER(hipGraphInstantiateWithFlags, (void **executable, void *graph, unsigned long long flags),
    cuGraphInstantiateWithFlags((CUgraphExec *)executable, graph, flags))
DRIVER(hipGraphGetNodes, (void *graph, void **nodes, size_t *count), cuGraphGetNodes(graph, (CUgraphNode *)nodes, count))
DRIVER(hipGraphDestroy, (void *graph), cuGraphDestroy(graph))
DRIVER(hipGraphUpload, (void *executable, void *stream), cuGraphUpload(executable, stream))
DRIVER(hipGraphLaunch, (void *executable, void *stream), cuGraphLaunch(executable, stream))
/* Kinds of nodes and results of graph updates have the same numbers in HIP and CUDA. Node parameters stay in CUDA's format,
   because PyGPU passes parameters that it has read on unchanged; its buffer has the size of the largest structure. */
DRIVER(hipGraphNodeGetType, (void *node, unsigned *kind), cuGraphNodeGetType(node, (CUgraphNodeType *)kind))
DRIVER(hipGraphKernelNodeGetParams, (void *node, void *parameters), cuGraphKernelNodeGetParams(node, parameters))
DRIVER(hipGraphExecKernelNodeSetParams, (void *executable, void *node, const void *parameters),
    cuGraphExecKernelNodeSetParams(executable, node, parameters))
static CUcontext context_now(void) {
    CUcontext context = NULL;
    (void)cuCtxGetCurrent(&context);
    return context;
}
DRIVER(hipGraphMemcpyNodeGetParams, (void *node, void *parameters), cuGraphMemcpyNodeGetParams(node, parameters))
DRIVER(hipGraphExecMemcpyNodeSetParams, (void *executable, void *node, void *parameters),
    cuGraphExecMemcpyNodeSetParams(executable, node, parameters, context_now()))
DRIVER(hipGraphMemsetNodeGetParams, (void *node, void *parameters), cuGraphMemsetNodeGetParams(node, parameters))
DRIVER(hipGraphExecMemsetNodeSetParams, (void *executable, void *node, const void *parameters),
    cuGraphExecMemsetNodeSetParams(executable, node, parameters, context_now()))
static CUresult exec_update(void *executable, void *graph, void **node, unsigned *result) {
    CUgraphExecUpdateResultInfo information;
    memset(&information, 0, sizeof information);
    CUresult code = cuGraphExecUpdate(executable, graph, &information);
    *node = information.errorNode;
    *result = (unsigned)information.result;
    return code;
}
DRIVER(hipGraphExecUpdate, (void *executable, void *graph, void **node, unsigned *result), exec_update(executable, graph, node, result))
DRIVER(hipGraphExecDestroy, (void *executable), cuGraphExecDestroy(executable))

/* Kernels. The attributes of functions have the same numbers in HIP and CUDA. */
DRIVER(hipModuleLoadDataEx, (void **module, const void *image, unsigned count, void *options, void **values),
    cuModuleLoadDataEx((CUmodule *)module, image, count, options, values))
DRIVER(hipModuleUnload, (void *module), cuModuleUnload(module))
DRIVER(hipModuleGetFunction, (void **function, void *module, const char *name), cuModuleGetFunction((CUfunction *)function, module, name))
EXPORT int hipModuleGetGlobal(void **address, size_t *bytes, void *module, const char *name) {
    CUdeviceptr found = 0;
    int code = with_context();
    if (code || (code = (int)cuModuleGetGlobal(&found, bytes, module, name))) return code;
    *address = (void *)found;
    return 0;
}

/* On HIP a kernel may use all dynamic shared memory. On CUDA a launch with more than 48 KiB requires that an attribute of the
 * function is set, so this library sets it. */
enum { WITHOUT_OPT_IN = 48 << 10 };
static int most_shared(int *bytes, CUfunction function) {
    CUdevice device;
    int all = 0, fixed = 0, code = (int)cuCtxGetDevice(&device);
    if (!code) code = (int)cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    if (!code) code = (int)cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    *bytes = all - fixed;
    return code;
}
static int func_get_attribute(int *value, int attribute, CUfunction function) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return most_shared(value, function);
    return (int)cuFuncGetAttribute(value, attribute, function);
}
static int allow(CUfunction function, unsigned shared) {
    if (shared <= WITHOUT_OPT_IN) return 0;
    return (int)cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared);
}
DRIVER(hipFuncGetAttribute, (int *value, int attribute, void *function), func_get_attribute(value, attribute, function))
DRIVER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *blocks, void *function, int threads, size_t shared),
    (allow(function, (unsigned)shared), cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared)))
DRIVER(hipModuleOccupancyMaxPotentialBlockSize,
    (int *grid, int *threads, void *function, size_t shared, int limit),
    cuOccupancyMaxPotentialBlockSize(grid, threads, function, NULL, shared, limit))
#define SHAPE unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared
#define LAUNCH(call) do { \
        int code = with_context(); \
        if (!code) code = allow(function, shared); \
        return code ? code : (int)call; \
    } while (0)
EXPORT int hipModuleLaunchKernel(void *function, SHAPE, void *stream, void **arguments, void **extra) {
    LAUNCH(cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra));
}
/* The structures and the numbers of launch attributes are the same in HIP and CUDA. */
EXPORT int hipDrvLaunchKernelEx(const CUlaunchConfig *config, void *function, void **arguments, void **extra) {
    unsigned shared = config->sharedMemBytes;
    LAUNCH(cuLaunchKernelEx(config, function, arguments, extra));
}
EXPORT int hipModuleLaunchCooperativeKernel(void *function, SHAPE, void *stream, void **arguments) {
    LAUNCH(cuLaunchCooperativeKernel(function, gx, gy, gz, bx, by, bz, shared, stream, arguments));
}
