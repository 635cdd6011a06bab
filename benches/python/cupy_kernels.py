"""Compare kernels that are written for CuPy and run by PyGPU with the same kernels run by CuPy.

    python benches/python/cupy_kernels.py [--bytes N] [--rounds 5] [--json FILE]

Large arrays of float32 have N bytes, 1 GiB by default; the unit is gigabytes per second of operands and results. Calls
on sixteen elements are timed by the host's clock until the call returns.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from timing import Library, host_seconds, measure

AXPY = """
extern "C" __global__ void axpy(float a, const float* x, const float* y, float* z, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) z[i] = a * x[i] + y[i];
}
"""
THREADS = 256


class Kernels:
    """Hold the measured kernels, created by the classes of CuPy or of `PyGPU.cupy`."""

    def __init__(self, library: Library) -> None:
        self.cupy = cupy = importlib.import_module("PyGPU.cupy" if library.name == "PyGPU" else "cupy")
        self.axpy = cupy.RawKernel(AXPY, "axpy")
        self.difference = cupy.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "difference")
        self.shift = cupy.ElementwiseKernel("raw T x", "T z", "z = x[i + 1 < _ind.size() ? i + 1 : 0] - x[i]", "shift")
        self.norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "root_of_squares")

        def polynomial(x: Any, y: Any) -> Any:
            return ((x * y + x) * y + x) * y + x

        self.polynomial = cupy.fuse()(polynomial)

    def launch(self, x: Any, y: Any, z: Any) -> Callable[[], None]:
        """Return a function that launches the raw kernel with five arguments."""
        a, n, blocks = self.cupy.float32(2), self.cupy.int32(x.size), ((x.size + THREADS - 1) // THREADS,)
        return lambda: self.axpy(blocks, (THREADS,), (a, x, y, z, n))


def large(library: Library, count: int) -> dict[str, tuple[Callable[[], Any], int]]:
    """Return the timed functions, each with the number of bytes that a call must read and write."""
    kernels = Kernels(library)
    x, y = (library.array(np.random.default_rng(seed).random(count, dtype=np.float32)) for seed in (1, 2))
    z, plane = kernels.cupy.empty_like(x), x.reshape(-1, 1024)
    row = y[:1024]
    return {
        "RawKernel": (kernels.launch(x, y, z), 3 * x.nbytes),
        "ElementwiseKernel": (lambda: kernels.difference(x, y, z), 3 * x.nbytes),
        "ElementwiseKernel, broadcast": (lambda: kernels.difference(plane, row, z.reshape(plane.shape)), 2 * x.nbytes),
        "ElementwiseKernel, raw": (lambda: kernels.shift(x, z), 2 * x.nbytes),
        "ReductionKernel": (lambda: kernels.norm(x), x.nbytes),
        "ReductionKernel, last axis": (lambda: kernels.norm(plane, axis=1), x.nbytes),
        "ReductionKernel, first axis": (lambda: kernels.norm(plane, axis=0), x.nbytes),
        "fuse": (library.launched(kernels.polynomial, x, y), 3 * x.nbytes),
    }


def small(library: Library) -> dict[str, float]:
    """Return the seconds until a call on sixteen elements returns, for each kernel."""
    kernels = Kernels(library)
    x, y, z = (library.array(np.linspace(k, k + 1, 16, dtype=np.float32)) for k in range(3))
    calls: dict[str, Callable[[], Any]] = {
        "RawKernel, 5 arguments": kernels.launch(x, y, z),
        "ElementwiseKernel, output given": lambda: kernels.difference(x, y, z),
        "ElementwiseKernel": lambda: kernels.difference(x, y),
        "ReductionKernel": lambda: kernels.norm(x),
        "fuse": library.launched(kernels.polynomial, x, y),
    }
    return {name: host_seconds(library, call) for name, call in calls.items()}


if __name__ == "__main__":
    measure(__doc__, "cupy_kernels", large, small, names=("PyGPU", "cupy"), deferred=True)
