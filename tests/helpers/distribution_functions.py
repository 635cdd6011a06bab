"""Provide exact distribution functions, and compare drawn random numbers with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Density = Callable[[np.ndarray], np.ndarray]


def assert_distributed(values: np.ndarray, cumulative: Density) -> None:
    """Check the Kolmogorov distance between drawn numbers and their distribution.

    By Massart's bound, the distance of n correct numbers exceeds 2.9 / sqrt(n) for one seed in ten million.
    """
    values = np.sort(np.asarray(values, np.float64).ravel())
    expected = cumulative(values)
    steps = np.arange(values.size + 1) / values.size
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    assert distance < 2.9 / math.sqrt(values.size)


def integrated(density: Density, low: float, high: float) -> Density:
    """Integrate a smooth density that is negligible outside of an interval, and return the distribution function."""
    points = np.linspace(low, high, 20_001)
    with np.errstate(all="ignore"):
        heights = np.nan_to_num(density(points))
        middles = np.nan_to_num(density((points[1:] + points[:-1]) / 2))
    areas = (heights[1:] + heights[:-1] + 4 * middles) * (points[1] - points[0]) / 6
    sums = np.concatenate([[0.0], areas.cumsum()])
    assert abs(sums[-1] - 1) < 1e-4, sums[-1]
    return lambda values: np.interp(values, points, sums)


def normal(values: np.ndarray) -> np.ndarray:
    """Return the distribution function of the normal distribution."""
    return 0.5 * (1 + np.vectorize(math.erf)(np.asarray(values) / math.sqrt(2)))


def log_gamma_density(shape: float) -> Density:
    """Return the density of the logarithm of a gamma-distributed number."""
    return lambda y: np.exp(shape * y - np.exp(y) - math.lgamma(shape))


def logit_beta_density(a: float, b: float) -> Density:
    """Return the density of ln(x / (1 - x)) for a beta-distributed number x."""
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return lambda y: np.exp(constant - a * np.log1p(np.exp(-y)) - b * np.log1p(np.exp(y)))


def log_factorials(count: int) -> np.ndarray:
    """Return the logarithms of the factorials of 0 to `count` - 1."""
    return np.array([math.lgamma(k + 1) for k in range(count)])


def binomial_chances(n: int, p: float) -> np.ndarray:
    """Return the binomial distribution's probabilities of 0 to n successes."""
    k, logs = np.arange(n + 1), log_factorials(n + 1)
    return np.exp(logs[n] - logs[k] - logs[n - k] + k * math.log(p) + (n - k) * math.log1p(-p))


def hypergeometric_chances(good: int, bad: int, sample: int) -> np.ndarray:
    """Return the hypergeometric distribution's probabilities of 0 to `sample` good elements."""
    logs = log_factorials(good + bad + 1)

    def ways(n: int, k: int) -> float:
        return logs[n] - logs[k] - logs[n - k]

    total = ways(good + bad, sample)
    counts = range(sample + 1)
    return np.array(
        [
            math.exp(ways(good, k) + ways(bad, sample - k) - total) if k <= good and sample - k <= bad else 0.0
            for k in counts
        ]
    )


def assert_counts(values: np.ndarray, chances: Any, first: int = 0) -> None:
    """Compare drawn integers with the probabilities of `first`, `first + 1`, ... by a chi-square test.

    Rare integers are counted together. Correct numbers exceed the bound for one seed in a million.
    """
    chances = np.asarray(chances, np.float64)
    values = np.asarray(values)
    assert values.min() >= first
    found = np.bincount(np.minimum(values - first, chances.size), minlength=chances.size + 1).astype(np.float64)
    expected = np.append(chances, max(1 - chances.sum(), 0.0)) * values.size
    is_common = expected >= 10
    found = np.append(found[is_common], found[~is_common].sum())
    expected = np.append(expected[is_common], expected[~is_common].sum())
    if expected[-1] < 10:
        found[-2] += found[-1]
        expected[-2] += expected[-1]
        found, expected = found[:-1], expected[:-1]
    freedom = found.size - 1
    if not freedom:
        assert (values == values[0]).all()
        return
    statistic = float(((found - expected) ** 2 / expected).sum())
    # The chi-square quantile for 5 standard deviations, by the approximation of Wilson and Hilferty.
    assert statistic < freedom * (1 - 2 / (9 * freedom) + 5 * math.sqrt(2 / (9 * freedom))) ** 3
