"""Test the accuracy of erf, erfc, gamma, lgamma, sinc and i0 in units in the last place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import PyGPU
from gpu import support
from PyGPU._host_arrays import elementwise_functions

IS_SIMULATED = PyGPU.backend_name() != "cpu" and support.is_simulated()
# Largest error of each function in units in the last place, as stated in the manuals of CUDA and ROCm.
ULPS = {"erf": 2, "erfc": 5, "gamma": 11, "lgamma": 8}
RANGES = {"erf": (-4, 4), "erfc": (-3, 9), "gamma": (0.05, 30), "lgamma": (3, 200)}


def exact(name: str, host: np.ndarray) -> np.ndarray:
    function: Any = getattr(math, name)
    return np.array([function(float(one)) for one in host])


def ulps(actual: np.ndarray, expected: np.ndarray) -> float:
    wide = np.abs(actual.astype("float64") - expected)
    return float((wide / np.spacing(np.abs(expected).astype(actual.dtype)).astype("float64")).max())


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ULPS)
def test_special_functions_stay_within_documented_error_in_ulps(name: str, kind: str) -> None:
    host = np.linspace(*RANGES[name], 1001).astype(kind)
    with np.errstate(over="ignore"):
        expected = exact(name, host)
        fits = np.abs(expected) < np.finfo(kind).max
        # For results below the smallest normal number, units in the last place are not meaningful.
        fits &= np.abs(expected) > np.finfo(kind).tiny
    actual = getattr(PyGPU, name)(PyGPU.to_gpu(host)).get()
    assert actual.dtype == host.dtype
    assert ulps(actual[fits], expected[fits]) <= (1 if kind == "float16" else ULPS[name])


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("erf", [0.0, np.inf, -np.inf, np.nan], [0.0, 1.0, -1.0, np.nan]),
        ("erfc", [0.0, np.inf, -np.inf, np.nan], [1.0, 0.0, 2.0, np.nan]),
        (
            "gamma",
            [0.0, np.inf, 1.0, 5.0, -0.5, 200.0, np.nan],
            [np.inf, np.inf, 1.0, 24.0, -3.5449077018, np.inf, np.nan],
        ),
        (
            "lgamma",
            [0.0, np.inf, 1.0, 2.0, -1.0, -0.5, np.nan],
            [np.inf, np.inf, 0.0, 0.0, np.inf, 1.2655121235, np.nan],
        ),
        ("sinc", [0.0, 1.0, -2.0, 0.5, np.nan], [1.0, 0.0, 0.0, 0.6366197724, np.nan]),
        ("i0", [0.0, 1.0, -1.0, 10.0, np.nan], [1.0, 1.2660658778, 1.2660658778, 2815.716628, np.nan]),
    ],
)
def test_special_functions_return_limits_at_infinity_and_poles(
    name: str, arguments: list[float], expected: list[float]
) -> None:
    actual = getattr(PyGPU, name)(PyGPU.to_gpu(np.array(arguments, "float32"))).get()
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("name", ["sinc", "i0"])
def test_numpy_sinc_and_i0_of_device_array_match_host_result(name: str) -> None:
    host = np.linspace(-20, 20, 201)
    array = PyGPU.to_gpu(host)
    for function in (getattr(PyGPU, name), getattr(np, name)):
        np.testing.assert_allclose(function(array).get(), getattr(np, name)(host), rtol=1e-13, atol=4e-16)
    assert getattr(PyGPU, name)(PyGPU.to_gpu(np.ones(2, "int8"))).dtype == np.float64


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("name", ULPS)
def test_special_functions_without_compiler_use_module_math(name: str) -> None:
    host = np.array([0.5, 1.5, 4.0, 300.0])
    out = np.zeros(4, "float32")
    getattr(elementwise_functions, name)(host, out=(out,), where=np.array([True, True, True, False]))
    np.testing.assert_allclose(out[:3], exact(name, host[:3]), rtol=1e-6)
    assert out[3] == 0
    assert getattr(PyGPU, name)(PyGPU.to_gpu(host, device="cpu")).dtype == np.float64
