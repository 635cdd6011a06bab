"""Test `unravel_index`, `ravel_multi_index`, `isposinf` and `isneginf`: results match NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from support import assert_same


@pytest.mark.parametrize("order", ["C", "F"])
def test_unravel_index_matches_numpy(order: str) -> None:
    host = np.array([[0, 23, 7], [5, 1, 12]])
    array = PyGPU.to_gpu(host)[:, ::-1]
    for shape in ((2, 3, 4), (24,), 24):
        ours = PyGPU.unravel_index(array, shape, order)
        numpys = np.unravel_index(host[:, ::-1], shape, order)
        for one, other in zip(ours, numpys, strict=True):
            assert_same(one, other)
    back = PyGPU.ravel_multi_index(PyGPU.unravel_index(array, (2, 3, 4), order), (2, 3, 4), order=order)
    assert back.tolist() == array.tolist()


def test_ravel_multi_index_raises_wraps_or_clips_by_mode() -> None:
    rows, columns = np.array([0, 3, -1]), np.array([1, 5, 2])
    ours = (PyGPU.to_gpu(rows), PyGPU.to_gpu(columns))
    for mode in ("wrap", "clip", ("clip", "wrap")):
        assert_same(
            PyGPU.ravel_multi_index(ours, (2, 4), mode=mode), np.ravel_multi_index((rows, columns), (2, 4), mode=mode)
        )
    with pytest.raises(ValueError, match="invalid entry in coordinates array"):
        PyGPU.ravel_multi_index(ours, (2, 4))
    with pytest.raises(ValueError, match="not 'other'"):
        PyGPU.ravel_multi_index(ours, (2, 4), mode="other")
    with pytest.raises(ValueError, match="2 index arrays and 3 modes for a shape of 3 axes"):
        PyGPU.ravel_multi_index(ours, (2, 4, 5))


def test_unravel_index_rejects_floats_and_memory_order_k() -> None:
    with pytest.raises(TypeError, match="indices are integers, not float64"):
        PyGPU.unravel_index(PyGPU.zeros(2), (2, 3))
    with pytest.raises(ValueError, match="only 'C' or 'F' order is permitted, not 'K'"):
        PyGPU.unravel_index(PyGPU.zeros(2, int), (2, 3), "K")


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_isposinf_and_isneginf_find_signed_infinities(dtype: str) -> None:
    host = np.array([0.0, 1.0, np.inf, -np.inf, np.nan]).astype(dtype) if dtype[0] == "f" else np.ones(5, dtype)
    for name in ("isposinf", "isneginf"):
        out = PyGPU.zeros(5, bool)
        assert_same(getattr(np, name)(PyGPU.to_gpu(host)), getattr(np, name)(host))
        assert getattr(PyGPU, name)(PyGPU.to_gpu(host), out=out) is out
    with pytest.raises(TypeError, match="ambiguous"):
        PyGPU.isposinf(PyGPU.zeros(2, complex))


def test_ravel_multi_index_accepts_modes_as_numbers() -> None:
    indices = np.array([1, 4])
    ours = PyGPU.to_gpu(indices)
    for mode in (0, 1, (1, "clip")):
        expected = np.ravel_multi_index((indices, indices), (3, 4), mode=mode)
        assert_same(PyGPU.ravel_multi_index((ours, ours), (3, 4), mode=mode), expected)
    for mode, error in ((3, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="mode"):
            PyGPU.ravel_multi_index((ours, ours), (3, 4), mode=mode)
