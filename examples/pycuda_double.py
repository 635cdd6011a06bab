"""PyCUDA's interface: manual memory management
============================================

Doubles an array: memory is allocated, filled, used and freed explicitly.

    python examples/pycuda_double.py

A PyCUDA program needs no change other than the imports.
"""

from __future__ import annotations

import numpy as np

import PyGPU.autoinit
import PyGPU.driver as cuda
from PyGPU.compiler import SourceModule

SOURCE = """
__global__ void twice(float *result, const float *values, const int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += gridDim.x * blockDim.x) {
        result[i] = 2 * values[i];
    }
}
"""


def doubled(values: np.ndarray) -> np.ndarray:
    """Return twice the values, computed on the device."""
    twice = SourceModule(SOURCE).get_function("twice")
    count = np.array([values.size], np.int32)
    on_device = [cuda.mem_alloc(array.nbytes) for array in (values, values, count)]
    result_gpu, values_gpu, count_gpu = on_device
    cuda.memcpy_htod(values_gpu, values)
    cuda.memcpy_htod(count_gpu, count)

    twice(result_gpu, values_gpu, count_gpu, block=(32, 1, 1), grid=(4, 1))

    result = np.empty_like(values)
    cuda.memcpy_dtoh(result, result_gpu)
    for memory in on_device:
        memory.free()  # Without this call Python frees the memory.
    return result


def doubled_array(values: np.ndarray) -> np.ndarray:
    """Return the same with arrays that free themselves; `gpudata` is their memory."""
    from PyGPU import gpuarray

    twice = SourceModule(SOURCE).get_function("twice")
    values_gpu = gpuarray.to_gpu(values)
    count_gpu = gpuarray.to_gpu(np.array([values.size], np.int32))
    result_gpu = gpuarray.zeros(values.size, np.float32)
    twice(result_gpu.gpudata, values_gpu.gpudata, count_gpu.gpudata, block=(32, 1, 1), grid=(4, 1))
    return result_gpu.get()


def main() -> None:
    """Double some numbers both ways, and show them."""
    values = np.arange(128, dtype=np.float32)
    for result in (doubled(values), doubled_array(values)):
        np.testing.assert_array_equal(result, 2 * values)
    print(f"on {PyGPU.autoinit.device.name()}: {doubled(values)[:6]} ...")


if __name__ == "__main__":
    main()
