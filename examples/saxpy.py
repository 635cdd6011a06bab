"""A kernel from a string
======================

``out = a*x + y`` for sixteen million numbers.

The declaration determines the arguments: `a` a float, `n` a size_t, the rest arrays of float32. Runs on any
device; without a GPU the host's C++ compiler builds the kernel.
"""

import numpy as np

import PyGPU as gpuarray

SOURCE = """
__global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
"""
THREADS = 512


def main(n: int = 1 << 24) -> float:
    """Compute, compare with NumPy, and return the bandwidth in GB/s."""
    # Without fused multiply-add every step is rounded as in NumPy.
    saxpy = gpuarray.Kernel(SOURCE, "saxpy", ["-fmad=false"])

    random = np.random.default_rng(0)
    x, y = random.random((2, n), dtype=np.float32)
    on_device = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    out = gpuarray.empty_like(on_device[0])

    launch = saxpy[-(-n // THREADS), THREADS]
    launch(2.0, *on_device, out, n)
    np.testing.assert_array_equal(out.get(), np.float32(2) * x + y)

    start, end = gpuarray.Event(), gpuarray.Event()
    start.record()
    launch(2.0, *on_device, out, n)
    end.record()
    end.synchronize()
    seconds = start.elapsed_time(end) / 1e3
    return 3 * out.nbytes / seconds / 1e9


if __name__ == "__main__":
    print(f"{gpuarray.Device().name}: {main():.0f} GB/s")
