"""Define cases with kernels from a user's source, and cases that export arrays to other libraries."""

from __future__ import annotations

import numpy as np

import PyGPU
from large_array_support.array_checker import ArrayChecker, CheckFailure
from large_array_support.case_registry import case
from large_array_support.element_rules import BYTES, P, Rule, total

RAW = """
extern "C" __global__ void mirror(unsigned char *to, const unsigned char *from, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x)
        to[i] = from[n - 1 - i] + (unsigned char)(i >> 31);
}
"""


@case("kernels")
def raw_kernel(large: ArrayChecker) -> None:
    size = large.elements
    result = PyGPU.empty(size, np.uint8)
    PyGPU.Kernel(RAW, "mirror")[1 << 12, 256](result, large.bytes(size), size)
    limit = min(size, 1 << 31)
    large.check(result[:limit], Rule(BYTES).over((limit,), -1, start=size - 1), what="below 2^31")
    if size > limit:
        rest = result[limit:]
        large.check(rest, Rule(BYTES + np.uint8(1)).over((rest.size,), -1, start=size - 1 - limit), what="above 2^31")


@case("kernels")
def elementwise_kernel(large: ArrayChecker) -> None:
    size = large.elements
    kernel = PyGPU.elementwise.ElementwiseKernel(
        "const unsigned char *x, const unsigned char *table, unsigned char *z",
        f"z[i] = x[n - 1 - i] + table[i % {P}]",
        "large_mirror",
    )
    result, table = PyGPU.empty(size, np.uint8), PyGPU.to_gpu(BYTES)
    kernel(large.bytes(size), table, result)
    large.check(result, Rule(BYTES[(size - 1 - np.arange(P)) % P] + BYTES), what="contiguous")
    # The kernel also reads elements at other indices than `i`. Here these elements are read through a strided view.
    kernel(large.bytes(2 * size)[::2], table, result)
    large.check(result, Rule(BYTES[2 * (size - 1 - np.arange(P)) % P] + BYTES), what="every second")


@case("kernels")
def elementwise_kernel_over_range(large: ArrayChecker) -> None:
    size = large.elements
    kernel = PyGPU.elementwise.ElementwiseKernel("unsigned char *z", "z[i] = 255", "large_range")
    array = large.bytes(size)
    kernel(array, slice=slice(size - 5, None, 2))
    large.check(array[: size - 5], Rule(BYTES), what="before the range")
    expected = BYTES[np.arange(size - 5, size) % P]
    expected[::2] = 255
    large.check_value(array[size - 5 :], expected, "range")


@case("kernels")
def reduction_kernel(large: ArrayChecker) -> None:
    kernel = PyGPU.reduction.ReductionKernel(
        np.uint64, "0", "a + b", "x[i] * (unsigned long long)(i % 3)", "const unsigned char *x", "large_sum"
    )
    size = large.elements
    table = np.resize(BYTES, 3 * P).astype(np.int64) * (np.arange(3 * P) % 3)
    large.check_value(kernel(large.bytes(size)), np.uint64(total(table, size)), "sum")


@case("kernels")
def export(large: ArrayChecker) -> None:
    size = large.elements
    view = large.bytes(2 * size)[size | 1 :: 3]
    taken = PyGPU.from_dlpack(view)
    if (taken.shape, taken.strides, taken.ptr) != (view.shape, view.strides, view.ptr):
        raise CheckFailure(f"DLPack: {taken.shape}, {taken.strides} instead of {view.shape}, {view.strides}")
    large.check(taken.copy(), Rule(BYTES).over(taken.shape, 3, start=size | 1), what="DLPack")
    if PyGPU.backend_name() == "cpu":
        return
    interface = view.__cuda_array_interface__
    found = (interface["shape"], interface["strides"], interface["data"][0])
    if found != (view.shape, view.strides, view.ptr):
        raise CheckFailure(f"array interface: {found} instead of {view.shape}, {view.strides}, {view.ptr}")
    matrix = PyGPU.broadcast_to(large.bytes(1), (size, 4))
    interface = matrix.__cuda_array_interface__
    if (interface["shape"], interface["strides"]) != ((size, 4), (0, 0)):
        raise CheckFailure(f"array interface of a broadcast array: {interface['shape']}, {interface['strides']}")
