"""Test writes into operands and results of pending operations: the results are as if each operation ran at its call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, waiting
from PyGPU.elementwise import ElementwiseKernel

HOST = np.linspace(-1, 2, 12).reshape(3, 4)
ONES = np.ones((3, 4))
DOUBLED = ElementwiseKernel("double *x", "x[i] = 2 * x[i]", "fusion_doubled")
RAW = """extern "C" __global__ void fusion_tripled(double *x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] = 3 * x[i];
}"""


def into(target: Any, source: Any) -> None:
    target[1:] = source[1:]


def by_kernel(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        DOUBLED(x)
    else:
        x *= 2


def by_raw_kernel(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        PyGPU.Kernel(RAW, "fusion_tripled")[1, 32](x, np.int32(x.size))
    else:
        x *= 3


def by_address(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        PyGPU.driver.memcpy_htod(x.ptr, ONES)
    else:
        x[...] = ONES


def by_gpudata(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        PyGPU.driver.memset_d8(x.gpudata, 0, x.nbytes)
    else:
        x[...] = 0


def uploaded(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        x.set(ONES)
    else:
        x[...] = ONES


def added(function: Any, x: Any) -> None:
    function.add(x, 1, out=x)


def under_a_mask(function: Any, x: Any) -> None:
    mask = x > 0
    function.add(x, 5, out=x, where=mask)


def other_stream(x: Any) -> None:
    if isinstance(x, PyGPU.GPUArray):
        with PyGPU.Stream(non_blocking=True):
            x.fill(7)
    else:
        x.fill(7)


# Writes into the array `x`. The first argument is the module that provides the functions, PyGPU or NumPy.
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "+=": lambda _, x: x.__iadd__(1),
    "+= itself": lambda _, x: x.__iadd__(x),
    "*= of a view": lambda _, x: x[1:].__imul__(3),
    "+= of the transposed": lambda _, x: x.T.__iadd__(1),
    "out": added,
    "out and where": under_a_mask,
    "fill": lambda _, x: x.fill(9),
    "a number in a slice": lambda _, x: x.__setitem__((slice(None), 2), 4),
    "a number everywhere": lambda _, x: x.__setitem__(Ellipsis, 4),
    "itself reversed": lambda _, x: x.__setitem__(Ellipsis, x[::-1]),
    "an expression of itself": lambda _, x: x.__setitem__(Ellipsis, x * 2 + 1),
    "an expression in a slice": lambda _, x: into(x, x * 2 + 1),
    "a mask": lambda _, x: x.__setitem__(x > 0, 3),
    "copyto": lambda function, x: function.copyto(x, x[::-1].copy()),
    "clip": lambda _, x: x.clip(0, 1, out=x),
    "cumsum": lambda _, x: x.cumsum(0, out=x),
    "sort": lambda _, x: x.sort(),
    "put": lambda _, x: x.put(np.array([1, 2]), 8.0),
    "at": lambda function, x: function.add.at(x, np.array([0, 0]), 1),
    "kernel of a text": lambda _, x: by_kernel(x),
    "kernel of a source": lambda _, x: by_raw_kernel(x),
    "copy to the address": lambda _, x: by_address(x),
    "memset of gpudata": lambda _, x: by_gpudata(x),
    "upload": lambda _, x: uploaded(x),
    "another stream": lambda _, x: other_stream(x),
    "divmod": lambda function, x: function.divmod(x, 2, out=(x, None)),
}


@pytest.mark.parametrize("write", WRITES)
def test_write_into_operand_does_not_change_earlier_pending_results(write: str) -> None:
    twin = HOST.copy()
    x = PyGPU.to_gpu(twin)
    reverse = x[::-1]
    y, expected = x * 3 - x, twin * 3 - twin
    view, of_view = reverse + 2, twin[::-1] + 2
    assert waiting() == 3
    WRITES[write](PyGPU, x)
    WRITES[write](np, twin)
    after, wanted_after = x * 2, twin * 2
    np.testing.assert_array_equal(y.get(), expected)
    np.testing.assert_array_equal(view.get(), of_view)
    np.testing.assert_array_equal(after.get(), wanted_after)
    np.testing.assert_array_equal(x.get(), twin)


@pytest.mark.parametrize("write", WRITES)
def test_write_into_pending_result_gives_same_values_as_numpy(write: str) -> None:
    first = PyGPU.to_gpu(HOST)
    x, twin = first + 1, HOST + 1
    y, expected = x * 3, twin * 3
    assert waiting() == 2
    WRITES[write](PyGPU, x)
    WRITES[write](np, twin)
    np.testing.assert_array_equal(x.get(), twin)
    np.testing.assert_array_equal(y.get(), expected)
    np.testing.assert_array_equal(first.get(), HOST)


def test_alternating_pending_writes_and_reads_run_in_program_order() -> None:
    twin = HOST.copy()
    x = PyGPU.to_gpu(twin)
    kept, expected = [], []
    for number in range(12):
        kept.append(x * number)
        expected.append(twin * number)
        x += kept[-1]
        twin += expected[-1]
        x[number % 3] = number
        twin[number % 3] = number
    for got, host in zip(kept, expected, strict=True):
        np.testing.assert_array_equal(got.get(), host)
    np.testing.assert_array_equal(x.get(), twin)


def test_pending_writes_overlapping_their_operands_match_numpy() -> None:
    twin = np.arange(20.0)
    x = PyGPU.to_gpu(twin)
    x[1:] += x[:-1] * 2
    twin[1:] += twin[:-1] * 2
    np.testing.assert_array_equal(x.get(), twin)
    x[::-1] += x + 1
    twin[::-1] += twin + 1
    np.testing.assert_array_equal(x.get(), twin)
    x[:-1] = x[1:] - x[:-1]
    twin[:-1] = twin[1:] - twin[:-1]
    np.testing.assert_array_equal(x.get(), twin)


@pytest.mark.parametrize("value", [3.0, HOST], ids=["a number", "an array of the host"])
def test_write_that_cannot_be_deferred_is_counted_as_eager_operation(value: Any) -> None:
    x, other = PyGPU.to_gpu(HOST), PyGPU.to_gpu(HOST)
    kept = other + 1
    counted = OperationCounts()
    x[...] = value
    assert (waiting(), counted["closed"]) == (0, {"operation": 1})
    np.testing.assert_array_equal(kept.get(), HOST + 1)
    np.testing.assert_array_equal(x.get(), np.broadcast_to(value, HOST.shape))


def test_user_kernel_reads_and_writes_pending_result() -> None:
    x = PyGPU.to_gpu(HOST)
    y = x + 1
    DOUBLED(y)
    np.testing.assert_array_equal(y.get(), (HOST + 1) * 2)


def test_user_kernel_with_raw_address_leaves_no_pending_operations() -> None:
    driver = simulated_driver.driver()
    x = PyGPU.to_gpu(HOST)
    y = PyGPU.to_gpu(HOST)
    kernel = PyGPU.Kernel(RAW, "fusion_tripled")
    address = y.ptr
    kept = x + 1
    assert waiting() == 1
    kernel[1, 32](np.uintp(address), np.int32(y.size))
    assert waiting() == 0
    np.testing.assert_array_equal(kept.get(), HOST + 1)
    np.testing.assert_array_equal(y.get(), HOST * 3)
    if driver is not None:
        driver.forget_reports()  # The simulated driver reports the integer that was passed as an address.
