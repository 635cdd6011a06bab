"""Arrays in other shapes and orders, as NumPy's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import PyGPU


@pytest.mark.parametrize("k", range(-1, 5))
def test_a_turned_array_is_numpys(k: int) -> None:
    host = np.arange(24).reshape(2, 3, 4)
    for axes in itertools.permutations(range(-1, 2), 2):
        np.testing.assert_array_equal(PyGPU.rot90(PyGPU.to_gpu(host), k, axes).get(), np.rot90(host, k, axes))


@pytest.mark.parametrize(
    ("axes", "said"), [((0,), "must be 2"), ((0, 0), "different"), ((0, -2), "different"), ((0, 3), "out of range")]
)
def test_a_plane_has_two_axes(axes: tuple[int, ...], said: str) -> None:
    a = np.zeros((2, 3))
    for rot90, given in ((np.rot90, a), (PyGPU.rot90, PyGPU.to_gpu(a))):
        with pytest.raises(ValueError, match=said):
            rot90(given, 1, axes)  # type: ignore[operator]
