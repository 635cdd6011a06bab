"""Test PyCUDA's reductions, and the allocators of their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import gpuarray
from support_kernels import needs_kernels

pytestmark = needs_kernels

HOST = np.array([[3.0, -1.5, 2.0], [7.0, 0.0, 4.0]])
PLACES = np.array([0, 2, 3])


def gpu(values: Any, dtype: Any = None) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.asarray(values, dtype))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_reductions_equal_numpy_if_numpy_computes_in_dtype_of_array(dtype: str) -> None:
    host = HOST.astype(dtype)
    for host_view, a in ((host, gpu(host)), (host.T[::-1, ::2], gpu(host).T[::-1, ::2])):
        for name in ("sum", "min", "max"):
            result = getattr(gpuarray, name)(a)
            assert (result.shape, result.dtype) == ((), dtype)
            assert result.get() == getattr(np, name)(host_view)
        assert gpuarray.dot(a, a).get() == (host_view * host_view).sum()
        assert (gpuarray.any(a).get(), gpuarray.all(a).get()) == (host_view.any(), host_view.all())


def test_reductions_accept_dtype_of_result() -> None:
    a = gpu([100, 100], "int8")
    assert gpuarray.sum(a).get() == np.int8(-56)
    assert gpuarray.sum(a, np.int64).get() == 200
    assert gpuarray.dot(a, a, np.int64).get() == 20000
    assert gpuarray.subset_sum(gpu([0, 1]), a, np.float64).dtype == np.float64


def test_dot_of_different_dtypes_sums_in_common_dtype() -> None:
    x, y = gpu([1.5, 2.0]), gpu([1j, 2.0], "complex64")
    result = gpuarray.dot(x, y)
    assert result.dtype == np.complex128
    assert result.get() == 4 + 1.5j


def test_min_and_max_ignore_nan() -> None:
    a = gpu([2.0, np.nan, -1.0], "float32")
    assert (gpuarray.min(a).get(), gpuarray.max(a).get()) == (-1, 2)
    for dtype in ("int64", "uint8", "int8"):
        limits = np.iinfo(dtype)
        whole = gpu([limits.min, limits.max], dtype)
        assert (gpuarray.min(whole[1:]).get(), gpuarray.max(whole[:1]).get()) == (limits.max, limits.min)
    with pytest.raises(TypeError, match="complex64"):
        gpuarray.min(gpu([1j], "complex64"))


def test_subset_reductions_match_numpy() -> None:
    for host, a in ((HOST, gpu(HOST)), (HOST.T, gpu(HOST).T)):
        taken = host.ravel()[PLACES]
        assert gpuarray.subset_sum(gpu(PLACES), a).get() == taken.sum()
        assert gpuarray.subset_min(gpu(PLACES, "int32"), a).get() == taken.min()
        assert gpuarray.subset_max(gpu(PLACES), a).get() == taken.max()
        assert gpuarray.subset_dot(gpu(PLACES), a, a).get() == (taken * taken).sum()


def test_reductions_run_on_stream_argument() -> None:
    stream, a, positions = PyGPU.Stream(), gpu([1.0, 2.0]), gpu([1])
    for name in ("sum", "min", "max", "any", "all"):
        assert getattr(gpuarray, name)(a, stream=stream).shape == ()
    assert a.any(stream=stream).get()
    assert a.all(stream=stream).get()
    assert gpuarray.dot(a, a, stream=stream).get() == 5
    assert gpuarray.subset_sum(positions, a, stream=stream).get() == 2


def test_concatenate_and_stack_match_numpy() -> None:
    a = gpu(HOST)
    np.testing.assert_array_equal(gpuarray.concatenate([a, a], 1).get(), np.concatenate([HOST, HOST], 1))
    np.testing.assert_array_equal(gpuarray.stack((a, a), axis=-1).get(), np.stack((HOST, HOST), axis=-1))
    with pytest.raises(ValueError, match="need at least one"):
        gpuarray.stack([])


class Counting:
    """Define an allocator that takes memory from a pool, and counts its calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, nbytes: int) -> PyGPU.GPUArray:
        self.count += 1
        with PyGPU.using_allocator(None):
            return PyGPU.empty(nbytes, np.uint8)


OPERATIONS: dict[str, Callable[[PyGPU.GPUArray], PyGPU.GPUArray]] = {
    "a + 1": lambda a: a + 1,
    "1 - a": lambda a: 1 - a,
    "sin": lambda a: PyGPU.sin(a),
    "sum": lambda a: a.sum(),
    "gpuarray.sum": lambda a: gpuarray.sum(a),
    "dot": lambda a: gpuarray.dot(a, a),
    "copy": lambda a: a.copy(),
    "astype": lambda a: a.astype("float32"),
    "flatten": lambda a: a.flatten(),
    "reverse": lambda a: a.reverse(),
    "empty_like": lambda a: PyGPU.empty_like(a),
    "zeros_like": lambda a: PyGPU.zeros_like(a),
    "a[[0, 1]]": lambda a: a[[0, 1]],
    "mul_add": lambda a: a.mul_add(2, a, 3),
    "concatenate": lambda a: gpuarray.concatenate([a, a]),
    "roll": lambda a: PyGPU.roll(a, 1),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("is_pool", [False, True])
def test_result_of_reduction_uses_allocator_of_operand(name: str, is_pool: bool) -> None:
    counting = Counting()
    allocator = PyGPU.tools.DeviceMemoryPool().allocate if is_pool else counting
    a = PyGPU.to_gpu(np.arange(6.0).reshape(2, 3), allocator=allocator)
    assert a.allocator is allocator
    assert a[1:].T.allocator is allocator
    count_before = counting.count
    result = OPERATIONS[name](a[:, ::2])
    assert result.allocator is allocator
    if name == "empty_like":
        result.fill(0)
    assert (result + 1).allocator is allocator
    assert is_pool or counting.count >= count_before + 2
    other = OPERATIONS[name](PyGPU.to_gpu(a.get())[:, ::2])
    assert other.allocator is None
    if name not in ("empty_like",):
        np.testing.assert_array_equal(result.get(), other.get())


def test_explicit_or_scoped_allocator_precedes_allocator_of_operands() -> None:
    first, second, third = Counting(), Counting(), Counting()
    a = PyGPU.to_gpu(np.arange(3.0), allocator=first)
    for function in (gpuarray.sum, gpuarray.any, gpuarray.all):
        assert function(a, allocator=second).allocator is second
    assert gpuarray.dot(a, a, allocator=second).allocator is second
    assert gpuarray.concatenate([a, a], allocator=second).allocator is second
    count_before = first.count
    with PyGPU.using_allocator(third):
        made = a + 1
    assert (third.count, first.count, made.allocator) == (1, count_before, None)
    assert (PyGPU.to_gpu(np.arange(3.0), allocator=second) + a).allocator is second


def test_error_of_allocator_is_raised_by_reduction() -> None:
    def allocate(nbytes: int) -> PyGPU.GPUArray:
        if len(sizes) == 1:
            raise MemoryError("no more")
        sizes.append(nbytes)
        return PyGPU.empty(nbytes, np.uint8)

    sizes: list[int] = []
    a = PyGPU.to_gpu(np.arange(3.0), allocator=allocate)
    with pytest.raises(MemoryError, match="no more"):
        a + 1
    assert PyGPU.zeros(3).allocator is None
