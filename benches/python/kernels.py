"""Compare PyGPU's generated kernels with the driver's copy, hand-written kernels, CuPy and PyCUDA, in one run.

    python benches/python/kernels.py [--json FILE] [--gib 1.0] [--rounds 7]

Throughput: `a * x + y`, sums and scans of arrays of the given total size, timed by events around several calls. The
table has the median over the rounds, in which all cases alternate. The lower bounds of the times ("floors") are the
driver's copy on the device, and a hand-written kernel for each case. Overhead: the time until one call on arrays of 16
elements returns to the host. CuPy and PyCUDA are measured if they are installed.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np

import PyGPU
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

BY_HAND = """
extern "C" __global__ void axpy(float a, const float4 *__restrict__ x, const float4 *__restrict__ y,
                                float4 *__restrict__ z, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 p = x[i], q = y[i];
        z[i] = make_float4(a * p.x + q.x, a * p.y + q.y, a * p.z + q.z, a * p.w + q.w);
    }
}
extern "C" __global__ void read(const float4 *__restrict__ x, float *out, unsigned n) {
    float sum = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 p = x[i];
        sum += p.x + p.y + p.z + p.w;
    }
    if (sum == -1.0f) *out = sum;
}
"""
CALLS = 5
Case = tuple[str, str, int, Callable[[], Any]]


def pygpu_cases(nbytes: int) -> list[Case]:
    """Return PyGPU's cases: the name of the operation, the library, the bytes moved, and the call."""
    third, quarter = nbytes // 12 // 4 * 4, nbytes // 4
    x, y, z = (PyGPU.full(third, value, np.float32) for value in (1, 2, 3))
    axpy = ElementwiseKernel("float a, const float *x, const float *y, float *z", "z[i] = a * x[i] + y[i]", "axpy")
    in_place = ElementwiseKernel("float a, float *x", "x[i] *= a", "scale")
    cases: list[Case] = [
        ("a*x + y", "PyGPU", 12 * third, lambda: axpy(2, x, y, z)),
        ("a*x + y, into x", "PyGPU", 12 * third, lambda: axpy(0, x, y, x)),
        ("x *= a", "PyGPU", 8 * third, lambda: in_place(1, x)),
        ("a*x + y, every second", "PyGPU", 12 * (third // 2), lambda: axpy(2, x[::2], y[::2], z[::2])),
    ]
    side = int(third**0.5) // 4 * 4
    square = [one[: side * side].reshape(side, side) for one in (x, y, z)]
    cases += [
        ("a*x + y, x transposed", "PyGPU", 12 * side * side, lambda: axpy(2, square[0].T, square[1], square[2])),
        ("a*x + y, y a row", "PyGPU", 8 * side * side, lambda: axpy(2, square[0], square[1][0], square[2])),
    ]
    whole = PyGPU.full(quarter, 1, np.float32)
    numbers = whole.view(np.int32)
    total = ReductionKernel(np.float32, "0", "a + b")
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "const float *x, const float *y")
    up_to = InclusiveScanKernel(np.int32, "a + b")
    before = ExclusiveScanKernel(np.int32, "a + b", 0)
    half = quarter // 2
    cases += [
        ("sum", "PyGPU", 4 * quarter, lambda: total(whole)),
        ("dot", "PyGPU", 8 * half, lambda: dot(whole[:half], whole[half : 2 * half])),
        ("inclusive scan", "PyGPU", 8 * half, lambda: up_to(numbers[:half], numbers[half : 2 * half])),
        ("exclusive scan, in place", "PyGPU", 8 * quarter, lambda: before(numbers)),
    ]
    return cases + floor_cases(nbytes)


def floor_cases(nbytes: int) -> list[Case]:
    """Return the lower bounds of the times: the driver's copy, and a hand-written kernel for each operation."""
    if PyGPU.backend_name() == "cpu":
        return []
    third, quarter = nbytes // 12 // 4 * 4, nbytes // 4
    x, y, z = (PyGPU.full(third, value, np.float32) for value in (1, 2, 3))
    module = PyGPU.Module(BY_HAND)
    axpy, read = module.get_function("axpy"), module.get_function("read")
    whole, out = PyGPU.full(quarter // 4 * 4, 1, np.float32), PyGPU.zeros(1, np.float32)
    blocks = 132 * 8
    return [
        ("a*x + y", "by hand", 12 * third, lambda: axpy[(third // 4 + 255) // 256, 256](2.0, x, y, z, third // 4)),
        ("sum", "by hand (reads only)", 4 * quarter, lambda: read[blocks, 512](whole, out, quarter // 4)),
        (
            "copy",
            "driver",
            8 * third,
            lambda: PyGPU.cudaMemcpyAsync(z.ptr, x.ptr, 4 * third, PyGPU.cudaMemcpyDeviceToDevice, 0),
        ),
    ]


def cupy_cases(nbytes: int) -> list[Case]:
    """Return CuPy's cases: the operations of `pygpu_cases`, computed by CuPy's kernels."""
    import cupy

    third, half, quarter = nbytes // 12 // 4 * 4, nbytes // 8, nbytes // 4
    x, y, z = (cupy.full(third, value, np.float32) for value in (1, 2, 3))
    axpy = cupy.ElementwiseKernel("float32 a, float32 x, float32 y", "float32 z", "z = a * x + y", "axpy")
    a = np.float32(2)
    whole = cupy.ones(quarter, np.float32)
    numbers = whole.view(np.int32)
    total = cupy.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "total")
    return [
        ("a*x + y", "CuPy", 12 * third, lambda: axpy(a, x, y, z)),
        ("a*x + y, every second", "CuPy", 12 * (third // 2), lambda: axpy(a, x[::2], y[::2], z[::2])),
        ("sum", "CuPy", 4 * quarter, lambda: whole.sum()),
        ("sum", "CuPy ReductionKernel", 4 * quarter, lambda: total(whole)),
        ("inclusive scan", "CuPy", 8 * half, lambda: cupy.cumsum(numbers[:half], out=numbers[half : 2 * half])),
    ]


def pycuda_cases(nbytes: int) -> list[Case]:
    """Return PyCUDA's cases: the operations of `pygpu_cases`, computed by PyCUDA's kernels."""
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda import gpuarray
    from pycuda.elementwise import ElementwiseKernel as Elementwise
    from pycuda.reduction import ReductionKernel as Reduction
    from pycuda.scan import InclusiveScanKernel as Inclusive

    third, quarter = nbytes // 12 // 4 * 4, nbytes // 4
    x, y, z = (gpuarray.zeros(third, np.float32) for _ in range(3))
    axpy = Elementwise("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]", "axpy")
    whole = gpuarray.zeros(quarter, np.float32)
    numbers = whole.view(np.int32)
    total = Reduction(np.float32, "0", "a + b", "x[i]", "float *x")
    up_to = Inclusive(np.int32, "a + b")
    return [
        ("a*x + y", "PyCUDA", 12 * third, lambda: axpy(2, x, y, z)),
        ("sum", "PyCUDA", 4 * quarter, lambda: total(whole)),
        ("exclusive scan, in place", "PyCUDA (inclusive)", 8 * quarter, lambda: up_to(numbers)),
    ]


def tried(make: Callable[[int], list[Case]], nbytes: int) -> list[Case]:
    """Run each case of a library once, which compiles kernels; return the cases, or an empty list on failure."""
    try:
        cases = make(nbytes)
        for _, _, _, call in cases:
            call()
        PyGPU.synchronize()
    except Exception as error:
        print(f"{make.__name__}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return []
    return cases


def seconds_on_device(call: Callable[[], Any]) -> float:
    """Return the seconds per call on the device: the time between two events, divided by the number of calls."""
    if PyGPU.backend_name() == "cpu":
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    start, stop = PyGPU.Event(), PyGPU.Event()
    PyGPU.synchronize()
    start.record()
    for _ in range(CALLS):
        call()
    stop.record()
    stop.synchronize()
    return stop.time_since(start) / 1000 / CALLS


def seconds_on_host(call: Callable[[], Any]) -> float:
    """Return the seconds until one call returns, without waiting for the device: the minimum over several runs."""
    best = float("inf")
    for _ in range(20):
        PyGPU.synchronize()
        start = time.perf_counter()
        for _ in range(100):
            call()
        best = min(best, (time.perf_counter() - start) / 100)
    PyGPU.synchronize()
    return best


def measured(cases: list[Case], rounds: int) -> list[dict[str, Any]]:
    """Measure the cases alternately in several rounds, and return a dictionary with the results of each case."""
    times: list[list[float]] = [[] for _ in cases]
    for turn in range(rounds):
        order = range(len(cases)) if turn % 2 == 0 else range(len(cases) - 1, -1, -1)
        for index in order:
            times[index].append(seconds_on_device(cases[index][3]))
    return [
        {
            "work": work,
            "library": library,
            "bytes": nbytes,
            "seconds": statistics.median(own),
            "gb_per_s": nbytes / statistics.median(own) / 1e9,
        }
        for (work, library, nbytes, _), own in zip(cases, times, strict=True)
    ]


def main() -> None:
    """Measure all cases, print a table, and write the JSON file if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--gib", type=float, default=1.0 if PyGPU.backend_name() != "cpu" else 0.0625)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    makers = [pygpu_cases] if PyGPU.backend_name() == "cpu" else [pygpu_cases, cupy_cases, pycuda_cases]
    nbytes = int(arguments.gib * (1 << 30))
    throughput = measured([case for make in makers for case in tried(make, nbytes)], arguments.rounds)
    overhead = [
        {"work": work, "library": library, "microseconds": seconds_on_host(call) * 1e6}
        for make in makers
        for work, library, _, call in tried(make, 16 * 12)
    ]
    throughput.sort(key=lambda row: row["work"])
    for row in throughput:
        print(f"{row['work']:28}{row['library']:24}{row['gb_per_s']:10.0f} GB/s")
    for row in sorted(overhead, key=lambda row: row["work"]):
        print(f"{row['work']:28}{row['library']:24}{row['microseconds']:10.2f} us a call")
    if arguments.json:
        machine.write(arguments.json, {"throughput": throughput, "overhead": overhead})


if __name__ == "__main__":
    main()
