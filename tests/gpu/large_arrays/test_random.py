"""Test random numbers of large arrays on a GPU: bits equal NumPy's, and normal numbers have a normal distribution."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import PyGPU
from support import of_few

# A run on CUDA alone suffices, because HIP uses the same kernel source; tests/random tests smaller draws on both
# backends.
pytestmark = pytest.mark.enough_on("cuda")

SEED = random.randrange(1 << 32)
# A simulated GPU would take too long for large arrays, because it computes the numbers one after another.
COUNT = of_few([1 << 24], [1 << 21])[0]


@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.matrix)])
def test_random_numbers_of_large_arrays_match_numpy(dtype: str) -> None:
    print("seed", SEED)
    rng, numpys = PyGPU.random.default_rng(SEED), np.random.Generator(np.random.Philox(SEED))
    for count in (COUNT, COUNT + 3, 77):
        np.testing.assert_array_equal(rng.random(count, dtype).get(), numpys.random(count, dtype))
    memory = PyGPU.empty(COUNT, dtype)
    rng.random(dtype=dtype, out=memory[3:-1])
    np.testing.assert_array_equal(memory[3:-1].get(), numpys.random(COUNT - 4, dtype))
    np.testing.assert_array_equal(rng.random_raw(COUNT).get(), numpys.bit_generator.random_raw(COUNT))
    np.testing.assert_array_equal(rng.integers(1 << 20, size=COUNT).get(), numpys.integers(1 << 20, size=COUNT))


@pytest.mark.parametrize("dtype", [pytest.param("float32", marks=pytest.mark.matrix), "float64"])
def test_normal_random_numbers_of_large_array_have_normal_distribution(dtype: str) -> None:
    print("seed", SEED)
    values = np.sort(PyGPU.random.default_rng(SEED).standard_normal(COUNT, dtype).get().astype(np.float64))
    # The Kolmogorov-Smirnov distance, evaluated at every 256th value, must be small.
    part = values[::256]
    cumulative = 0.5 * (1 + np.vectorize(math.erf)(part / math.sqrt(2)))
    assert abs(cumulative - np.arange(0, COUNT, 256) / COUNT).max() < 3 / math.sqrt(COUNT)
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3), (6, 15)):
        spread = math.prod(range(2 * power - 1, 0, -2)) - moment**2
        assert abs((values**power).mean() - moment) < 6 * math.sqrt(spread / COUNT)
    # Count values beyond 5 standard deviations, and values of a magnitude below 0.001.
    for limit in (5.0, 0.001):
        expected = COUNT * (math.erfc(5 / math.sqrt(2)) if limit == 5 else math.erf(limit / math.sqrt(2)))
        found = (abs(values) > limit).sum() if limit == 5 else (abs(values) < limit).sum()
        assert abs(found - expected) < 6 * math.sqrt(expected) + 6


def test_pairs_of_normal_numbers_near_zero_are_as_frequent_as_expected() -> None:
    print("seed", SEED)
    pairs = PyGPU.random.default_rng(SEED).standard_normal((COUNT, 2), "float32").get().astype(np.float64)
    squares = (pairs**2).sum(axis=1)
    for limit in (1e-5, 1e-3, 0.0312, 0.0316):
        expected = COUNT * -math.expm1(-limit / 2)
        assert abs((squares < limit).sum() - expected) < 6 * math.sqrt(expected) + 6
