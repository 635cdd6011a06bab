"""Test relocatable device code on a real GPU: linking of several sources, and kernels that launch kernels.

Among the tests are the two cases of PyCUDA's own tests, and a single source with the options of relocatable code.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from gpu import kernel_library, support
from PyGPU._paths import library_files
from PyGPU.compiler import DynamicModule, DynamicSourceModule, SourceModule

support.require_gpu()
if kernel_library.simulated() is not None:
    pytest.skip("the simulated driver links nothing", allow_module_level=True)
if support.on_hip():
    pytest.skip("relocatable device code is CUDA's", allow_module_level=True)

needs_device_runtime = pytest.mark.skipif(
    library_files.device_library("cudadevrt") is None, reason="libcudadevrt.a is not installed"
)
LAUNCHING = """
__global__ void inner(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
__global__ void outer(int *x, int n) { inner<<<1, 32>>>(x, n); }
"""
PARTS = [
    "extern __device__ int twice(int); __global__ void f(int *x) { x[threadIdx.x] = twice(x[threadIdx.x]); }",
    "__device__ int twice(int x) { return 2 * x; }",
]


def doubled(module: SourceModule | DynamicModule, name: str, *arguments: object, block: int) -> list[int]:
    """Launch a kernel on an array of 0, 1, ..., 7, and return the values of the array after the launch."""
    x = PyGPU.to_gpu(np.arange(8, dtype=np.int32))
    module.get_function(name)(x.gpudata, *arguments, block=(block, 1, 1), grid=(1, 1))
    drv.Context.synchronize()
    return x.get().tolist()


@needs_device_runtime
def test_kernel_can_launch_another_kernel() -> None:
    module = DynamicSourceModule(LAUNCHING)
    assert doubled(module, "outer", np.int32(8), block=1) == list(range(0, 16, 2))


@needs_device_runtime
def test_outer_and_inner_kernel_of_two_sources_are_linked() -> None:
    module = DynamicModule()
    outer = """#include <cstdio>
    __global__ void outer(int *x) { extern __global__ void inner(int *); inner<<<1, 8>>>(x); }"""
    inner = """#include <cstdio>
    __global__ void inner(int *x) { x[threadIdx.x] *= 2; if (x[0]) printf("not reached\\n"); }"""
    for source in (outer, inner):
        module.add_source(source, nvcc_options=["-rdc=true", "-lcudadevrt"])
    module.add_stdlib("cudadevrt").link()
    assert doubled(module, "outer", block=1) == list(range(0, 16, 2))


def test_linked_kernel_calls_function_of_another_source() -> None:
    module = DynamicModule()
    for source in PARTS:
        module.add_source(source)
    assert doubled(module.link(), "f", block=8) == list(range(0, 16, 2))


def test_link_error_contains_name_of_undefined_function() -> None:
    module = DynamicModule().add_source(PARTS[0])
    with pytest.raises(drv.Error, match="twice"):
        module.link()


def test_single_source_with_option_rdc_runs() -> None:
    module = SourceModule("\n".join(PARTS[::-1]), options=["-rdc=true"])
    assert doubled(module, "f", block=8) == list(range(0, 16, 2))


@needs_device_runtime
def test_source_that_launches_kernels_is_linked_with_device_runtime() -> None:
    module = SourceModule(LAUNCHING, options=["-rdc=true", "-lcudadevrt"])
    assert doubled(module, "outer", np.int32(8), block=1) == list(range(0, 16, 2))
    x = PyGPU.to_gpu(np.arange(8, dtype=np.int32))
    PyGPU.Module(LAUNCHING, options=["-rdc=true"]).get_function("outer")[1, 1](x, 8)
    PyGPU.synchronize()
    assert x.get().tolist() == list(range(0, 16, 2))
