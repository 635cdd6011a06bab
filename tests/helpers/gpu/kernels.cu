// Kernels and functions that use no code of PyGPU and act as another library. The functions take raw pointers and
// stream handles, and the tests call the functions by ctypes.
//
// Every function returns a cudaError_t, 0 for success. No function waits for the device.

#include <thread>

#include <cuda_runtime.h>

__global__ void spin_kernel(long long nanoseconds)
{
    unsigned long long start = 0;
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while ((long long)(now - start) < nanoseconds);
}

__global__ void fill_kernel(float *out, float value, long long count)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        out[i] = value;
    }
}

__global__ void axpy_kernel(float *y, const float *x, float a, long long count)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        y[i] = y[i] + a * x[i];
    }
}

// `stride` is in bytes and may be negative: `in` is the address of element zero.
__global__ void read_kernel(float *out, const char *in, long long stride, long long count)
{
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        out[i] = *(const float *)(in + i * stride);
    }
}

__global__ void fault_kernel(float *nowhere)
{
    *nowhere = 1.0f;
}

static const int BLOCKS = 256;
static const int THREADS = 256;

// Keeps a stream busy for a number of seconds.
extern "C" int guest_spin(double seconds, void *stream)
{
    spin_kernel<<<1, 1, 0, (cudaStream_t)stream>>>((long long)(seconds * 1e9));
    return (int)cudaGetLastError();
}

extern "C" int guest_fill(void *out, float value, long long count, void *stream)
{
    fill_kernel<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((float *)out, value, count);
    return (int)cudaGetLastError();
}

// y = y + a * x
extern "C" int guest_axpy(void *y, const void *x, float a, long long count, void *stream)
{
    axpy_kernel<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((float *)y, (const float *)x, a, count);
    return (int)cudaGetLastError();
}

extern "C" int guest_read_strided(void *out, const void *in, long long stride, long long count, void *stream)
{
    read_kernel<<<BLOCKS, THREADS, 0, (cudaStream_t)stream>>>((float *)out, (const char *)in, stride, count);
    return (int)cudaGetLastError();
}

// Writes to an address outside of every allocation; the failed write makes the CUDA context unusable.
extern "C" int guest_fault(void *stream)
{
    fault_kernel<<<1, 1, 0, (cudaStream_t)stream>>>((float *)16);
    return (int)cudaGetLastError();
}

// DLPack's unversioned structure, reduced to the members that a consumer needs to release the tensor.
struct Tensor {
    void *data;
    int device_type;
    int device_id;
    int ndim;
    unsigned char code;
    unsigned char bits;
    unsigned short lanes;
    long long *shape;
    long long *strides;
    unsigned long long byte_offset;
};

struct ManagedTensor {
    Tensor tensor;
    void *context;
    void (*deleter)(ManagedTensor *);
};

// Releases a consumed tensor on a thread that Python did not create, and waits for that thread.
extern "C" int guest_delete_in_thread(void *managed)
{
    ManagedTensor *tensor = (ManagedTensor *)managed;
    std::thread thread([tensor]() { tensor->deleter(tensor); });
    thread.join();
    return 0;
}
