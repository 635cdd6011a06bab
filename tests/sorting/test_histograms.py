"""Test histograms and weighted counts: results match NumPy and are bitwise reproducible."""

from __future__ import annotations

import random

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import assert_same, assert_same_refusal, of_few, on_cpu, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

PyGPU.device_count()
SEED = random.randrange(1 << 32)


def generator() -> np.random.Generator:
    print("seed", SEED)
    return np.random.default_rng(SEED)


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", of_few(["bool", "uint8", "int16", "uint32", "int64"], ["uint8", "int64"]))
def test_bincount_matches_numpy(dtype: str) -> None:
    rng = generator()
    for size, most in ((0, 1), (1, 1), (5000, 2), (5000, 100), (3000, 20_000)):
        host = rng.integers(0, min(most, 2 if dtype == "bool" else np.iinfo(dtype).max), size).astype(dtype)
        x = PyGPU.to_gpu(host)
        assert_same(PyGPU.bincount(x), np.bincount(host))
        assert_same(PyGPU.bincount(x[::-2], minlength=130), np.bincount(host[::-2], minlength=130))
        weights = rng.integers(-100, 100, size).astype("float32") / 4
        assert_same(PyGPU.bincount(x, PyGPU.to_gpu(weights)), np.bincount(host, weights))


def test_bincount_of_greatest_integer_raises_before_allocation() -> None:
    x = PyGPU.to_gpu(np.array([np.iinfo(np.int64).max]))
    with pytest.raises(ValueError, match="more bins than an array can have"):
        PyGPU.bincount(x)


def test_weighted_bincount_is_bitwise_reproducible() -> None:
    rng = generator()
    host = np.where(rng.random(40_000) < 0.9, 3, rng.integers(0, 700, 40_000))
    weights = rng.standard_normal(host.size)
    x, w = PyGPU.to_gpu(host), PyGPU.to_gpu(weights)
    first = PyGPU.bincount(x, w).get()
    np.testing.assert_allclose(first, np.bincount(host, weights), rtol=1e-10, atol=1e-10)
    for _ in range(3):
        np.testing.assert_array_equal(PyGPU.bincount(x, w).get(), first)
    few = np.bincount(host % 2, weights)
    np.testing.assert_allclose(np.bincount(x % 2, w).get(), few, rtol=1e-10, atol=1e-10)


def test_counting_function_rejects_arguments_that_numpy_rejects() -> None:
    host = np.array([1, 2, 3])
    a = PyGPU.to_gpu(host)
    for call in (
        lambda x: np.bincount(-x),
        lambda x: np.bincount(x.reshape(1, 3)),
        lambda x: np.bincount(x, minlength=-1),
        lambda x: np.bincount(x.astype("float32")),
        lambda x: np.bincount(x, x[:2]),
        lambda x: np.bincount(x, x.astype("complex64")),
        lambda x: np.histogram(x, [3, 1]),
        lambda x: np.histogram(x, 0),
        lambda x: np.histogram(x, 2, (3, 1)),
        lambda x: np.histogram(x, 2, weights=x[:2]),
        lambda x: np.histogram(x / (x - 1.0), 2),
        lambda x: np.histogram(x, [[1, 2]]),
    ):
        with np.errstate(all="ignore"):
            assert_same_refusal(outcome(lambda call=call: call(a)), outcome(lambda call=call: call(host)))


KINDS = of_few(["uint8", "int32", "int64", "float16", "float32", "float64"], ["int32", "float32"])
BINS = [(10, None), (7, (5, 45)), ([0, 1, 1, 30, 59], None), (np.linspace(3, 40, 20), None), (3, (2.5, 2.5))]


@pytest.mark.parametrize("dtype", KINDS)
def test_histogram_edges_and_counts_match_numpy(dtype: str) -> None:
    rng = generator()
    for size in (0, 1, 3000):
        host = rng.integers(0, 60, size).astype(dtype)
        a = PyGPU.to_gpu(host.reshape(-1, 1))
        for bins, limits in BINS:
            got, expected = PyGPU.histogram(a, bins, limits), np.histogram(host, bins, limits)
            for one, other in zip(got, expected, strict=True):
                assert_same(one, other)
            assert_same(PyGPU.histogram_bin_edges(a, bins, limits), expected[1])


def histogram_of_rule(host: np.ndarray, rule: str, limits: tuple[int, int] | None) -> tuple[np.ndarray, np.ndarray]:
    """Return NumPy's histogram with the bins of a rule; bins of integers are at least 1 wide, as since NumPy 2.1."""
    bins: str | int = rule
    if host.dtype.kind == "i" and not is_numpy("2.1") and not on_cpu():
        edges = np.histogram_bin_edges(host, rule, limits)
        bins = min(edges.size - 1, round(edges[-1] - edges[0]))
    return np.histogram(host, bins, limits)


@pytest.mark.filterwarnings("ignore:The number of bins")
@pytest.mark.parametrize("rule", ["auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges"])
def test_histogram_with_estimated_number_of_bins_matches_numpy(rule: str) -> None:
    rng = generator()
    hosts = [rng.normal(size=200).astype("float32"), rng.integers(0, 9, 50), np.full(5, 2.0), np.zeros(0), np.ones(1)]
    for host in hosts:
        for limits in (None, (-1, 1)):
            got, expected = PyGPU.histogram(PyGPU.to_gpu(host), rule, limits), histogram_of_rule(host, rule, limits)
            for one, other in zip(got, expected, strict=True):
                assert_same(one, other)


def test_histogram_rejects_unknown_bin_rule_and_rule_with_weights() -> None:
    a = PyGPU.to_gpu([1.0, 2.0])
    with pytest.raises(ValueError, match="not a valid estimator"):
        PyGPU.histogram(a, "bad")
    with pytest.raises(TypeError, match="weighted data"):
        PyGPU.histogram(a, "auto", weights=a)


@pytest.mark.sampled(on="cuda", elsewhere=0)
def test_histogram_weights_and_densities_match_numpy() -> None:
    rng = generator()
    host = rng.random(2000).astype("float32") * 10
    weights = rng.integers(0, 9, 2000)
    a = PyGPU.to_gpu(host)
    for dtype in ("int64", "float32", "complex64"):
        typed_weights = weights.astype(dtype)
        for bins in (6, [0.0, 2.0, 9.0]):
            got = np.histogram(a, bins, weights=PyGPU.to_gpu(typed_weights))
            assert_same(got[0], np.histogram(host, bins, weights=typed_weights)[0])
    got, expected = PyGPU.histogram(a, 8, density=True), np.histogram(host, 8, density=True)
    np.testing.assert_allclose(got[0].get(), expected[0])
    assert_same(PyGPU.histogram(a, PyGPU.to_gpu(expected[1]))[0], np.histogram(host, expected[1])[0])


def test_histogram_ignores_nan() -> None:
    host = np.array([np.nan, 1.0, 2.0, -0.0, 0.0], "float32")
    assert_same(PyGPU.histogram(PyGPU.to_gpu(host), [0.0, 1.0, 2.0])[0], np.histogram(host, [0.0, 1.0, 2.0])[0])
