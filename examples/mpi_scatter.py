"""One array over several processes
================================

Scatters an array over MPI processes with a device each, and gathers their results.

    mpiexec -n 4 python examples/mpi_scatter.py

Needs mpi4py. Devices are assigned round-robin, so the number of processes may exceed that of devices.
"""

from __future__ import annotations

import numpy as np

try:
    from mpi4py import MPI
except ImportError:
    raise SystemExit("processes talk by mpi4py, which is not installed: pip install mpi4py") from None

import PyGPU.driver as cuda
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

SOURCE = """
__global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""
BLOCK = 256


def scaled(part: np.ndarray, factor: float, device: cuda.Device) -> np.ndarray:
    """Return the product of a part and a number, computed on a device."""
    context = device.make_context()
    try:
        x = gpuarray.to_gpu(part)
        scale = SourceModule(SOURCE).get_function("scale")
        grid = (-(-part.size // BLOCK), 1)
        scale(x, np.float32(factor), np.int32(part.size), block=(BLOCK, 1, 1), grid=grid)
        return x.get()
    finally:
        context.pop()


def main(elements: int = 1 << 20, factor: float = 2.5) -> None:
    """Scatter, scale, gather, and compare with NumPy in the first process."""
    cuda.init()
    world = MPI.COMM_WORLD
    per_process = elements // world.size
    whole = None
    if world.rank == 0:
        whole = np.random.default_rng(0).standard_normal((world.size, per_process), dtype=np.float32)

    part = np.empty(per_process, np.float32)
    world.Scatter(whole, part, root=0)
    part = scaled(part, factor, cuda.Device(world.rank % cuda.Device.count()))
    gathered = np.empty((world.size, per_process), np.float32) if world.rank == 0 else None
    world.Gather(part, gathered, root=0)

    if whole is not None:
        np.testing.assert_array_equal(gathered, np.float32(factor) * whole)
        print(f"{world.size} processes scaled {per_process} elements each")


if __name__ == "__main__":
    main()
