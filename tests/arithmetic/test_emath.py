"""Test `emath` functions, such as the square root of a negative number: values and dtypes match `numpy.emath`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import of_few

UNARY = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "sqrt"]
VALUES = {
    "inside": np.array([0.25, 0.5, 0.75]),
    "negative": np.array([0.5, -0.25, -3.0]),
    "beyond_1": np.array([0.5, 2.0]),
    "nan": np.array([np.nan, 0.5]),
    "no_axes": np.array(-4.0),
    "none": np.array([]),
}
DTYPES = of_few(
    ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"],
    ["int32", "float32", "complex128"],
)
TOLERANCE = {"e": 2e-3, "f": 1e-5, "F": 1e-5}


def assert_near(got: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert isinstance(got, PyGPU.GPUArray)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    tolerance = TOLERANCE.get(expected.dtype.char, 1e-12)
    np.testing.assert_allclose(got.get(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", UNARY)
def test_emath_function_matches_numpy(name: str, values: str) -> None:
    for dtype in DTYPES:
        with np.errstate(all="ignore"):
            host = VALUES[values].astype(dtype)
            if dtype.startswith("int") or dtype == "uint16":
                host = host * 2
            expected = getattr(np.emath, name)(host)
            if not np.isfinite(expected).all() and expected.dtype.kind == "c":
                continue  # Mathematical libraries give different results for complex functions of infinities.
            assert_near(getattr(PyGPU.emath, name)(PyGPU.to_gpu(host)), expected)
            assert_near(getattr(np.emath, name)(PyGPU.to_gpu(host)), expected)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_emath_power_and_logn_match_numpy(dtype: str) -> None:
    for x in ([1, 2, 3], [4, -2, 1]):
        host = np.array(x, dtype)
        device = PyGPU.to_gpu(host)
        for p in (2, -2, 0.5, np.float64(-1.5)):
            assert_near(PyGPU.emath.power(device, p), np.emath.power(host, p))
            if p != -2:
                assert_near(PyGPU.emath.logn(p, device), np.emath.logn(p, host))
        assert_near(np.emath.power(device, device), np.emath.power(host, host))


def test_emath_rejects_host_array_and_text() -> None:
    with pytest.raises(TypeError, match="host memory"):
        PyGPU.emath.sqrt(np.ones(3))
    with pytest.raises(TypeError):
        PyGPU.emath.sqrt("text")
    assert PyGPU.emath.sqrt(-1).tolist() == 1j
    assert PyGPU.lib.scimath.sqrt is PyGPU.emath.sqrt
