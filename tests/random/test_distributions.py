"""Test distributions of random numbers by their moments and by the Kolmogorov distance.

If the distribution is right, a test fails for one seed in ten million.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import PyGPU
from distribution_functions import assert_distributed, normal

PyGPU.device_count()
SEED = 2026
COUNT = 40_001


def generator() -> Any:
    print("seed", SEED)
    return PyGPU.random.default_rng(SEED)


def assert_moments(drawn: PyGPU.GPUArray, mean: float, variance: float, kurtosis: float = 3.0) -> None:
    values = drawn.get().astype(np.float64)
    assert abs(values.mean() - mean) < 5.5 * math.sqrt(variance / values.size)
    assert abs(values.var() - variance) < 5.5 * variance * math.sqrt((kurtosis - 1) / values.size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_are_normal_and_independent(dtype: str) -> None:
    rng = generator()
    drawn = rng.standard_normal(COUNT, dtype)
    assert drawn.dtype == dtype
    assert_distributed(drawn.get(), normal)
    assert_moments(drawn, 0, 1)
    values = drawn.get().astype(np.float64)
    for lag in (1, 2, 8):
        assert abs((values[lag:] * values[:-lag]).mean()) < 5.5 / math.sqrt(COUNT)
    # Independent numbers also have uncorrelated squares, so test the squares of adjacent values.
    squares = values[: COUNT // 2 * 2].reshape(-1, 2) ** 2 - 1
    assert abs((squares[:, 0] * squares[:, 1]).mean()) < 5.5 * 2 / math.sqrt(COUNT / 2)
    assert abs(values).max() > 3


def test_uniform_numbers_are_always_below_1() -> None:
    drawn = generator().random(COUNT, "float32").get()
    assert (drawn >= 0).all()
    assert (drawn < 1).all()


def test_location_and_scale_parameters_may_be_numbers_or_arrays() -> None:
    rng = generator()
    assert_moments(rng.normal(10, 2, COUNT), 10, 4)
    positions = PyGPU.to_gpu(np.array([[0.0], [100.0]]))
    drawn = rng.normal(positions, 1.0, (2, COUNT)).get()
    assert abs(drawn.mean(axis=1) - [0, 100]).max() < 5.5 / math.sqrt(COUNT)
    assert rng.uniform(positions, 200.0).shape == (2, 1)
    assert rng.normal([1.0, 2.0], [3.0, 4.0]).shape == (2,)


def test_exponential_and_lognormal_numbers_have_correct_distribution() -> None:
    rng = generator()
    drawn = rng.exponential(2.0, COUNT)
    assert_distributed(drawn.get(), lambda values: -np.expm1(-values / 2))
    assert_moments(drawn, 2, 4, 9)
    short = rng.standard_exponential(COUNT, "float32")
    assert short.dtype == np.float32
    assert_distributed(short.get(), lambda values: -np.expm1(-values))
    assert_moments(short, 1, 1, 9)
    assert_distributed(rng.lognormal(1.0, 0.5, COUNT).get(), lambda values: normal((np.log(values) - 1) / 0.5))


def test_poisson_accepts_array_of_means() -> None:
    means = np.repeat([1.0, 20.0], COUNT)
    drawn = generator().poisson(PyGPU.to_gpu(means)).get()
    for part, mean in ((drawn[:COUNT], 1.0), (drawn[COUNT:], 20.0)):
        assert abs(part.mean() - mean) < 5.5 * math.sqrt(mean / COUNT)


def test_permutation_is_uncorrelated_with_position() -> None:
    order = generator().permutation(COUNT).get()
    before = np.arange(COUNT)
    assert abs(np.corrcoef(order, before)[0, 1]) < 5.5 / math.sqrt(COUNT)
    assert abs(np.corrcoef(order[1:], order[:-1])[0, 1]) < 5.5 / math.sqrt(COUNT)
    positions = PyGPU.random.default_rng(SEED).choice(COUNT, 10_000, replace=False).get()
    assert np.unique(positions).size == 10_000
    assert abs(positions.mean() / COUNT - 0.5) < 5.5 / math.sqrt(12 * 10_000)


def test_permutation_has_each_element_once() -> None:
    rng = generator()
    order = rng.permutation(1000)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order.get()), np.arange(1000))
    assert (order.get() != np.arange(1000)).mean() > 0.9
    host = np.arange(60).reshape(10, 6)
    rows = rng.permutation(host)
    assert sorted(map(tuple, rows.get())) == sorted(map(tuple, host))
    array = PyGPU.to_gpu(host)
    assert rng.shuffle(array, axis=1) is None
    assert sorted(map(tuple, array.get().T)) == sorted(map(tuple, host.T))
    part = array[::2]
    rng.shuffle(part)
    np.testing.assert_array_equal(np.sort(array.get(), axis=None), np.arange(60))


def test_random_choices_occur_with_requested_probabilities() -> None:
    rng = generator()
    chances = np.array([0.1, 0.0, 0.6, 0.3])
    drawn = rng.choice(4, COUNT, p=chances).get()
    shares = np.bincount(drawn, minlength=4) / COUNT
    assert abs(shares - chances).max() < 5.5 * 0.5 / math.sqrt(COUNT)
    numpys = np.random.Generator(np.random.Philox(SEED))
    np.testing.assert_array_equal(
        PyGPU.random.default_rng(SEED).choice(4, 100, p=chances).get(), numpys.choice(4, 100, p=chances)
    )
    without = [tuple(sorted(rng.choice(4, 3, replace=False, p=chances).tolist())) for _ in range(5)]
    assert without == [(0, 2, 3)] * 5
    picked = rng.choice(np.array([2.5, 3.5, 4.5]), (2, 5))
    assert picked.shape == (2, 5)
    assert set(picked.get().ravel()) <= {2.5, 3.5, 4.5}
    assert sorted(rng.choice(5, 5, replace=False).tolist()) == [0, 1, 2, 3, 4]
    assert rng.choice(5).shape == ()
