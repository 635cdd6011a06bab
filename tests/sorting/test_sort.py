"""Test stable ``sort`` and ``argsort`` along any axis of any layout: results match NumPy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from PyGPU._host_arrays import sorting
from support import assert_same, assert_same_refusal, outcome

PyGPU.device_count()
# Only a few cases of each kind run on a simulated GPU, because a simulated GPU compiles each kernel as a host program.
IS_SIMULATED = simulated_driver.driver() is not None
WHOLE = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
KINDS = [*WHOLE, "float16", "float32", "float64", "complex64", "complex128"]
FEW = ["bool", "int8", "float16", "float32", "uint64", "complex64", "complex128"]
RNG = np.random.default_rng(5)


def values(shape: int | tuple[int, ...], dtype: str) -> np.ndarray:
    """Return an array with many equal numbers; floating-point arrays contain NaN, infinities and signed zeros."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return RNG.integers(0, 2, shape).astype(bool)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        few = RNG.integers(0, 5, shape).astype(kind)
        any_ = RNG.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
        return np.where(RNG.random(shape) < 0.3, few, any_)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 1e-7])

    def part() -> np.ndarray:
        return np.where(RNG.random(shape) < 0.4, RNG.choice(special, shape), RNG.standard_normal(shape))

    if kind.kind == "f":
        return part().astype(kind)
    result = np.empty(shape, kind)
    result.real, result.imag = part(), part()
    return result


def check(host: np.ndarray, array: PyGPU.GPUArray, axis: Any = -1) -> None:
    ordered, order = PyGPU.sort(array, axis), PyGPU.argsort(array, axis)
    assert (ordered.dtype, order.dtype) == (host.dtype, np.int64)
    np.testing.assert_array_equal(ordered.get(), np.sort(host, axis))
    np.testing.assert_array_equal(order.get(), np.argsort(host, axis, kind="stable"))


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", FEW if IS_SIMULATED else KINDS)
@pytest.mark.parametrize("length", [0, 1, 2, 17, 512, 513, 2048, 2049, 20001])
def test_sort_of_any_length_matches_numpy(length: int, dtype: str) -> None:
    host = values(length, dtype)
    check(host, PyGPU.to_gpu(host))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("length", [9, 700, 15000])
@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_sort_along_any_axis_of_any_layout_matches_numpy(length: int, dtype: str) -> None:
    host = values((3, length, 2), dtype)
    array = PyGPU.to_gpu(host)
    for axis in (0, 1, -1, None):
        check(host, array, axis)
    for turn in ((..., slice(None, None, -1)), (slice(None, None, 2),)):
        check(host[turn], array[turn], 1)
    check(host.T, array.T, 1)
    check(np.asfortranarray(host), PyGPU.to_gpu(np.asfortranarray(host)), 1)
    check(np.broadcast_to(host[:1], host.shape), PyGPU.broadcast_to(array[:1], host.shape), 1)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32"])
@pytest.mark.parametrize("length", [50, 3000])
def test_descending_sort_puts_nan_last(length: int, dtype: str) -> None:
    host = values(length, dtype)
    order = PyGPU.argsort(PyGPU.to_gpu(host), descending=True).get()
    np.testing.assert_array_equal(order, sorting.argsort(host, 0, True))
    assert sorted(order) == list(range(length))
    np.testing.assert_array_equal(PyGPU.sort(PyGPU.to_gpu(host), descending=True).get(), host[order])


def test_descending_argsort_is_stable() -> None:
    host = np.array([2.0, np.nan, 1.0, 2.0, np.nan, -np.inf])
    assert PyGPU.argsort(PyGPU.to_gpu(host), descending=True).tolist() == [0, 3, 2, 5, 1, 4]
    assert PyGPU.argsort(PyGPU.to_gpu(host)).tolist() == [5, 2, 0, 3, 1, 4]


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
@pytest.mark.parametrize("length", [100, 5000])
def test_in_place_sort_does_not_change_address_of_array(length: int, dtype: str) -> None:
    host = values((2, length), dtype)
    array = PyGPU.to_gpu(host)
    address = array.ptr
    assert array.sort() is None
    assert array.ptr == address
    np.testing.assert_array_equal(array.get(), np.sort(host))
    whole = PyGPU.to_gpu(host)
    part, expected = whole[::-1, 5:-3:2], host.copy()
    part.sort(axis=0)
    expected[::-1, 5:-3:2].sort(axis=0)
    np.testing.assert_array_equal(whole.get(), expected)


def test_signs_of_zeros_are_unchanged_by_sort() -> None:
    host = np.array([0.0, -0.0, 1.0, -0.0], np.float32)
    signs = np.signbit(PyGPU.sort(PyGPU.to_gpu(host)).get())
    assert signs.sum() == 2
    pairs = np.array([1, complex(-0.0, 1), complex(0.0, -1)], np.complex64)
    got = PyGPU.sort(PyGPU.to_gpu(pairs)).get()
    np.testing.assert_array_equal(got, np.sort(pairs))
    assert np.signbit(got.real).sum() == 1


def test_numpy_sort_functions_dispatch_to_device() -> None:
    array = PyGPU.to_gpu(np.array([3, 1, 2]))
    for function in (np.sort, np.argsort):
        ordered = function(array)
        assert isinstance(ordered, PyGPU.GPUArray)
        np.testing.assert_array_equal(ordered.get(), function(array.get()))


def test_sort_rejects_0d_array_without_axis_none() -> None:
    a = PyGPU.to_gpu(np.float32(1))
    for call in (PyGPU.sort, operator.methodcaller("sort")):
        with pytest.raises(IndexError):
            call(a)
    assert PyGPU.sort(a, axis=None).tolist() == [1]


@pytest.mark.parametrize("axis", [-1, 0, None, 1, -2])
@pytest.mark.parametrize("name", ["sort", "argsort", "partition", "argpartition"])
def test_sort_functions_accept_0d_array_like_numpy(name: str, axis: int | None) -> None:
    host = np.array(7, "float32")
    arguments = (0, axis) if "partition" in name else (axis,)
    array = PyGPU.to_gpu(host)
    function, counterpart = getattr(PyGPU, name), getattr(np, name)
    assert_same_outcome(outcome(lambda: function(array, *arguments)), outcome(lambda: counterpart(host, *arguments)))
    if name.startswith("arg"):
        method = operator.methodcaller(name, *arguments)
        assert_same_outcome(outcome(lambda: method(array)), outcome(lambda: method(host)))


def assert_same_outcome(ours: tuple[str, Any], numpys: tuple[str, Any]) -> None:
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert_same(ours[1], numpys[1])


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_partition_of_no_elements_accepts_any_position(shape: tuple[int, ...]) -> None:
    host = np.zeros(shape, "int32")
    array = PyGPU.to_gpu(host)
    assert_same(PyGPU.partition(array, 5, axis=0), np.partition(host, 5, axis=0))
    assert_same(PyGPU.argpartition(array, -9), np.argpartition(host, -9))
    array.partition(3)
    with pytest.raises(TypeError, match="must be integer"):
        array.partition(1.5)  # type: ignore[arg-type]


def test_rejected_sort_leaves_array_unchanged() -> None:
    a = PyGPU.to_gpu(np.array([3, 1, 2]))
    with pytest.raises(IndexError):
        PyGPU.sort(a, axis=1)
    with pytest.raises(ValueError, match="kind must be one of"):
        PyGPU.sort(a, kind="bubble")
    with pytest.raises(ValueError, match="no fields"):
        a.sort(order="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.broadcast_to(a, (2, 3)).sort()
    with pytest.raises(TypeError, match="no order"):
        PyGPU.sort(PyGPU.zeros(3, "V4"))
    assert a.tolist() == [3, 1, 2]
