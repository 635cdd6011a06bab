"""Test `average` and `norm`: results and errors match NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver

PyGPU.device_count()
IS_SIMULATED = simulated_driver.driver() is not None
RNG = np.random.default_rng(23)


def check(ours: Any, expected: Any) -> None:
    got, expected = ours.get(), np.asarray(expected)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    exact = 100 * float(np.finfo(expected.dtype).eps)
    np.testing.assert_allclose(got, expected, rtol=exact, atol=exact)


@pytest.mark.parametrize("dtype", ["float32"] if IS_SIMULATED else ["int32", "float32", "float64", "complex64"])
def test_average_with_weights_matches_numpy(dtype: str) -> None:
    host = RNG.integers(1, 9, (3, 4, 5)).astype(dtype)
    array = PyGPU.to_gpu(host)
    for axis in (None, 1, (0, 2), (2, 0)):
        check(PyGPU.average(array, axis), np.average(host, axis))
        lengths = host.shape if axis is None else tuple(host.shape[one] for one in np.atleast_1d(axis))
        weights = RNG.uniform(1, 2, lengths).astype("float32")
        ours = PyGPU.average(array, axis, PyGPU.to_gpu(weights), returned=True, keepdims=True)
        for got, expected in zip(ours, np.average(host, axis, weights, returned=True, keepdims=True), strict=True):
            check(got, expected)
        check(np.average(array, axis, PyGPU.to_gpu(weights)), np.average(host, axis, weights))
    for got, expected in zip(PyGPU.average(array, 1, returned=True), np.average(host, 1, returned=True), strict=True):
        check(got, expected)


def test_average_rejects_weights_of_wrong_shape_sum_or_type() -> None:
    array, weights = PyGPU.ones((2, 3)), PyGPU.ones(3)
    with pytest.raises(TypeError, match="Axis must be specified"):
        PyGPU.average(array, weights=weights)
    with pytest.raises(ValueError, match="consistent"):
        PyGPU.average(array, 0, weights)
    with pytest.raises(ZeroDivisionError, match="sum to zero"):
        PyGPU.average(array, 1, PyGPU.zeros(3))
    with pytest.raises(TypeError, match="to_gpu"):
        PyGPU.average(array, 1, np.ones(3))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "dtype", ["float32"] if IS_SIMULATED else ["int32", "float16", "float32", "float64", "complex64"]
)
def test_norm_matches_numpy(dtype: str) -> None:
    host = (RNG.standard_normal((4, 5)) * 3 + (1j if dtype[0] == "c" else 0)).astype(dtype)
    array = PyGPU.to_gpu(host)
    norm = np.linalg.norm
    for order in (None, 0, 1, 2, 3, math.inf, -math.inf):
        for keepdims in (False, True):
            check(PyGPU.norm(array, order, 1, keepdims), norm(host, order, 1, keepdims))
        if not IS_SIMULATED:
            check(PyGPU.norm(array, order, 0), norm(host, order, 0))
            check(PyGPU.norm(array[0], order), norm(host[0], order))
    for order in (None, "fro", 1, -1, math.inf, -math.inf):
        for keepdims in (False, True):
            check(PyGPU.norm(array, order, keepdims=keepdims), norm(host, order, keepdims=keepdims))
    check(PyGPU.norm(PyGPU.to_gpu(host.reshape(2, 2, 5))), norm(host.reshape(2, 2, 5)))


def test_norm_rejects_unknown_order_and_axes() -> None:
    array = PyGPU.ones((2, 3, 4))
    for order, axis, error in (
        (1, None, ValueError),
        ("fro", 0, ValueError),
        (3, (0, 1), ValueError),
        (None, (1, 1), ValueError),
        (None, 3, (ValueError, IndexError)),
    ):
        with pytest.raises(error):
            PyGPU.norm(array, order, axis)
