"""Test logarithms near arguments for which rounding of an intermediate result would lose all digits."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU


def by_kernel(function, array):
    """Capture a call into a graph, and return the result of the graph's launch. In a capture, the CPU backend too runs
    PyGPU's kernel instead of NumPy's function."""
    with np.errstate(all="ignore"):
        function(array)
    stream = PyGPU.Stream(non_blocking=True)
    stream.begin_capture()
    with stream:
        result = function(array)
    stream.end_capture().launch(stream)
    stream.synchronize()
    return result.get()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_log2_of_powers_of_two_is_exact(dtype):
    limits = np.finfo(dtype)
    exponents = np.arange(int(limits.minexp), int(limits.maxexp))
    powers = np.ldexp(np.ones(len(exponents), dtype), exponents)
    np.testing.assert_array_equal(by_kernel(PyGPU.log2, PyGPU.to_gpu(powers)), exponents)


def test_log2_of_special_values_matches_numpy():
    values = np.array([0.0, -0.0, -1.0, np.inf, np.nan, 5e-324, 3.0, 0.7])
    with np.errstate(all="ignore"):
        expected = np.log2(values)
    np.testing.assert_allclose(by_kernel(PyGPU.log2, PyGPU.to_gpu(values)), expected, rtol=4e-16)


NEAR_ONE = [1 + 4e-4j, 1 - 3e-6j, 1e-5 + 1j, -1 + 2e-5j, 1 + 0j, 2e-20 - 1j, 0.3 + 0.1j, 40 - 3j, 1e30j]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["log", "log2", "log10"])
def test_complex_logarithm_has_accurate_real_part_near_unit_circle(name, dtype):
    numbers = np.array(NEAR_ONE, dtype)
    expected = getattr(np, name)(numbers.astype("clongdouble"))
    found = by_kernel(getattr(PyGPU, name), PyGPU.to_gpu(numbers))
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found.real, expected.real, rtol=8 * eps, atol=eps**2)
    np.testing.assert_allclose(found.imag, expected.imag, rtol=4 * eps)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["log1p", "arctanh"])
def test_complex_functions_near_their_poles_are_finite(name, dtype):
    numbers = np.array(
        [-1 + 1e-4j, -1 - 4e-6j, 1 + 1e-4j, 1 - 1e-12j, -1.0001 + 1e-5j, -0.5 + 0.1j, 1e-3j, 30 + 2j], dtype
    )
    expected = getattr(np, name)(numbers.astype("clongdouble"))
    found = by_kernel(getattr(PyGPU, name), PyGPU.to_gpu(numbers))
    eps = np.finfo(dtype).eps
    assert (abs(found - expected) <= 8 * eps * abs(expected)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_logaddexp_matches_extended_precision_and_numpys_limits(name, dtype):
    limits = np.finfo(dtype)
    edges = [0.0, -0.0, 1.0, -1.0, 745.5, -745.5, 1e30, limits.max, limits.min, np.inf, -np.inf, np.nan]
    random = np.random.default_rng(0)
    spread = random.uniform(-5, 5, 3000)
    first = np.concatenate([np.repeat(edges, len(edges)), spread, spread]).astype(dtype)
    second = np.concatenate([np.tile(edges, len(edges)), random.uniform(-5, 5, 3000), spread + 1e-3]).astype(dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(first.astype("longdouble"), second.astype("longdouble"))
        limited = expected.astype(dtype)
    operand = PyGPU.to_gpu(second)
    found = by_kernel(lambda array: getattr(PyGPU, name)(array, operand), PyGPU.to_gpu(first))
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(limited))
    np.testing.assert_array_equal(found[~np.isfinite(limited)], limited[~np.isfinite(limited)])
    finite = np.isfinite(limited)
    # exp and exp2 of a GPU have errors of up to 2 ulp. The result is near 0 where they cancel the maximum.
    np.testing.assert_allclose(found[finite], expected[finite], rtol=limits.eps, atol=2 * limits.eps)


LIMITS = [0.0, -0.0, 1.0, -1.0, -2.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1e-310, 2e-300, 1.7e308, 9e307, 1e300]


@pytest.mark.parametrize("log1p", [PyGPU.log1p, PyGPU.special.log1p], ids=["numpy", "scipy"])
def test_log1p_matches_extended_precision_and_limits(log1p):
    random = np.random.default_rng(1)
    exponents = random.uniform(0, 300, 2000)
    spread = [random.uniform(-0.99, 2, 20000), random.uniform(2, 20, 2000), 10**exponents, -(10**-exponents)]
    x = np.concatenate([LIMITS, *spread, -1 + 10 ** -random.uniform(0, 15.9, 2000), 10**-exponents])
    with np.errstate(all="ignore"):
        expected = np.log1p(x.astype("longdouble"))
        found = by_kernel(log1p, PyGPU.to_gpu(x))
    np.testing.assert_allclose(found, expected.astype("float64"), rtol=2.3e-16, atol=0)
    np.testing.assert_array_equal(np.signbit(found[:2]), [False, True])
    finite = np.isfinite(expected) & (expected != 0)
    errors = np.abs(found[finite] - expected[finite]) / np.spacing(np.abs(expected[finite].astype("float64")))
    assert errors.max() < 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logit_matches_extended_precision_and_limits(dtype):
    random = np.random.default_rng(2)
    exponents = random.uniform(0, 323 if dtype == "float64" else 45, 2000)
    near_one = 1 - 10 ** -random.uniform(0, 15, 2000)
    spread = [random.random(20000), 0.5 + random.uniform(-1e-3, 1e-3, 2000), 10**-exponents, near_one]
    with np.errstate(all="ignore"):
        x = np.concatenate([LIMITS, *spread]).astype(dtype)
        wide = x.astype("longdouble")
        odds = (2 * wide - 1) / (1 - wide)
        expected = np.where(np.abs(wide - 0.5) < 0.25, np.log1p(odds), np.log(wide) - np.log1p(-wide)).astype(dtype)
        found = by_kernel(PyGPU.special.logit, PyGPU.to_gpu(x))
    np.testing.assert_allclose(found, expected, rtol=3 * np.finfo(dtype).eps)
