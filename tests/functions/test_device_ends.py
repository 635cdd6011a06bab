"""Test ranges and grids whose ends are device arrays, and the cross product with vectors of two numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_logspace_between_arrays_matches_numpy(axis: int, endpoint: bool, num: int, dtype: str) -> None:
    start, stop = np.array([0, 1], dtype), np.array([1, 3], dtype)
    ours = PyGPU.logspace(PyGPU.to_gpu(start), PyGPU.to_gpu(stop), num, endpoint, axis=axis).get()
    numpys = np.logspace(start, stop, num, endpoint, axis=axis)
    assert ours.dtype == numpys.dtype
    np.testing.assert_allclose(ours, numpys, rtol=1e-5 if dtype == "float32" else 1e-13)
    dispatched = np.logspace(PyGPU.to_gpu(start), PyGPU.to_gpu(stop), num, endpoint, axis=axis)
    np.testing.assert_array_equal(dispatched.get(), ours)


def test_logspace_with_array_of_bases_matches_numpy() -> None:
    bases = np.array([2.0, 10.0])
    ours = PyGPU.logspace(0, 2, 3, base=PyGPU.to_gpu(bases)).get()
    np.testing.assert_allclose(ours, np.logspace(0, 2, 3, base=bases), rtol=1e-13)


def test_logspace_with_number_and_array_has_numpys_dtype() -> None:
    start = np.array([0, 1], "float32")
    for stop, base in ((3, 10.0), (3.0, 2), (3, np.array([2, 4], "float32"))):
        ours = PyGPU.logspace(
            PyGPU.to_gpu(start), stop, 4, base=PyGPU.to_gpu(base) if isinstance(base, np.ndarray) else base
        ).get()
        numpys = np.logspace(start, stop, 4, base=base)
        assert ours.dtype == numpys.dtype
        np.testing.assert_allclose(ours, numpys, rtol=1e-5)


def test_grids_with_ends_on_the_device_match_numpy() -> None:
    def gpu(value: Any) -> PyGPU.GPUArray:
        return PyGPU.to_gpu(np.array(value))

    assert_same(PyGPU.mgrid[gpu(0) : gpu(5)], np.mgrid[0:5])
    assert_same(PyGPU.mgrid[0 : 5 : gpu(2)], np.mgrid[0:5:2])
    assert_same(PyGPU.mgrid[gpu(0) : gpu(3.0), 0:2], np.mgrid[0:3.0, 0:2])
    for one, other in zip(PyGPU.ogrid[gpu(0) : gpu(3.0), 0:2], np.ogrid[0:3.0, 0:2], strict=True):
        assert_same(one, other)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("shapes", [((3,), (2,)), ((2,), (3,)), ((2, 3), (2,)), ((2, 2), (2, 3))])
def test_cross_of_two_and_three_numbers_matches_numpy(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    for dtype in ("int32", "float64"):
        first, second = (np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype) for shape in shapes)
        assert_same(PyGPU.cross(PyGPU.to_gpu(first), PyGPU.to_gpu(second)), np.cross(first, second))


def test_geomspace_rejects_device_arrays() -> None:
    ends = PyGPU.to_gpu([1.0, 2.0])
    for geomspace in (PyGPU.geomspace, np.geomspace):
        with pytest.raises(TypeError, match="not device arrays"):
            geomspace(ends, 10.0, 3)
