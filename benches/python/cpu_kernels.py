"""Compare kernels on the CPU with an OpenMP loop and NumPy, alternating between them.

    PYGPU_BACKEND=cpu python benches/python/cpu_kernels.py [--elements 10000000] [--rounds 9] [--json FILE]

Three kernels are measured: one without barriers, one that PyGPU splits at its barriers, and one whose threads exchange
values within warps, for which PyGPU gives each thread a stack. The OpenMP loops are compiled with -O2; they are omitted
if the compiler does not support OpenMP. The unit is gigabytes per second of necessary traffic. The value is the rate of
the fastest round, because other processes use the cores too.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np

import PyGPU

THREADS = 256
KERNELS = r"""
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void tree(const float *x, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
"""
# PyGPU does not split this kernel, because its threads wait within a warp. Each thread therefore has a stack.
WARPS = r"""
extern "C" __global__ void shuffles(const float *x, float *out, int n) {
    __shared__ float s[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        for (int j = 1; j < 8; j++) v += s[j];
        out[blockIdx.x] = v;
    }
}
"""
LOOPS = r"""
extern "C" void saxpy(float a, const float *x, float *y, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
extern "C" void blocks(const float *x, float *out, int n) {
#pragma omp parallel for
    for (int block = 0; block < (n + 255) / 256; block++) {
        float sum = 0;
        for (int i = block * 256; i < block * 256 + 256 && i < n; i++) sum += x[i];
        out[block] = sum;
    }
}
"""
Calls = dict[str, tuple[Callable[[], object], int]]


def pygpu(x: np.ndarray, y: np.ndarray) -> Calls:
    """Return PyGPU's kernels, each with the number of bytes that a call must move."""
    count, blocks = len(x), (len(x) + THREADS - 1) // THREADS
    left, right, out = PyGPU.to_gpu(x), PyGPU.to_gpu(y), PyGPU.empty(blocks, np.float32)
    module, warps = PyGPU.Module(KERNELS), PyGPU.Module(WARPS)
    saxpy, tree, shuffles = (
        module.get_function("saxpy"),
        module.get_function("tree"),
        warps.get_function("shuffles"),
    )
    n = np.int32(count)
    return {
        "a*x + y": (lambda: saxpy[blocks, THREADS](np.float32(2), left, right, n), 12 * count),
        "sums of blocks, a tree": (lambda: tree[blocks, THREADS](left, out, n), 4 * count),
        "sums of blocks, shuffles": (lambda: shuffles[blocks, THREADS](left, out, n), 4 * count),
    }


def openmp(x: np.ndarray, y: np.ndarray) -> Calls:
    """Return OpenMP loops that compute the same results as the kernels, with the bytes that a call must move."""
    compiler, folder = os.environ.get("CXX", "c++"), Path(tempfile.mkdtemp())
    (folder / "loops.cpp").write_text(LOOPS)
    command = [compiler, "-O2", "-fopenmp", "-shared", "-fPIC", "loops.cpp", "-o", "loops.so"]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
        return {}
    loops = ctypes.CDLL(str(folder / "loops.so"))
    out = np.empty((len(x) + THREADS - 1) // THREADS, np.float32)
    a, b, c = (ctypes.c_void_p(array.ctypes.data) for array in (x, y, out))
    n = ctypes.c_int(len(x))
    sums = (lambda: loops.blocks(a, c, n), 4 * len(x))
    return {
        "a*x + y": (lambda: loops.saxpy(ctypes.c_float(2), a, b, n), 12 * len(x)),
        "sums of blocks, a tree": sums,
        "sums of blocks, shuffles": sums,
        # This reference to the output arrays of the loops keeps the arrays alive as long as the timed calls.
        "": (lambda: out, 0),
    }


def numpy(x: np.ndarray, y: np.ndarray) -> Calls:
    """Return NumPy expressions that compute the same results as the kernels, with the bytes that a call must move."""
    whole = len(x) // THREADS * THREADS
    sums = (lambda: x[:whole].reshape(-1, THREADS).sum(axis=1), 4 * len(x))
    return {
        "a*x + y": (lambda: 2 * x + y, 12 * len(x)),
        "sums of blocks, a tree": sums,
        "sums of blocks, shuffles": sums,
    }


def main() -> None:
    """Measure all calls alternately, print a table, and write the JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    x, y = (np.random.default_rng(seed).random(arguments.elements, dtype=np.float32) for seed in (0, 1))
    ways = {"PyGPU": pygpu(x, y.copy()), "OpenMP": openmp(x, y.copy()), "NumPy": numpy(x, y.copy())}
    best: dict[tuple[str, str], float] = {}
    for _ in range(arguments.rounds):
        for library, calls in ways.items():
            for name, (call, moved) in calls.items():
                start = time.perf_counter()
                call()
                seconds = time.perf_counter() - start
                if moved:
                    best[name, library] = min(best.get((name, library), float("inf")), seconds)
    moved = {name: each for name, (_, each) in ways["PyGPU"].items()}
    names = [library for library, calls in ways.items() if calls]
    rows = {
        **{f"{name} (GB/s)": {one: moved[name] / best[name, one] / 1e9 for one in names} for name in moved},
        **{f"{name} (ms)": {one: best[name, one] * 1e3 for one in names} for name in moved},
    }
    machine.print_header()
    machine.print_table([[name, *(f"{row[one]:.4g}" for one in names)] for name, row in rows.items()], ["", *names])
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "cpu_kernels", "elements": arguments.elements, "rows": rows})


if __name__ == "__main__":
    main()
