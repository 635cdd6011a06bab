"""Test that real random numbers have exactly the requested distribution.

The tests need many numbers, so only the CPU backend draws them; `test_reproducibility.py` compares the backends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import PyGPU
from distribution_functions import assert_distributed, integrated, log_gamma_density, logit_beta_density, normal

pytestmark = pytest.mark.enough_on("cpu")
PyGPU.device_count()
COUNT = 40_001


def draw(name: str, *parameters: Any, **keywords: Any) -> np.ndarray:
    drawn = getattr(PyGPU.random.default_rng(36), name)(*parameters, size=COUNT, **keywords)
    return drawn.get()


def log_cdf(density: Any, low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the distribution function of a positive number, from the density of its logarithm."""
    cumulative = integrated(density, low, high)
    return lambda values: cumulative(np.log(values))


@pytest.mark.parametrize("shape", [0.1, 0.7, 1.0, 2.5, 300.0])
def test_gamma_numbers_have_gamma_distribution(shape: float) -> None:
    low, high = (-250.0, 5.0) if shape < 1 else (math.log(shape) - 20 / shape**0.5, math.log(shape) + 8 / shape**0.5)
    cumulative = log_cdf(log_gamma_density(shape), low, high)
    assert_distributed(draw("standard_gamma", shape), cumulative)
    assert_distributed(draw("gamma", shape, 3.0) / 3.0, cumulative)
    assert_distributed(draw("chisquare", 2 * shape) / 2, cumulative)
    short = draw("standard_gamma", shape, dtype="float32")
    assert short.dtype == np.float32
    assert_distributed(np.maximum(short, 1e-38), cumulative)


@pytest.mark.parametrize(("a", "b"), [(0.2, 0.4), (1.0, 1.0), (0.5, 4.0), (3.0, 2.0), (200.0, 100.0)])
def test_beta_numbers_have_beta_distribution(a: float, b: float) -> None:
    cumulative = integrated(logit_beta_density(a, b), -120.0 / min(a, 2), 120.0 / min(b, 2))
    values = draw("beta", a, b)
    values = values[values < 1]
    assert values.size > 0.99 * COUNT
    assert_distributed(values, lambda x: cumulative(np.log(x) - np.log1p(-x)))


def test_f_and_t_numbers_transform_to_beta_distribution() -> None:
    # If x is F-distributed with m and n degrees of freedom, m x / n equals b / (1 - b), where b is beta-distributed
    # with m/2 and n/2.
    cumulative = integrated(logit_beta_density(1.5, 4.0), -40.0, 40.0)
    assert_distributed(draw("f", 3, 8), lambda x: cumulative(np.log(x * 3 / 8)))
    constant = math.lgamma(3.0) - math.lgamma(2.5) - 0.5 * math.log(5 * math.pi)
    density = integrated(lambda x: np.exp(constant - 3 * np.log1p(x * x / 5)), -200.0, 200.0)
    assert_distributed(draw("standard_t", 5), density)
    assert_distributed(draw("standard_t", math.inf), normal)


@pytest.mark.parametrize(("df", "nonc"), [(0.7, 3.0), (3.0, 5.0)])
def test_noncentral_chi_square_numbers_match_poisson_mixture(df: float, nonc: float) -> None:
    parts = [
        (math.exp(k * math.log(nonc / 2) - nonc / 2 - math.lgamma(k + 1)), log_gamma_density(df / 2 + k))
        for k in range(60)
    ]
    cumulative = integrated(lambda y: sum(chance * density(y) for chance, density in parts), -60.0, 5.0)
    assert_distributed(draw("noncentral_chisquare", df, nonc), lambda x: cumulative(np.log(x / 2)))
    ratio = draw("noncentral_f", df, 1e9, nonc) * df
    assert_distributed(ratio, lambda x: cumulative(np.log(x / 2)))


SIMPLE: list[tuple[str, tuple[float, ...], Callable[[np.ndarray], np.ndarray]]] = [
    ("standard_cauchy", (), lambda x: 0.5 + np.arctan(x) / math.pi),
    ("gumbel", (1.0, 2.0), lambda x: np.exp(-np.exp(-(x - 1) / 2))),
    ("laplace", (1.0, 2.0), lambda x: 0.5 + 0.5 * np.sign(x - 1) * -np.expm1(-abs(x - 1) / 2)),
    ("logistic", (1.0, 2.0), lambda x: 1 / (1 + np.exp(-(x - 1) / 2))),
    ("lognormal", (1.0, 0.5), lambda x: normal((np.log(x) - 1) / 0.5)),
    ("pareto", (3.0,), lambda x: 1 - (1 + x) ** -3.0),
    ("power", (3.0,), lambda x: x**3),
    ("rayleigh", (2.0,), lambda x: -np.expm1(-(x**2) / 8)),
    ("weibull", (1.5,), lambda x: -np.expm1(-(x**1.5))),
    ("exponential", (2.0,), lambda x: -np.expm1(-x / 2)),
    ("uniform", (-1.0, 3.0), lambda x: (x + 1) / 4),
    ("normal", (1.0, 2.0), lambda x: normal((x - 1) / 2)),
    ("vonmises", (0.0, 0.0), lambda x: (x + math.pi) / (2 * math.pi)),
    ("triangular", (-1.0, 0.0, 3.0), lambda x: np.where(x < 0, (x + 1) ** 2 / 4, 1 - (3 - x) ** 2 / 12)),
]


@pytest.mark.parametrize(("name", "parameters", "cumulative"), SIMPLE, ids=[row[0] for row in SIMPLE])
def test_random_numbers_match_closed_form_distribution_functions(name: str, parameters: Any, cumulative: Any) -> None:
    values = draw(name, *parameters)
    assert values.dtype == np.float64
    assert_distributed(values, cumulative)


@pytest.mark.parametrize("kappa", [1e-6, 0.5, 4.0, 1000.0, 2e6])
def test_vonmises_angles_have_von_mises_distribution(kappa: float) -> None:
    width = min(math.pi, 12 / math.sqrt(kappa))
    points = np.linspace(-width, width, 20_001)
    total = np.exp(kappa * (np.cos(points) - 1)).mean() * 2 * width
    cumulative = integrated(lambda x: np.exp(kappa * (np.cos(x) - 1)) / total, -width, width)
    assert_distributed(draw("vonmises", 0.0, kappa), cumulative)
    turned = draw("vonmises", 3.0, kappa)
    assert abs(turned).max() <= math.pi
    assert_distributed((turned - 3.0 + math.pi) % (2 * math.pi) - math.pi, cumulative)


@pytest.mark.parametrize(("mean", "scale"), [(1.0, 2.0), (3.0, 0.5), (1.0, 1e6)])
def test_wald_numbers_have_inverse_gaussian_distribution(mean: float, scale: float) -> None:
    def cumulative(x: np.ndarray) -> np.ndarray:
        root = np.sqrt(scale / x)
        tail = normal(-root * (x / mean + 1))
        with np.errstate(over="ignore"):
            second = np.where(tail > 0, np.exp(min(2 * scale / mean, 700.0)) * tail, 0.0)
        return normal(root * (x / mean - 1)) + second

    values = draw("wald", mean, scale)
    assert (values > 0).all()
    assert_distributed(values, cumulative)


def test_extreme_parameters_give_finite_or_limiting_numbers() -> None:
    assert (draw("standard_gamma", 0.0) == 0).all()
    assert (draw("weibull", 0.0) == 0).all()
    assert np.isfinite(draw("standard_gamma", 1e-5)).all()
    assert abs(draw("standard_gamma", 1e12).mean() / 1e12 - 1) < 1e-7
    assert np.isinf(draw("standard_gamma", math.inf)).all()
    assert np.isnan(draw("vonmises", 0.0, math.nan)).all()
    small = draw("beta", 1e-200, 3e-200)
    assert abs(small.mean() - 0.25) < 0.02
    assert set(np.unique(small)) == {0.0, 1.0}
    tiny = draw("beta", 1e-3, 1e-3)
    assert np.isfinite(tiny).all()
    assert abs(tiny.mean() - 0.5) < 0.02


def test_exponential_and_normal_numbers_are_functions_of_raw_numbers() -> None:
    raw = PyGPU.random.default_rng(3).random_raw(COUNT - 1).get()
    units = ((raw >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    drawn = PyGPU.random.default_rng(3).standard_exponential(COUNT - 1).get()
    np.testing.assert_array_max_ulp(drawn, -np.log(units), 4)
    radii, words = np.sqrt(-2 * np.log(units[::2])), raw[1::2]
    angles = (words << np.uint64(2)).view(np.int64) * (math.pi / 4 * 2.0**-63)
    radii = np.where(words >> np.uint64(63), -radii, radii)
    is_exchanged = (words >> np.uint64(62)) & np.uint64(1) == 1
    pairs = np.where(is_exchanged, [np.sin(angles), np.cos(angles)], [np.cos(angles), np.sin(angles)]) * radii
    np.testing.assert_array_max_ulp(PyGPU.random.default_rng(3).standard_normal(COUNT - 1).get(), pairs.T.ravel(), 6)


def test_float32_numbers_use_32_bit_half_of_raw_number_as_quantile_level() -> None:
    halves = PyGPU.random.default_rng(3).random_raw(COUNT // 2).get().view(np.int32)
    sizes = np.abs(halves.astype(np.float64)) * 2.0**-32
    drawn = PyGPU.random.default_rng(3).standard_exponential(halves.size, "float32").get()
    np.testing.assert_allclose(drawn, np.where(halves < 0, -np.log1p(-sizes), -np.log(sizes)), rtol=8e-7)
    drawn = PyGPU.random.default_rng(3).standard_normal(halves.size, "float32").get()
    quantiles = [-NormalDist().inv_cdf(size) for size in sizes]
    np.testing.assert_allclose(drawn, np.copysign(quantiles, halves), rtol=2e-7, atol=8e-7)


def test_exponential_function_of_samplers_is_accurate() -> None:
    exponents = np.linspace(-708, 709, COUNT)
    drawn = PyGPU.random.default_rng(3).lognormal(exponents, 0.0).get()
    np.testing.assert_array_max_ulp(drawn, np.exp(exponents), 2)
    assert PyGPU.random.default_rng(3).lognormal([710.0, -746.0], 0.0).tolist() == [math.inf, 0.0]
