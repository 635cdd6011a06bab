"""Test set functions on the device, with and without NaN: results match NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, of_few

PyGPU.device_count()
SEED = random.randrange(1 << 32)
DTYPES = of_few(
    [
        "bool",
        "int8",
        "uint8",
        "int16",
        "int32",
        "uint32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
    ],
    ["bool", "int32", "float32", "complex64"],
)
LENGTHS = [0, 1, 2, 100, 4096, 4097, 20_001]


def generator() -> np.random.Generator:
    print("seed", SEED)
    return np.random.default_rng(SEED)


def values(rng: np.random.Generator, shape: Any, dtype: str, most: int = 50) -> np.ndarray:
    """Return an array of few distinct numbers; floating-point arrays also contain NaN and -0."""
    kind = np.dtype(dtype)
    whole = rng.integers(0, most, shape)
    if kind.kind in "biu":
        return (whole - (most // 2 if kind.kind == "i" else 0)).astype(kind)
    result = (whole / 4).astype(kind)
    if kind.kind == "c":
        result = result + 1j * rng.integers(0, 3, shape)
        result = np.where(rng.random(shape) < 0.05, np.array(complex(np.nan, 1), kind), result).astype(kind)
    result = np.where(rng.random(shape) < 0.1, np.array(np.nan, kind), result)
    return np.where(rng.random(shape) < 0.1, np.array(-0.0, kind), result)


def check(got: Any, expected: Any) -> None:
    several = got if isinstance(got, tuple) else (got,)
    others = expected if isinstance(expected, tuple) else (expected,)
    assert len(several) == len(others)
    for one, other in zip(several, others, strict=True):
        assert isinstance(one, PyGPU.GPUArray)
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", DTYPES)
def test_unique_with_indices_inverse_and_counts_matches_numpy(dtype: str) -> None:
    rng = generator()
    for length in LENGTHS:
        host = values(rng, length, dtype, int(rng.choice([2, 50, 120])))
        array = PyGPU.to_gpu(host)
        check(PyGPU.unique(array), np.unique(host))
        expected = np.unique(host, True, True, True)
        check(PyGPU.unique(array, True, True, True), expected)
        check(PyGPU.unique(array, return_counts=True), (expected[0], expected[3]))
        check(PyGPU.unique(array, return_inverse=True), (expected[0], expected[2]))


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_unique_of_many_distinct_values_matches_numpy(dtype: str) -> None:
    rng = generator()
    host = rng.integers(0, 1 << 30, (7, 3001)).astype(dtype)
    check(PyGPU.unique(PyGPU.to_gpu(host)), np.unique(host))
    check(PyGPU.unique(PyGPU.to_gpu(host), return_inverse=True), np.unique(host, return_inverse=True))


def test_unique_of_300001_elements_matches_numpy() -> None:
    host = generator().integers(0, 250, 300_001).astype("uint8")
    check(PyGPU.unique(PyGPU.to_gpu(host), True, True, True), np.unique(host, True, True, True))


def test_unique_of_any_layout_uses_c_order_of_elements() -> None:
    host = values(generator(), (6, 5, 4), "float32")
    array = PyGPU.to_gpu(host)
    for turn in ((slice(None, None, -1),), (..., slice(None, None, 2)), (slice(0, 0),), (0, 0, 0)):
        check(PyGPU.unique(array[turn], True, True, True), np.unique(host[turn], True, True, True))
    check(PyGPU.unique(array.T, True, True), np.unique(host.T, True, True))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32"])
def test_array_api_unique_functions_return_each_nan_separately(dtype: str) -> None:
    host = values(generator(), (40, 25), dtype)
    array = PyGPU.to_gpu(host)
    got, expected = PyGPU.unique_all(array), np.unique_all(host)
    assert got._fields == expected._fields
    # NumPy does not specify the order of complex NaNs, so only the numbers of results are compared.
    if host.dtype.kind == "c":
        assert got.counts.sum().item() == host.size
        assert got.values.size == expected.values.size
        return
    check(tuple(got), tuple(expected))
    check(tuple(PyGPU.unique_counts(array)), tuple(np.unique_counts(host)))
    once, numbers = PyGPU.unique_inverse(array)
    np.testing.assert_array_equal(once.get()[numbers.get()], host)
    assert len(set(numbers.get()[np.isnan(host)].tolist())) == np.isnan(host).sum()
    check(PyGPU.unique_values(array), np.unique(host, equal_nan=False))
    check(np.unique_values(array), np.unique(host, equal_nan=False))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unique_along_axis_matches_numpy(axis: int) -> None:
    host = generator().integers(0, 2, (30, 4, 3)).astype("int16")
    array = PyGPU.to_gpu(host)
    check(PyGPU.unique(array, True, True, True, axis), np.unique(host, True, True, True, axis))
    check(PyGPU.unique(array, axis=axis), np.unique(host, axis=axis))
    with pytest.raises(np.exceptions.AxisError):
        PyGPU.unique(array, axis=3)
    line = PyGPU.to_gpu(host[:, 0, 0])
    check(PyGPU.unique(line, axis=0), np.unique(host[:, 0, 0]))


@pytest.mark.parametrize(
    "dtypes", of_few([("int32", "int32"), ("float32", "int16"), ("uint8", "int64")], [("float32", "int16")])
)
def test_set_operations_match_numpy(dtypes: tuple[str, str]) -> None:
    rng = generator()
    for sizes in ((40, 30), (1000, 7), (5, 0), (0, 4), (0, 0)):
        x, y = (values(rng, size, dtype) for size, dtype in zip(sizes, dtypes, strict=True))
        a, b = PyGPU.to_gpu(x), PyGPU.to_gpu(y)
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
            check(getattr(PyGPU, name)(a, b), getattr(np, name)(x, y))
        check(PyGPU.intersect1d(a, b, return_indices=True), np.intersect1d(x, y, return_indices=True))
        for invert in (False, True):
            check(PyGPU.isin(a, b, invert=invert), np.isin(x, y, invert=invert))
            check(np.isin(a, b, invert=invert), np.isin(x, y, invert=invert))


def test_set_operations_accept_lists() -> None:
    a = PyGPU.to_gpu(np.array([[1, 2], [3, 4]]))
    assert_same(PyGPU.isin(a, [4, 1, 9]), np.isin(a.get(), [4, 1, 9]))
    assert PyGPU.union1d([9, 1], a).tolist() == [1, 2, 3, 4, 9]
    assert PyGPU.union1d([2], [1]).tolist() == [1, 2]
    with pytest.raises(TypeError, match="no operand is on a device"):
        PyGPU.union1d(np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match="Invalid kind"):
        PyGPU.isin(a, [1], kind="hash")


def test_unique_rejects_dtype_without_order() -> None:
    if PyGPU.backend_name() != "cpu":
        with pytest.raises(TypeError, match="no order"):
            PyGPU.unique(PyGPU.zeros(3, "V4"))


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (2, 0, 2)])
def test_unique_accepts_array_with_axis_of_length_0_like_numpy(shape: tuple[int, ...]) -> None:
    host = np.zeros(shape)
    for axis in range(len(shape)):
        expected = np.unique(host, True, True, True, axis=axis)
        ours = PyGPU.unique(PyGPU.to_gpu(host), True, True, True, axis=axis)
        for one, judges in zip(ours, expected, strict=True):
            assert one.shape == judges.shape
            np.testing.assert_array_equal(one.get(), judges)
