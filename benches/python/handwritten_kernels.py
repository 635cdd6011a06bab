"""Define a hand-written kernel for each case of arithmetic.py, as the reference for PyGPU's general kernels.

The results are preallocated, the lengths of arrays are multiples of four, and no kernel checks its arguments. The time
of a small call is the host time of the driver's launch alone, measured by a loop in C.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from driver_calls import Floor
from timing import BATCH, Column, Library

SOURCE = """
#include <cuda_fp16.h>
#define AT const unsigned i = blockIdx.x * blockDim.x + threadIdx.x
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ float4 operator+(float4 a, float b) { return make_float4(a.x + b, a.y + b, a.z + b, a.w + b); }

extern "C" {
__global__ void add(const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ z) {
    AT;
    z[i] = x[i] + y[i];
}
__global__ void twice(const float4 *__restrict__ x, const float4 *, float4 *__restrict__ z) {
    AT;
    z[i] = x[i] + x[i];
}
__global__ void add_row(const float4 *__restrict__ x, const float4 *__restrict__ row, float4 *__restrict__ z) {
    AT;
    const unsigned long long at = blockIdx.y * (unsigned long long)(gridDim.x * blockDim.x) + i;
    z[at] = x[at] + row[i];
}
__global__ void add_column(const float4 *__restrict__ x, const float *__restrict__ column, float4 *__restrict__ z) {
    AT;
    const unsigned long long at = blockIdx.y * (unsigned long long)(gridDim.x * blockDim.x) + i;
    z[at] = x[at] + column[blockIdx.y];
}
/* Tiles of 32 x 32 with a column of padding, eight rows of threads. */
__global__ void add_turned(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ z) {
    __shared__ float tile[32][33];
    const unsigned side = gridDim.x * 32;
    for (unsigned k = threadIdx.y; k < 32; k += 8)
        tile[k][threadIdx.x] = x[(blockIdx.x * 32 + k) * side + blockIdx.y * 32 + threadIdx.x];
    __syncthreads();
    for (unsigned k = threadIdx.y; k < 32; k += 8) {
        const unsigned at = (blockIdx.y * 32 + k) * side + blockIdx.x * 32 + threadIdx.x;
        z[at] = tile[threadIdx.x][k] + y[at];
    }
}
__global__ void add_beside(const float *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ z) {
    AT;
    z[i] = make_float4(x[4 * i + 1], x[4 * i + 2], x[4 * i + 3], x[4 * i + 4]) + y[i];
}
__global__ void add_reversed(const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ z) {
    AT;
    const float4 back = x[gridDim.x * blockDim.x - 1 - i];
    z[i] = make_float4(back.w, back.z, back.y, back.x) + y[i];
}
__global__ void add_second(const float4 *__restrict__ x, const float4 *__restrict__ y, float2 *__restrict__ z) {
    AT;
    z[i] = make_float2(x[i].x + y[i].x, x[i].z + y[i].z);
}
__global__ void narrow(const float4 *__restrict__ x, const float4 *, __half2 *__restrict__ z) {
    AT;
    z[2 * i] = __floats2half2_rn(x[i].x, x[i].y);
    z[2 * i + 1] = __floats2half2_rn(x[i].z, x[i].w);
}
__global__ void greater(const float4 *__restrict__ x, const float4 *__restrict__ y, uchar4 *__restrict__ z) {
    AT;
    const float4 a = x[i], b = y[i];
    z[i] = make_uchar4(a.x > b.x, a.y > b.y, a.z > b.z, a.w > b.w);
}
__global__ void choose(
    const float4 *__restrict__ x, const float4 *__restrict__ y, float4 *__restrict__ z, const uchar4 *__restrict__ m
) {
    AT;
    const float4 a = x[i], b = y[i];
    const uchar4 take = m[i];
    z[i] = make_float4(take.x ? a.x : b.x, take.y ? a.y : b.y, take.z ? a.z : b.z, take.w ? a.w : b.w);
}
}
"""
THREADS = 256


def column(count: int) -> Column:
    """Return the column "by hand" of the table that arithmetic.py prints: the times of the hand-written kernels.

    The arrays of the large cases have about `count` float32 elements.
    """
    library = Library("PyGPU")
    return Column("by hand", library, large(library, count), small)


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return a hand-written kernel for each case of `arithmetic.large`, with the bytes that it must read and write."""
    side = int(count**0.5) // (4 * THREADS) * (4 * THREADS)
    count = side * side
    random = np.random.default_rng(0)
    x = library.array(random.random((side, side), dtype=np.float32))
    y, z = x + 1, library.module.empty_like(x)
    mask = x > 0.5
    module = library.module.Module(SOURCE)
    packs = count // 4 // THREADS

    def call(kernel: str, grid: Any, *arrays: Any, block: Any = THREADS) -> Callable[[], Any]:
        function = module.get_function(kernel)
        # The returned function keeps the arrays alive, because it passes only their addresses to the kernel.
        return lambda: function[grid, block](*(array.ptr for array in arrays))

    rows = (side // 4 // THREADS, side)
    nbytes = 4 * count
    return {
        "x + y": (call("add", packs, x, y, z), 3 * nbytes),
        "2 * x": (call("twice", packs, x, y, z), 2 * nbytes),
        "m + row": (call("add_row", rows, x, y, z), 2 * nbytes),
        "m + column": (call("add_column", rows, x, y, z), 2 * nbytes),
        "x.T + y": (call("add_turned", (side // 32, side // 32), x, y, z, block=(32, 8)), 3 * nbytes),
        # The grid of `add_beside` is one block smaller, because each thread reads one element past its vector of four.
        "x[1:] + y[:-1]": (call("add_beside", packs - 1, x, y, z), 3 * (nbytes - 16 * THREADS)),
        "x[::-1] + y": (call("add_reversed", packs, x, y, z), 3 * nbytes),
        "x[::2] + y[::2]": (call("add_second", packs, x, y, z), 3 * nbytes // 2),
        "float32 -> float16": (call("narrow", packs, x, y, z), nbytes + 2 * count),
        "x > y": (call("greater", packs, x, y, z), 2 * nbytes + count),
        "where(m, x, y)": (call("choose", packs, x, y, z, mask), 3 * nbytes + count),
    }


@functools.cache
def floor() -> Floor:
    """Return the library object of driver_calls.py, which times calls of the driver without PyGPU."""
    return Floor()


def small() -> dict[str, float]:
    """Return the host seconds of a driver launch with five arguments for each small call of the table."""
    loop = floor().timer("launch, 5 arguments")
    launch = min(loop(BATCH) for _ in range(20)) / BATCH
    return dict.fromkeys(("s + t", "astype of 16", "where(m, x, y) of 16"), launch)
