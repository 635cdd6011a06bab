"""A sum by shuffles and an atomic operation
=========================================

Shuffles within a warp, shared memory between the warps of a block, an atomic operation between blocks.

A warp has 32 lanes on NVIDIA, 64 or 32 on AMD: this code works with both.
"""

import numpy as np

import PyGPU as gpuarray

SOURCE = """
#if defined(__HIP__)
#define SHUFFLE_DOWN(value, lanes) __shfl_down(value, lanes)
#else
#define SHUFFLE_DOWN(value, lanes) __shfl_down_sync(0xffffffffu, value, lanes)
#endif

__device__ int sum_of_warp(int value)
{
    for (int lanes = warpSize / 2; lanes > 0; lanes /= 2) value += SHUFFLE_DOWN(value, lanes);
    return value;  // whole in lane 0
}

__global__ void sum(const int *x, int *total, long long n)
{
    __shared__ int part[32];  // as many warps as a block of 1024 threads can have
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    int value = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
        value += x[i];
    value = sum_of_warp(value);
    if (lane == 0) part[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = sum_of_warp(lane < blockDim.x / warpSize ? part[lane] : 0);
        if (lane == 0) atomicAdd(total, value);
    }
}
"""


def total(x: gpuarray.GPUArray) -> int:
    """Sum an array of int32."""
    kernel = gpuarray.Kernel(SOURCE, "sum")
    out = gpuarray.zeros((), np.int32)
    multiprocessors = x.device.properties["multiprocessor_count"]
    blocks = max(1, min(4 * multiprocessors, -(-x.size // 256)))
    kernel[blocks, 256](x.ravel(), out, x.size)
    return int(out.get())


def main() -> None:
    """Compare with NumPy."""
    x = np.random.default_rng(0).integers(-1000, 1000, 1_000_003, dtype=np.int32)
    assert total(gpuarray.to_gpu(x)) == x.sum()
    print(f"the sum of {x.size} numbers is {x.sum()}, here as with NumPy")


if __name__ == "__main__":
    main()
