"""Test reductions that compare complex numbers: the order is lexicographic and the first NaN is the result, as in
NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import PyGPU

NAN, INF = np.nan, np.inf
SAMPLES = {
    "distinct": [1 + 2j, -3 + 9j, 1 - 5j, -3 - 1j, 0],
    "equal real parts": [2 + 1j, 2 - 1j, 2 + 1j, 2 - 1j],
    "infinite": [complex(INF, -INF), complex(INF, 1), complex(-INF, INF), complex(-INF, 0)],
    "real NaN": [1 + 1j, complex(NAN, 2), 9, complex(NAN, 3)],
    "imaginary NaN": [5, complex(-9, NAN), 1, complex(99, NAN)],
    "all NaN but one": [complex(NAN, NAN), complex(1, NAN), 4 - 4j],
    "one": [3 - 2j],
}
FUNCTIONS = ["min", "max", "argmin", "argmax", "ptp", "nanmin", "nanmax", "nanargmin", "nanargmax"]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("sample", SAMPLES)
def test_complex_reduction_matches_numpy(sample, name, dtype):
    host = np.array(SAMPLES[sample], dtype)
    found = getattr(PyGPU, name)(PyGPU.to_gpu(host))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(np, name)(host)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.get(), expected)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax", "nanmax"])
def test_complex_reduction_along_axes_matches_numpy(name, axis):
    if name.startswith("arg") and isinstance(axis, tuple):
        pytest.skip("one axis only")
    rng = np.random.default_rng(5)
    parts = rng.integers(-2, 3, (2, 33, 7, 65))
    host = parts[0] + 1j * parts[1]
    found = getattr(PyGPU, name)(PyGPU.to_gpu(host), axis=axis)
    np.testing.assert_array_equal(found.get(), getattr(np, name)(host, axis=axis))


def test_complex_minimum_of_long_array_matches_numpy():
    rng = np.random.default_rng(6)
    parts = rng.integers(-9, 9, (2, 200_003))
    host = (parts[0] + 1j * parts[1]).astype("complex64")
    array = PyGPU.to_gpu(host)
    assert array.min().item() == host.min()
    assert array.argmax().item() == host.argmax()
    assert array[::-3].argmin().item() == host[::-3].argmin()


def test_complex_reduction_accepts_initial_and_where():
    host = np.array([1 + 2j, 3 - 4j, -5j])
    array, mask = PyGPU.to_gpu(host), np.array([True, False, True])
    assert array.max(initial=2 + 0j).item() == host.max(initial=2 + 0j)
    assert array.min(where=PyGPU.to_gpu(mask), initial=9j).item() == host.min(where=mask, initial=9j)


def test_empty_complex_reduction_raises_same_error_as_numpy():
    with pytest.raises(ValueError, match="zero-size array"):
        PyGPU.zeros(0, "complex64").max()
