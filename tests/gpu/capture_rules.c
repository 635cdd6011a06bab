/* Print which calls of the CUDA driver invalidate an active capture, and which of them a thread in relaxed mode may make.
 *
 *     gcc -O1 tests/gpu/capture_rules.c -I$CUDA_HOME/include -L$CUDA_HOME/lib64/stubs -lcuda -lpthread -o rules && ./rules
 *
 * The table has one entry for each call and each mode of the capture (global, thread-local, relaxed). The call is made by the
 * capturing thread (own) or by another thread, and the calling thread is in its usual mode or in relaxed mode. An entry is "-"
 * if the call and the end of the capture succeeded, and otherwise consists of the result codes of both.
 * PyGPU makes calls with "-" in relaxed mode only in that mode: see `beside_captures` of its backends. */

#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static const char *PTX = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k(){ret;}\n";

static CUcontext context;
static CUstream capturing, other, spare_stream;
static CUevent event, spare_event;
static CUmemoryPool pool;
static CUdeviceptr memory, block;
static CUmodule module;
static CUfunction kernel;
static void *pinned;

typedef CUresult Call(void);

static CUresult launch_on(CUstream stream) { return cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL); }
static CUresult query_event(void) { return cuEventQuery(event); }
static CUresult wait_event(void) { return cuEventSynchronize(event); }
static CUresult query_stream(void) { return cuStreamQuery(other); }
static CUresult wait_stream(void) { return cuStreamSynchronize(other); }
static CUresult wait_legacy(void) { return cuStreamSynchronize(NULL); }
static CUresult wait_context(void) { return cuCtxSynchronize(); }
static CUresult take(void) { return cuMemAllocFromPoolAsync(&block, 64, pool, other); }
static CUresult take_legacy(void) { return cuMemAllocFromPoolAsync(&block, 64, pool, NULL); }
static CUresult give(void) { return cuMemFreeAsync(block, other); }
static CUresult give_legacy(void) { return cuMemFreeAsync(block, NULL); }
static CUresult trim(void) { return cuMemPoolTrimTo(pool, 0); }
static CUresult allocate(void) { CUdeviceptr made; return cuMemAlloc(&made, 64); }
static CUresult pin(void) { return cuMemHostAlloc(&pinned, 4096, 0); }
static CUresult unpin(void) { return cuMemFreeHost(pinned); }
static CUresult load(void) { CUmodule made; return cuModuleLoadData(&made, PTX); }
static CUresult unload(void) { return cuModuleUnload(module); }
static CUresult make_event(void) { CUevent made; return cuEventCreate(&made, CU_EVENT_DISABLE_TIMING); }
static CUresult end_event(void) { return cuEventDestroy(spare_event); }
static CUresult make_stream(void) { CUstream made; return cuStreamCreate(&made, CU_STREAM_NON_BLOCKING); }
static CUresult end_stream(void) { return cuStreamDestroy(spare_stream); }
static CUresult record(void) { return cuEventRecord(spare_event, other); }
static CUresult record_legacy(void) { return cuEventRecord(spare_event, NULL); }
static CUresult record_context(void) { return cuCtxRecordEvent(context, event); }
static CUresult let_wait(void) { return cuStreamWaitEvent(other, event, 0); }
static CUresult launch(void) { return launch_on(other); }
static CUresult launch_legacy(void) { return launch_on(NULL); }
static CUresult copy(void) { long value = 0; return cuMemcpyHtoD(memory, &value, sizeof value); }

static const struct { const char *name; Call *call; } CALLS[] = {
    {"cuEventQuery", query_event}, {"cuEventSynchronize", wait_event}, {"cuStreamQuery", query_stream},
    {"cuStreamSynchronize", wait_stream}, {"cuStreamSynchronize, legacy", wait_legacy},
    {"cuCtxSynchronize", wait_context}, {"cuMemAllocFromPoolAsync", take},
    {"cuMemAllocFromPoolAsync, legacy", take_legacy}, {"cuMemFreeAsync", give}, {"cuMemFreeAsync, legacy", give_legacy},
    {"cuMemPoolTrimTo", trim}, {"cuMemAlloc", allocate}, {"cuMemHostAlloc", pin}, {"cuMemFreeHost", unpin},
    {"cuModuleLoadData", load}, {"cuModuleUnload", unload}, {"cuEventCreate", make_event},
    {"cuEventDestroy", end_event}, {"cuStreamCreate", make_stream}, {"cuStreamDestroy", end_stream},
    {"cuEventRecord", record}, {"cuEventRecord, legacy", record_legacy}, {"cuCtxRecordEvent", record_context},
    {"cuStreamWaitEvent", let_wait}, {"cuLaunchKernel", launch}, {"cuLaunchKernel, legacy", launch_legacy},
    {"cuMemcpyHtoD", copy},
};

struct Task { Call *call; int relaxed; CUresult code; };

static void *run(void *argument) {
    struct Task *task = argument;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuCtxSetCurrent(context);
    if (task->relaxed) cuThreadExchangeStreamCaptureMode(&mode);
    task->code = task->call();
    if (task->relaxed) cuThreadExchangeStreamCaptureMode(&mode);
    return NULL;
}

static void prepare(void) {
    cuCtxSynchronize();
    cuStreamCreate(&spare_stream, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&spare_event, CU_EVENT_DISABLE_TIMING);
    cuEventRecord(event, other);
    cuMemAllocFromPoolAsync(&block, 64, pool, other);
    cuMemHostAlloc(&pinned, 4096, 0);
    cuModuleLoadData(&module, PTX);
    cuModuleGetFunction(&kernel, module, "k");
    cuCtxSynchronize();
}

static void try_one(Call *call, int mode, int elsewhere, int relaxed) {
    struct Task task = {call, relaxed, CUDA_SUCCESS};
    CUgraph graph = NULL;
    prepare();
    cuStreamBeginCapture(capturing, (CUstreamCaptureMode)mode);
    cuMemsetD8Async(memory, 1, 64, capturing);
    if (elsewhere) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, &task);
        pthread_join(thread, NULL);
    } else {
        run(&task);
    }
    CUresult ended = cuStreamEndCapture(capturing, &graph);
    if (graph != NULL) cuGraphDestroy(graph);
    if (task.code == CUDA_SUCCESS && ended == CUDA_SUCCESS) printf(" %9s", "-");
    else printf("   %3d/%3d", task.code, ended);
}

static void try_all(unsigned flags, const char *title) {
    cuStreamCreate(&capturing, flags);
    printf("%-34s", title);
    for (int mode = 0; mode < 3; mode++) printf("  %c own, relaxed; other, relaxed     ", "GTR"[mode]);
    printf("\n");
    for (unsigned number = 0; number < sizeof CALLS / sizeof *CALLS; number++) {
        printf("%-34s", CALLS[number].name);
        for (int mode = 0; mode < 3; mode++)
            for (int way = 0; way < 4; way++) try_one(CALLS[number].call, mode, way / 2, way % 2);
        printf("\n");
    }
}

int main(void) {
    CUdevice device;
    CUmemPoolProps properties = {0};
    struct timespec begin, end;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    cuMemPoolCreate(&pool, &properties);
    cuMemAlloc(&memory, 4096);
    try_all(CU_STREAM_NON_BLOCKING, "a non-blocking stream captures");
    try_all(CU_STREAM_DEFAULT, "a blocking stream captures");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int turn = 0; turn < 1000000; turn++) cuThreadExchangeStreamCaptureMode(&mode);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("one exchange of the mode: %.1f ns\n", (end.tv_sec - begin.tv_sec) * 1e3 + (end.tv_nsec - begin.tv_nsec) / 1e6);
    return 0;
}
