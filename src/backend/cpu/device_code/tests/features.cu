#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <stdint.h>
#include <math.h>
#include <assert.h>

// The parser must ignore this comment: __global__ void not_a_kernel() and the unbalanced "quote
static const char *text = "__global__ void nor_is_this() {";

__constant__ float table[4];
__device__ int counter = 5;
namespace deep { __device__ double inner[3] = {1, 2, 3}; }
__shared__ int at_file_scope[64];
extern __shared__ float dynamic_at_file_scope[];

extern "C" {

__global__ void where(unsigned *o) {
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    o[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void __launch_bounds__(256, 2) reduce(float *o) {
    __shared__ float part[32];
    float v = o[threadIdx.x];
    for (int d = warpSize / 2; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % warpSize == 0) part[threadIdx.x / warpSize] = v;
    __syncthreads();
    if (threadIdx.x < warpSize) {
        v = threadIdx.x < blockDim.x / warpSize ? part[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    }
    __syncthreads();
    if (threadIdx.x == 0) o[0] = v;
}

// Some threads end early; the other threads still reach the barrier.
__global__ void early_exit(int *o) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t % 3 == 0) { o[t] = -1; return; }
    s[t] = t;
    __syncthreads();
    o[t] = __syncthreads_count(t < 10) * 100 + s[t % 3 == 1 ? t + 1 : t - 1];
    o[t] += 10000 * __syncthreads_and(s[t] == t) + 100000 * __syncthreads_or(t == 50);
}

__global__ void warps(unsigned *o) {
    int t = threadIdx.x;
    o[t] = __ballot_sync(0xffffffff, t % 2);
    o[64 + t] = __shfl_up_sync(0xffffffff, t, 1, 8);
    o[128 + t] = __shfl_sync(0xffffffff, t, 3, 16);
    o[192 + t] = __reduce_max_sync(0xffffffff, t) + 1000 * __all_sync(0xffffffff, t < 32) + 2000 * __any_sync(0xffffffff, t == 40);
    o[256 + t] = __match_any_sync(0xffffffff, t % 4);
    // Warp operations in which only a part of the lanes takes part: with a mask, without a mask, and as a coalesced
    // group.
    unsigned v = 7;
    if (t % 32 < 4) v = __shfl_xor_sync(0xfu, t, 1);
    else if (t % 32 < 8) v = __shfl_down(t, 1);
    else if (t % 32 < 12) v = __activemask();
    o[320 + t] = v;
    double2 pair = make_double2(t, -t);
    pair = __shfl_sync(0xffffffff, pair, 5);
    o[384 + t] = pair.x - pair.y;
}

__global__ void atomics(unsigned *o) {
    int t = threadIdx.x;
    atomicAdd(&o[0], t);
    atomicMax(&o[1], t); atomicMin(&o[2], t);
    atomicInc(&o[3], 9); atomicDec(&o[4], 9);
    atomicOr(&o[5], 1u << t % 32);
    atomicAdd((float *)&o[6], 0.5f);
    atomicAdd((double *)&o[8], 1);
    unsigned old = o[10], seen;
    do { seen = old; old = atomicCAS(&o[10], seen, seen + 2); } while (old != seen);
    // A lock that the threads of a block take in turn: each thread waits until another thread releases it.
    for (bool done = false; !done;) if (atomicExch(&o[11], 1u) == 0) { o[12] += 1; __threadfence(); __syncwarp(1u << t % 32); atomicExch(&o[11], 0u); done = true; }
}

// The first thread waits for a thread with a higher index, without a barrier.
__global__ void signals(int *o) {
    if (threadIdx.x == 0) { while (atomicAdd(&o[1], 0) == 0) {} o[0] = 42; }
    if (threadIdx.x == 40) atomicExch(&o[1], 1);
}

__global__ void blocks_wait(int *o) {
    if (threadIdx.x == 0) { atomicAdd(&o[0], 1); while (atomicAdd(&o[0], 0) < (int)gridDim.x) {} o[1 + blockIdx.x] = 1; }
}

__global__ void dynamic(float *o) {
    extern __shared__ __align__(16) float s[];
    extern __shared__ float rows[][4];
    int t = threadIdx.x;
    s[t] = t; at_file_scope[t] = t;
    __syncthreads();
    o[t] = rows[t / 4][3 - t % 4] + 100 * dynamic_at_file_scope[0] + at_file_scope[63 - t] * 1000;
}

__global__ void constants(float *o) { o[threadIdx.x] = table[threadIdx.x] + counter + deep::inner[1]; atomicAdd(&counter, 1); }

__global__ void mathematics(double *o) {
    int i = 0;
    o[i++] = rsqrtf(4.f); o[i++] = erfinv(0.5); o[i++] = erfinv(-0.99f); o[i++] = normcdf(1.0); o[i++] = normcdfinv(0.975);
    o[i++] = sinpi(0.5); o[i++] = cospif(1.f); o[i++] = __expf(1.f); o[i++] = rcbrt(8.0); o[i++] = rhypot(3.0, 4.0);
    o[i++] = erfcx(30.0); o[i++] = cyl_bessel_i0(1.0); o[i++] = norm3d(1.0, 2.0, 2.0); o[i++] = exp10(2.0f); o[i++] = min(3, 2.5f);
    float s, c; __sincosf(1.f, &s, &c); o[i++] = s * s + c * c; o[i++] = fmaf(2, 3, 4); o[i++] = __saturatef(2.f); o[i++] = tgamma(5.0); o[i++] = max(2u, 7u);
    o[i++] = __popc(255); o[i++] = __clz(1); o[i++] = __ffs(8); o[i++] = __brev(1u); o[i++] = __umulhi(1u << 31, 6u); o[i++] = __float2int_rz(1e20f);
    o[i++] = __float_as_int(1.f); o[i++] = __double2int_rd(-1.5); o[i++] = __byte_perm(0x03020100, 0x07060504, 0x7531); o[i++] = __half2float(__float2half(1.0009765f) + half(1));
    o[i++] = isnan(__uint_as_float(0x7fffffffu)); o[i++] = __funnelshift_l(0x80000000u, 1u, 1); o[i++] = abs(-3); o[i++] = int64_t(1) << 40;
}

struct Big { char name; double value[3]; short tail; };
__global__ void by_value(Big big, float4 v, char c, const int *const p, double *o) { o[0] = big.value[2] + big.tail + v.w + c + *p; }

__global__ void says(int n) { printf("thread %d of %d\n", (int)threadIdx.x, n); assert(n > 0 && "positive"); }

}

template <class T, int N> __device__ __forceinline__ T power(T v) { return N == 0 ? T(1) : v * power<T, N ? N - 1 : 0>(v); }
template <class T> __global__ void cube(T *o) { o[threadIdx.x] = power<T, 3>(o[threadIdx.x]); }
namespace deep { template <class T, class U> __global__ void convert(T *o, U *) { o[threadIdx.x] = T(sizeof(U)); } __global__ void plain(int *o) { *o = 3; } }
#define KERNEL(name, T) __global__ void add_##name(T *o) { o[threadIdx.x] += (T)threadIdx.x; }
KERNEL(f32, float) KERNEL(i64, long long)
#if 0
__global__ void left_out(int *o) {}
#endif
// User programs contain this definition under the same condition, because old devices lack the function.
#if __CUDA_ARCH__ < 600
__device__ double atomicAdd(double *p, double v) { double before = *p; *p += 2 * v; return before; }
#endif
__global__ void own_function(double *o) { atomicAdd(o, 1.0); atomicAdd((float *)(o + 1), 1.0f); }
