"""Test launches with structs and pointer arrays on a real GPU: a launch waits for hazards of the arrays in its
arguments.

tests/kernels/test_arguments.py tests the values of such arguments, also on a real GPU.
"""

from __future__ import annotations

import numpy
import pytest

import PyGPU
from gpu import kernel_library, support
from gpu.support import SECONDS, no_wait

support.require_gpu()
if kernel_library.simulated() is not None:
    pytest.skip("waits of a real GPU; tests/kernels/test_arguments.py has the rest", allow_module_level=True)

SOURCE = r"""
struct Rows { float *target; const float *rows[2]; int n; };
typedef float (*function)(float);
__device__ float cube(float x) { return x * x * x; }
__device__ float half_of(float x) { return x / 2; }
__device__ function functions[2] = {cube, half_of};

extern "C" __global__ void add_rows(Rows r) {
    int i = threadIdx.x;
    if (i < r.n) r.target[i] += r.rows[0][i] + r.rows[1][i];
}
extern "C" __global__ void add_to_all(float *const *arrays, float value) { arrays[blockIdx.x][threadIdx.x] += value; }
extern "C" __global__ void apply(function f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
extern "C" __global__ void late_fill(long long cycles, float *x, float value) {
    for (long long start = clock64(); clock64() - start < cycles;) {}
    x[threadIdx.x] = value;
}
"""
ROWS = numpy.dtype([("target", "u8"), ("rows", "u8", 2), ("n", "i4")], align=True)
# Clock cycles for which a kernel waits. At 2 GHz these cycles take the time `SECONDS`, and longer at a slower clock.
CYCLES = int(SECONDS * 2e9)


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE)


def test_launch_waits_for_writes_to_arrays_in_struct_argument(module: PyGPU.Module) -> None:
    slow, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    target, *rows = (PyGPU.zeros(64, "float32") for _ in range(3))
    rows_of = PyGPU.Struct(ROWS, target=target, rows=rows, n=64)
    module["add_rows"][1, 64, other](rows_of)
    PyGPU.synchronize()
    with no_wait():
        module["late_fill"][1, 64, slow](CYCLES, rows[1], 5)
        module["add_rows"][1, 64, other](rows_of)
        module["late_fill"][1, 64, slow](0, rows[1], 1)
    assert (target.get() == 5).all()
    assert (rows[1].get() == 1).all()


def test_launch_with_pointer_array_waits_for_uses_of_its_arrays(module: PyGPU.Module) -> None:
    slow, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    arrays = [PyGPU.zeros(64, "float32") for _ in range(3)]
    pointers = PyGPU.pointers(arrays)
    module["add_to_all"][3, 64, other](pointers, 0)
    PyGPU.synchronize()
    with no_wait():
        module["late_fill"][1, 64, slow](CYCLES, arrays[2], 5)
        module["add_to_all"][3, 64, other](pointers, 2)
        with slow:
            copy = arrays[0].copy()
    assert (copy.get() == 2).all()
    assert (arrays[2].get() == 7).all()


def test_kernel_accepts_device_function_pointer_as_argument(module: PyGPU.Module) -> None:
    address, nbytes = module.get_global("functions")
    cube, half = PyGPU.from_pointer(address, nbytes // 8, "uint64", owner=module).get()
    x = PyGPU.arange(8, dtype="float32")
    module["apply"][1, 8](cube, x)
    module["apply"][1, 8](half, x)
    assert x.tolist() == [number**3 / 2 for number in range(8)]
