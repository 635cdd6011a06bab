"""Test that one kernel source gives the same result on every backend: CPU, simulated driver and real device."""

import numpy as np
import pytest

import PyGPU
from support_kernels import module_or_skip

SOURCE = r"""
#if defined(__HIP__)
#define SHUFFLE_DOWN(value, lanes) __shfl_down(value, lanes)
#else
#define SHUFFLE_DOWN(value, lanes) __shfl_down_sync(0xffffffffu, value, lanes)
#endif

__constant__ float factors[4];

extern "C" __global__ void reverse(float *o, const float *a, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? a[i] : 0.0f;
    __syncthreads();
    if (i < n) o[i] = s[blockDim.x - 1 - threadIdx.x] * factors[threadIdx.x % 4];
}

extern "C" __global__ void increment(int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] += 1;
}

extern "C" __global__ void total(const float *a, float *o, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += a[i];
    for (int d = warpSize / 2; d; d /= 2) v += SHUFFLE_DOWN(v, d);
    if (threadIdx.x % warpSize == 0) atomicAdd(o, v);
}
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return module_or_skip(SOURCE)


def test_block_synchronizes_at_barrier_and_constants_are_set_by_name(module: PyGPU.Module) -> None:
    address, size = module.get_global("factors")
    assert size == 16
    factors = np.array([1, 2, 3, 4], np.float32)
    assert PyGPU.cudaMemcpy(address, factors, 16, PyGPU.cudaMemcpyHostToDevice) == 0
    a = np.arange(1024, dtype=np.float32)
    o = PyGPU.zeros(1024, np.float32)
    module.get_function("reverse")[4, 256](o, PyGPU.asarray(a), np.int32(1024))
    expected = a.reshape(4, 256)[:, ::-1].reshape(-1) * np.tile(factors, 256)
    np.testing.assert_array_equal(o.get(), expected)


def test_launches_on_three_streams_update_one_array_in_order(module: PyGPU.Module) -> None:
    increment = module.get_function("increment")
    streams = [PyGPU.Stream() for _ in range(3)]
    o = PyGPU.zeros(3000, np.int32)
    for turn in range(30):
        increment[12, 256, streams[turn % 3]](o, np.int32(3000))
    np.testing.assert_array_equal(o.get(), np.full(3000, 30))


def test_warp_shuffles_and_atomics_compute_sum(module: PyGPU.Module) -> None:
    a = np.arange(5000, dtype=np.float32) % 7
    o = PyGPU.zeros(1, np.float32)
    module.get_function("total")[3, 128](PyGPU.asarray(a), o, np.int32(5000))
    assert o.get()[0] == a.sum()
