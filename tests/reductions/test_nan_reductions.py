"""Test reductions that ignore NaN, bitwise reductions and `ptp`: results match NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver

PyGPU.device_count()
IS_SIMULATED = simulated_driver.driver() is not None
RNG = np.random.default_rng(17)
NAMES = ["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"]


def with_nan(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    host = RNG.uniform(0.5, 1.5, shape).astype(dtype)
    if dtype[0] in "fc":
        host[RNG.integers(0, 3, shape) == 0] = np.nan
    return host


def check(ours: Any, expected: Any, dtype: str) -> None:
    got, expected = ours.get(), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    exact = 40 * float(np.finfo("float16" if dtype == "float16" else "float32").eps)
    np.testing.assert_allclose(got, expected, rtol=exact, atol=exact)


@pytest.mark.parametrize("name", NAMES)
def test_nan_reductions_ignore_nan(name: str) -> None:
    kinds = ["float32", "int16"] if IS_SIMULATED else ["float16", "float32", "float64", "complex64", "int16", "bool"]
    for dtype in kinds:
        if dtype[0] == "c" and name in ("nanmin", "nanmax"):
            continue
        host = with_nan((6, 70), dtype)
        host[2] = np.nan if dtype[0] in "fc" else 1
        array = PyGPU.to_gpu(host)
        for axis in (1,) if IS_SIMULATED else (None, 0, 1, (0, 1)):
            for keepdims in (False, True):
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    expected = getattr(np, name)(host, axis=axis, keepdims=keepdims)
                    check(getattr(PyGPU, name)(array, axis=axis, keepdims=keepdims), expected, dtype)
                    check(getattr(np, name)(array, axis=axis, keepdims=keepdims), expected, dtype)


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
def test_nanargmin_and_nanargmax_return_index_of_non_nan_element(name: str) -> None:
    host = RNG.integers(0, 4, (6, 50)).astype("float32")
    host[RNG.integers(0, 3, host.shape) == 0] = np.nan
    host[1, 1:] = np.nan
    host[1, 0] = np.inf
    for twin in (host, host.T.copy()):
        twin[0, 0] = 9
        for axis in (1,) if IS_SIMULATED else (None, 0, 1):
            for keepdims in (False, True):
                got = getattr(PyGPU, name)(PyGPU.to_gpu(twin), axis=axis, keepdims=keepdims).get()
                np.testing.assert_array_equal(got, getattr(np, name)(twin, axis=axis, keepdims=keepdims))
    host[3] = np.nan
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        getattr(PyGPU, name)(PyGPU.to_gpu(host), axis=1)


def test_nan_reductions_accept_axis_keepdims_where_and_out() -> None:
    host, mask = with_nan((4, 9), "float64"), RNG.integers(0, 2, (4, 9)).astype(bool)
    host[:, 0], mask[:, 0] = 1, True
    array, ours = PyGPU.to_gpu(host), PyGPU.to_gpu(mask)
    check(PyGPU.nansum(array, 1, initial=2, where=ours), np.nansum(host, 1, initial=2, where=mask), "float64")
    check(PyGPU.nanmax(array, 1, initial=1, where=ours), np.nanmax(host, 1, initial=1, where=mask), "float64")
    check(PyGPU.nanmean(array, 1, where=ours), np.nanmean(host, 1, where=mask), "float64")
    out = PyGPU.zeros(4)
    assert PyGPU.nanvar(array, 1, None, out, 1) is out
    check(out, np.nanvar(host, 1, ddof=1), "float64")


def test_nanvar_of_values_far_from_zero_is_accurate() -> None:
    host = (RNG.standard_normal((32, 128)) + 1e4).astype("float32")
    host[:, ::5] = np.nan
    exact = np.nanvar(host.astype("float64"), axis=1)
    np.testing.assert_allclose(
        PyGPU.nanvar(PyGPU.to_gpu(host), axis=1).get(), exact, rtol=1e-3 if IS_SIMULATED else 1e-2
    )


@pytest.mark.parametrize("dtype", ["uint8"] if IS_SIMULATED else ["bool", "int8", "uint8", "int64", "uint64"])
def test_bitwise_reductions_match_numpy(dtype: str) -> None:
    host = RNG.integers(0, 100, (5, 40)).astype(dtype)
    array = PyGPU.to_gpu(host)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor"):
        numpys, ours = getattr(np, name), getattr(PyGPU, name)
        for axis in (1,) if IS_SIMULATED else (0, 1, None):
            np.testing.assert_array_equal(ours.reduce(array, axis).get(), numpys.reduce(host, axis))
            expected = numpys.reduce(host, axis=axis, keepdims=True)
            np.testing.assert_array_equal(numpys.reduce(array, axis=axis, keepdims=True).get(), expected)
        expected = numpys.reduce(host[:0], axis=0)
        got = ours.reduce(array[:0], axis=0).get()
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(TypeError):
        PyGPU.bitwise_or.reduce(PyGPU.zeros(3))


def test_logical_reductions_accept_initial_value() -> None:
    host = np.zeros((2, 5), "int32")
    array = PyGPU.to_gpu(host)
    for name in ("logical_or", "logical_xor") if IS_SIMULATED else ("logical_or", "logical_and", "logical_xor"):
        expected = getattr(np, name).reduce(host, axis=1, initial=True)
        np.testing.assert_array_equal(getattr(PyGPU, name).reduce(array, axis=1, initial=True).get(), expected)


@pytest.mark.parametrize(
    "dtype", ["int8", "float32"] if IS_SIMULATED else ["int8", "uint8", "int64", "float16", "float32"]
)
def test_ptp_matches_numpy(dtype: str) -> None:
    host = RNG.integers(0, 100, (5, 40)).astype(dtype)
    if dtype == "float32":
        host[1, 1] = np.nan
    array = PyGPU.to_gpu(host)
    for axis in (1,) if IS_SIMULATED else (None, 0, 1):
        expected = np.ptp(host, axis=axis, keepdims=True)
        for got in (PyGPU.ptp(array, axis=axis, keepdims=True).get(), np.ptp(array, axis=axis, keepdims=True).get()):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match="no identity"):
        PyGPU.ptp(array[:0])
    with pytest.raises(TypeError, match="subtract"):
        PyGPU.ptp(array > 1)
