"""One program on every backend
============================

Each backend of this machine in sequence: NVIDIA, AMD, and the CPU.

A process has one backend, so each backend runs in a separate process.
"""

import os
import subprocess
import sys

import numpy as np

import PyGPU as gpuarray

SOURCE = """
// Nothing of either vendor: no header, no warp of 32.
__global__ void polynomial(const double *x, double *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = ((3 * x[i] - 2) * x[i] + 1) * x[i] - 5;
}
"""


def here() -> None:
    """Compute on the backend of this process, and print the result."""
    x = np.linspace(-1, 1, 1001)
    on_device = gpuarray.to_gpu(x)
    y = gpuarray.empty_like(on_device)
    gpuarray.Kernel(SOURCE, "polynomial")[4, 128](on_device, y, x.size)
    np.testing.assert_allclose(y.get(), ((3 * x - 2) * x + 1) * x - 5, rtol=1e-14)
    print(f"{gpuarray.backend_name()}: {y.get().sum():.12f}")


def main() -> None:
    """Run `here` in a process for each backend; a missing one prints an error."""
    for backend in ("cuda", "hip", "cpu"):
        environment = os.environ | {"PYGPU_BACKEND": backend}
        run = subprocess.run(
            [sys.executable, __file__, "here"], env=environment, capture_output=True, text=True, check=False
        )
        print(run.stdout.strip() or f"{backend}: {run.stderr.strip().splitlines()[-1][:100]}")


if __name__ == "__main__":
    here() if sys.argv[1:] == ["here"] else main()
