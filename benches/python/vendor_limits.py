"""Define calls that bound results of missed_goals.py: functions of the vendor alone, and kernels written by hand.

All calls use PyGPU's memory and PyGPU's current stream, so that PyGPU's events measure them. As in other benchmarks,
each function here returns calls with the number of bytes that each must move. The rate of a copy within the device
bounds benchmarks that read and write memory; cuFFT's plan for the strides of an array bounds transforms of this array.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from driver_calls import ADDRESS, SIZE, Driver

import PyGPU

Calls = dict[str, tuple[Callable[[], Any], int]]
COMPLEX, REAL_TO_COMPLEX, FORWARD = 0x29, 0x2A, -1

SOURCE = """
extern "C" {
__global__ void take(const float *__restrict__ x, const long long *__restrict__ at, float *__restrict__ y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[at[i]];
}
/* Reads only the quads of the lower triangle. */
__global__ void tril(const float4 *__restrict__ x, float4 *__restrict__ y, unsigned quads) {
    const unsigned row = blockIdx.y, quad = blockIdx.x * blockDim.x + threadIdx.x, column = 4 * quad;
    const unsigned long long at = row * (unsigned long long)quads + quad;
    float4 v = make_float4(0, 0, 0, 0);
    if (column <= row) {
        v = x[at];
        if (column + 1 > row) v.y = 0;
        if (column + 2 > row) v.z = 0;
        if (column + 3 > row) v.w = 0;
    }
    y[at] = v;
}
}
"""


def copies(count: int) -> Calls:
    """Return the driver's copy of the given number of four-byte elements within the device."""
    driver = Driver()
    source, target = (PyGPU.zeros(count, np.float32) for _ in range(2))
    stream = ctypes.c_void_p(PyGPU.current_stream().handle)
    arguments = (ADDRESS(target.ptr), ADDRESS(source.ptr), SIZE(source.nbytes), stream)

    def call(_keep: Any = (source, target)) -> None:
        driver.cuMemcpyDtoDAsync_v2(*arguments)

    return {"cuMemcpyDtoD": (call, 2 * source.nbytes)}


def by_hand(count: int) -> Calls:
    """Return kernels for `take` of single elements and for `tril`, with the arrays of selection.py and joining.py."""
    side = int(count**0.5) // 64 * 64
    module = {name: PyGPU.Kernel(SOURCE, name) for name in ("take", "tril")}
    square, lower = (PyGPU.ones((side, side), np.float32) for _ in range(2))
    rows = count // 256 // 64 * 64
    index = PyGPU.to_gpu(np.random.default_rng(0).integers(0, rows, rows))
    taken = PyGPU.empty(rows, np.float32)
    block = min(256, side // 4)
    threads = min(256, rows)
    take = module["take"][rows // threads, threads]
    tril = module["tril"][PyGPU.LaunchConfig((side // 4 // block, side), block)]
    return {
        "take by hand": (lambda: take(square, index, taken), 16 * rows),
        "tril by hand": (lambda: tril(square, lower, side // 4), 2 * square.nbytes),
    }


class Plan:
    """Hold a cuFFT plan for single precision, which writes the transform into an existing result array."""

    def __init__(self, kind: int, lengths: tuple[int, ...], stride: int = 1, distance: int = 0, batch: int = 1) -> None:
        from PyGPU._paths import library_files

        override, files = library_files.mathematics("cufft")
        self.library = _first([override] if override else [*files, "libcufft.so.12", "libcufft.so.11"])
        self.handle = ctypes.c_int()
        sizes = (ctypes.c_int * len(lengths))(*lengths)
        layout = (sizes, stride, distance) if distance else (None, 1, 0)
        many = (ctypes.byref(self.handle), len(lengths), sizes, *layout, *layout, kind, batch)
        self._checked("cufftPlanMany", *many)
        self._checked("cufftSetStream", self.handle, ctypes.c_void_p(PyGPU.current_stream().handle))
        self.kind = kind

    def _checked(self, name: str, *arguments: Any) -> None:
        code = getattr(self.library, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} gave {code}")

    def call(self, source: PyGPU.GPUArray, target: PyGPU.GPUArray) -> Callable[[], None]:
        """Return a function that transforms `source` into `target` and keeps both arrays alive."""
        pointers = (ctypes.c_void_p(source.ptr), ctypes.c_void_p(target.ptr))
        if self.kind == COMPLEX:
            return lambda _keep=(source, target): self._checked("cufftExecC2C", self.handle, *pointers, FORWARD)
        return lambda _keep=(source, target): self._checked("cufftExecR2C", self.handle, *pointers)


def _first(names: list[str]) -> ctypes.CDLL:
    """Load the first shared library of a list that exists."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise RuntimeError(f"none of {names} can be loaded")


def transforms(count: int) -> Calls:
    """Return cuFFT's transforms of the arrays of transforms.py: columns of a square, planes, and three axes."""
    points = 1 << ((count // 2).bit_length() - 1)
    side, edge = 1 << ((points.bit_length() - 1) // 2), 1 << ((points.bit_length() - 1) // 3)
    source, target = (PyGPU.zeros(points, np.complex64) for _ in range(2))
    columns = Plan(COMPLEX, (side,), stride=side, distance=1, batch=side)
    plane, box = Plan(REAL_TO_COMPLEX, (side, side)), Plan(COMPLEX, (edge, edge, edge))
    return {
        "cuFFT, columns": (columns.call(source, target), 16 * side * side),
        "cuFFT, rfft2": (plane.call(source, target), 8 * side * side),
        "cuFFT, fftn": (box.call(source, target), 16 * edge**3),
    }


def all_of(count: int) -> tuple[Calls, dict[str, str]]:
    """Return all calls on arrays of `count` four-byte elements, and the reasons of missing calls."""
    calls: Calls = {}
    failures: dict[str, str] = {}
    for make in (copies, by_hand, transforms):
        try:
            calls |= make(count)
        except Exception as error:  # A missing library must not end the measurement.
            failures[f"limits, {make.__name__}"] = f"{type(error).__name__}: {error}"[:300]
    return calls, failures
