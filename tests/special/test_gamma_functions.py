"""Test gamma functions at many operands: each path of `rgamma` and `digamma` in float64, and their limits."""

from __future__ import annotations

import math

import numpy as np

import PyGPU
from PyGPU import special

EULER = 0.57721566490153286061


def test_rgamma_matches_reciprocal_of_gamma() -> None:
    random = np.random.default_rng(0)
    spread = [random.uniform(low, high, 2000) for low, high in ((-0.6, 2.6), (-6, 30), (-32, 32), (-165, 165))]
    x = np.concatenate([*spread, -np.arange(30) + 1e-9, np.arange(1.0, 100), np.arange(60) / 2 + 0.25])
    expected = [1 / math.gamma(one) for one in x]
    np.testing.assert_allclose(special.rgamma(PyGPU.to_gpu(x)).get(), expected, rtol=4e-15)


def test_rgamma_at_poles_and_limits_matches_scipy() -> None:
    x = np.array([0.0, -1, -2, -29, -30, -31, -171, np.inf, 1e300, 5e-324, -1e-310, np.nan])
    expected = [0.0] * 9 + [5e-324, -1e-310, np.nan]
    np.testing.assert_array_equal(special.rgamma(PyGPU.to_gpu(x)).get(), expected)


def test_digamma_matches_harmonic_numbers() -> None:
    x = np.arange(1.0, 80)
    harmonic = [math.fsum([1 / k for k in range(1, int(one))]) - EULER for one in x]
    np.testing.assert_allclose(special.digamma(PyGPU.to_gpu(x)).get(), harmonic, rtol=2e-15)
    halves = [math.fsum([2 / (2 * k - 1) for k in range(1, int(one) + 1)]) - EULER - math.log(4) for one in x]
    np.testing.assert_allclose(special.digamma(PyGPU.to_gpu(x + 0.5)).get(), halves, rtol=2e-15, atol=5e-16)


def test_digamma_satisfies_recurrence_across_its_paths() -> None:
    random = np.random.default_rng(1)
    x = np.concatenate([random.uniform(0.05, 1, 4000), random.uniform(1, 12, 4000), 10 ** random.uniform(0, 19, 2000)])
    lower, upper = special.digamma(PyGPU.to_gpu(x)).get(), special.digamma(PyGPU.to_gpu(x + 1)).get()
    np.testing.assert_allclose(lower + 1 / x, upper, rtol=2e-15, atol=2e-14)
    small = 10 ** -random.uniform(4, 19, 1000)
    expected = -1 / small - EULER + math.pi**2 / 6 * small - 1.2020569031595943 * small**2
    np.testing.assert_allclose(special.digamma(PyGPU.to_gpu(small)).get(), expected, rtol=1e-15)


def test_digamma_near_its_zero_and_at_limits() -> None:
    zero = 1.4616321449683623
    # The slope at the zero is 0.96767; the exact zero is 1.5e-17 from the float64.
    slope = special.digamma(PyGPU.to_gpu(np.array([zero - 1e-9, zero + 1e-9]))).get() / 1e-9
    np.testing.assert_allclose(slope, [-0.967672, 0.967672], rtol=1e-6)
    limits = special.digamma(PyGPU.to_gpu(np.array([np.inf, 1e18, 1e300, 1e-300, 0.0, -0.0, -1.0, np.nan]))).get()
    expected = [np.inf, math.log(1e18), math.log(1e300), -1e300, -np.inf, np.inf, np.nan, np.nan]
    np.testing.assert_allclose(limits, expected, rtol=1e-15)
