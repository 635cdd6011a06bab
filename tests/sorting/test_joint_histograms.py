"""Test histograms of several variables: results, edges and errors match NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, outcome

pytestmark = pytest.mark.usefixtures("compiled_together")

RNG = np.random.default_rng(7)
SAMPLE = RNG.integers(0, 17, (300, 3))


def assert_same_histogram(got: Any, expected: Any) -> None:
    np.testing.assert_equal(len(got), len(expected))
    for ours, numpys in zip(got, expected, strict=True):
        if isinstance(numpys, tuple | list):
            assert_same_histogram(ours, numpys)
        else:
            assert_same(ours, numpys)


def of_device(argument: Any) -> Any:
    """Return an argument for PyGPU: the host arrays in the argument are copied to the device."""
    if isinstance(argument, list):
        return [of_device(one) for one in argument]
    return PyGPU.to_gpu(argument) if isinstance(argument, np.ndarray) else argument


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "bool"])
@pytest.mark.parametrize("bins", [10, [3, 4, 5], [[0, 5, 16], 4, [1.0, 2.5, 9.0, 9.0]], [2, 3, np.linspace(3, 9, 4)]])
def test_histogramdd_matches_numpy(dtype: str, bins: Any) -> None:
    host = SAMPLE.astype(dtype)
    assert_same_histogram(PyGPU.histogramdd(of_device(host), of_device(bins)), np.histogramdd(host, bins))
    assert_same_histogram(np.histogramdd(of_device(host), bins=bins), np.histogramdd(host, bins))


def test_histogramdd_accepts_every_form_of_sample_like_numpy() -> None:
    x, y = SAMPLE[:, 0], SAMPLE[:, 1] / 4
    for sample in ([x, y], [x, x], x, SAMPLE[:, ::-2], SAMPLE[:0], SAMPLE.T[:2].T, np.array(3.0), SAMPLE[:1, :1]):
        assert_same_histogram(PyGPU.histogramdd(of_device(sample)), np.histogramdd(sample))


def test_histogramdd_ignores_values_outside_range_and_nan() -> None:
    host = np.where(SAMPLE == 4, np.nan, SAMPLE)
    for limits in ([(1, 9)] * 3, [(0, 16), (2.5, 2.5), (-1, 40)]):
        assert_same_histogram(PyGPU.histogramdd(PyGPU.to_gpu(host), 4, limits), np.histogramdd(host, 4, limits))
    limits = [None, (0, 3), None]
    assert_same_histogram(PyGPU.histogramdd(PyGPU.to_gpu(SAMPLE), 4, limits), np.histogramdd(SAMPLE, 4, limits))


def test_histogramdd_weights_and_density_match_numpy() -> None:
    for dtype in ("int64", "float32", "float64", "bool"):
        weights = (SAMPLE[:, 0] / 4).astype(dtype)
        got = PyGPU.histogramdd(PyGPU.to_gpu(SAMPLE), 3, weights=PyGPU.to_gpu(weights))
        assert_same_histogram(got, np.histogramdd(SAMPLE, 3, weights=weights))
        got = PyGPU.histogramdd(PyGPU.to_gpu(SAMPLE), 3, density=True, weights=PyGPU.to_gpu(weights))
        np.testing.assert_allclose(
            got[0].get(), np.histogramdd(SAMPLE, 3, density=True, weights=weights)[0], rtol=1e-13
        )


def test_histogram2d_matches_numpy() -> None:
    x, y = SAMPLE[:, 0].astype("float32"), SAMPLE[:, 1]
    for bins in (10, [3, 4], [0, 4, 9, 16], [[0, 8, 16], 5], np.linspace(0, 16, 9), [5, np.array([1, 2, 4])]):
        assert_same_histogram(
            PyGPU.histogram2d(of_device(x), of_device(y), of_device(bins)), np.histogram2d(x, y, bins)
        )
        assert_same_histogram(np.histogram2d(of_device(x), of_device(y), bins), np.histogram2d(x, y, bins))


REFUSED = {
    "bins_of_wrong_length": lambda xp, s: xp.histogramdd(s, [2, 3]),
    "no_bins": lambda xp, s: xp.histogramdd(s, 0),
    "fractional_bins": lambda xp, s: xp.histogramdd(s, 2.5),
    "decreasing_edges": lambda xp, s: xp.histogramdd(s, [[1, 0], 2, 2]),
    "no_edges": lambda xp, s: xp.histogramdd(s, [[], 2, 2]),
    "edges_of_two_axes": lambda xp, s: xp.histogramdd(s, [[[1, 2]], 2, 2]),
    "range_of_wrong_length": lambda xp, s: xp.histogramdd(s, 2, [(0, 1)]),
    "reversed_range": lambda xp, s: xp.histogramdd(s, 2, [(1, 0)] * 3),
    "infinite_range": lambda xp, s: xp.histogramdd(s, 2, [(0, np.inf)] * 3),
    "nan": lambda xp, s: xp.histogramdd(s * np.nan, 2),
    "three_axes": lambda xp, s: xp.histogramdd(s[None], 2),
    "no_variables": lambda xp, s: xp.histogramdd(s[:, :0], 2),
    "short_weights": lambda xp, s: xp.histogramdd(s, 2, weights=s[:5, 0]),
    "complex_weights": lambda xp, s: xp.histogramdd(s, 2, weights=s[:, 0] * 1j),
    "different_lengths": lambda xp, s: xp.histogram2d(s[:, 0], s[1:, 0]),
    "one_bin_of_two": lambda xp, s: xp.histogram2d(s[:, 0], s[:, 0], [4]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_joint_histogram_rejects_arguments_that_numpy_rejects(name: str) -> None:
    call = REFUSED[name]
    with np.errstate(all="ignore"):
        assert_same_refusal(outcome(lambda: call(PyGPU, PyGPU.to_gpu(SAMPLE))), outcome(lambda: call(np, SAMPLE)))


def test_histogramdd_rejects_host_sample() -> None:
    with pytest.raises(TypeError, match="to_gpu"):
        PyGPU.histogramdd(SAMPLE)
