"""Test that random integers have exactly the requested distribution. The backends are compared by
`test_reproducibility.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import PyGPU
from distribution_functions import assert_counts, binomial_chances, hypergeometric_chances, log_factorials

pytestmark = pytest.mark.enough_on("cpu")
PyGPU.device_count()
COUNT = 40_001


def draw(name: str, *parameters: Any) -> np.ndarray:
    drawn = getattr(PyGPU.random.default_rng(63), name)(*parameters, size=COUNT)
    assert drawn.dtype == np.int64
    return drawn.get()


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.5), (10, 0.3), (10, 0.9), (40, 0.5), (1000, 0.25), (1000, 0.98), (5000, 0.001)]
)
def test_binomial_counts_have_binomial_distribution(n: int, p: float) -> None:
    assert_counts(draw("binomial", n, p), binomial_chances(n, p))


def test_binomial_counts_of_many_trials_have_binomial_moments() -> None:
    for n in (10**9, 10**12, 10**15, 2**62):
        values = draw("binomial", n, 0.25).astype(np.float64)
        deviation = math.sqrt(n * 0.25 * 0.75)
        assert abs(values.mean() - n * 0.25) < 5.5 * deviation / math.sqrt(COUNT)
        assert abs(values.std() / deviation - 1) < 5.5 / math.sqrt(2 * COUNT)
    assert (draw("binomial", 0, 0.5) == 0).all()
    assert (draw("binomial", 7, 1.0) == 7).all()
    assert (draw("binomial", 7, 0.0) == 0).all()


@pytest.mark.parametrize("mean", [0.01, 3.0, 9.99, 10.0, 55.5, 4000.0])
def test_poisson_counts_have_poisson_distribution(mean: float) -> None:
    counts = np.arange(int(mean + 10 * math.sqrt(mean) + 10))
    assert_counts(draw("poisson", mean), np.exp(counts * math.log(mean) - mean - log_factorials(counts.size)))


def test_poisson_counts_of_large_means_have_poisson_moments() -> None:
    for mean in (1e9, 1e12, 1e15, 9e18):
        values = draw("poisson", mean).astype(np.float64)
        assert abs(values.mean() - mean) < 5.5 * math.sqrt(mean / COUNT)
        assert abs(values.std() / math.sqrt(mean) - 1) < 5.5 / math.sqrt(2 * COUNT)
    assert (draw("poisson", 0.0) == 0).all()


@pytest.mark.parametrize("p", [0.001, 0.2, 0.4, 0.95, 1.0])
def test_geometric_counts_have_geometric_distribution(p: float) -> None:
    counts = np.arange(int(20 / p) + 2)
    assert_counts(draw("geometric", p), p * (1 - p) ** counts if p < 1 else [1.0], first=1)
    assert (draw("geometric", 1e-300) == np.iinfo(np.int64).max).all()


@pytest.mark.parametrize(
    ("good", "bad", "sample"),
    [
        (9, 5, 4),
        (3, 50, 8),
        (20, 30, 45),
        (100, 50, 60),
        (50, 100, 60),
        (400, 300, 650),
        (0, 5, 3),
        (5, 0, 3),
        (5, 5, 10),
    ],
)
def test_hypergeometric_counts_have_hypergeometric_distribution(good: int, bad: int, sample: int) -> None:
    assert_counts(draw("hypergeometric", good, bad, sample), hypergeometric_chances(good, bad, sample))


@pytest.mark.parametrize("p", [0.0, 0.1, 0.8, 0.999])
def test_logseries_counts_have_logarithmic_distribution(p: float) -> None:
    counts = np.arange(1, 20_000)
    chances = p**counts / (counts * -math.log1p(-p)) if p else [1.0]
    assert_counts(draw("logseries", p), chances, first=1)


@pytest.mark.parametrize(("n", "p"), [(1.0, 0.3), (0.5, 0.6), (20.0, 0.1)])
def test_negative_binomial_counts_have_negative_binomial_distribution(n: float, p: float) -> None:
    counts = np.arange(2000)
    logs = np.array([math.lgamma(k + n) - math.lgamma(n) - math.lgamma(k + 1) for k in counts])
    assert_counts(draw("negative_binomial", n, p), np.exp(logs + n * math.log(p) + counts * math.log1p(-p)))


@pytest.mark.parametrize("a", [1.5, 2.0, 4.0])
def test_zipf_counts_have_zeta_distribution(a: float) -> None:
    counts = np.arange(1.0, 100_000.0)
    rest = counts[-1] ** (1 - a) / (a - 1) - 0.5 * counts[-1] ** -a
    chances = counts[:3000] ** -a / ((counts**-a).sum() + rest)
    assert_counts(np.minimum(draw("zipf", a), 10_000), chances, first=1)
    assert (draw("zipf", 2000.0) == 1).all()
    assert (draw("zipf", 1.0001) >= 1).all()


def test_integers_with_arrays_as_bounds_are_uniform() -> None:
    rng = PyGPU.random.default_rng(1)
    drawn = rng.integers([0, 10, -5], [7, 13, 5], (COUNT, 3)).get()
    for column, (low, high) in zip(drawn.T, ((0, 7), (10, 13), (-5, 5)), strict=True):
        assert_counts(column, np.full(high - low, 1 / (high - low)), first=low)
    wide = rng.integers([-(2**63)], [2**63 - 1], COUNT, endpoint=True).get()
    assert abs(np.sign(wide).mean()) < 5.5 / math.sqrt(COUNT)
    assert rng.integers([1, 2], 5, dtype="uint8").dtype == np.uint8


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16"])
def test_small_integers_are_uniform(dtype: str) -> None:
    high = 2 if dtype == "bool" else 7
    drawn = PyGPU.random.default_rng(1).integers(0, high, COUNT, dtype)
    assert drawn.dtype == dtype
    assert_counts(drawn.get().astype(np.int64), np.full(high, 1 / high))
