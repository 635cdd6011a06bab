"""Test functions such as `linspace` whose end points are device arrays, grids with such end points, and `cross` of 2D
vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same

pytestmark = pytest.mark.usefixtures("compiled_together")


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


def test_logspace_with_number_and_array_has_same_dtype_as_numpy() -> None:
    start = np.array([0, 1], "float32")
    for stop, base in ((3, 10.0), (3.0, 2), (3, np.array([2, 4], "float32"))):
        ours = PyGPU.logspace(
            PyGPU.to_gpu(start), stop, 4, base=PyGPU.to_gpu(base) if isinstance(base, np.ndarray) else base
        ).get()
        numpys = np.logspace(start, stop, 4, base=base)
        assert ours.dtype == numpys.dtype
        np.testing.assert_allclose(ours, numpys, rtol=1e-5)


def test_mgrid_and_ogrid_with_end_points_in_device_arrays_match_numpy() -> None:
    def gpu(value: Any) -> PyGPU.GPUArray:
        return PyGPU.to_gpu(np.array(value))

    assert_same(PyGPU.mgrid[gpu(0) : gpu(5)], np.mgrid[0:5])
    assert_same(PyGPU.mgrid[0 : 5 : gpu(2)], np.mgrid[0:5:2])
    assert_same(PyGPU.mgrid[gpu(0) : gpu(3.0), 0:2], np.mgrid[0:3.0, 0:2])
    # A grid must be contiguous, so that it can be viewed with other shapes.
    assert PyGPU.mgrid[0:3, 0:4, 0:2].flags.c_contiguous
    for one, other in zip(PyGPU.ogrid[gpu(0) : gpu(3.0), 0:2], np.ogrid[0:3.0, 0:2], strict=True):
        assert_same(one, other)


def in_space(vectors: np.ndarray) -> np.ndarray:
    """Append a zero to vectors of two elements, because NumPy 2.5 computes cross products only in three dimensions."""
    return np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, 3 - vectors.shape[-1])])


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize("shapes", [((3,), (2,)), ((2,), (3,)), ((2, 3), (2,)), ((2, 2), (2, 3))])
def test_cross_product_of_2d_and_3d_vectors_matches_numpy(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    for dtype in ("int32", "float64"):
        first, second = (np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype) for shape in shapes)
        assert_same(PyGPU.cross(PyGPU.to_gpu(first), PyGPU.to_gpu(second)), np.cross(in_space(first), in_space(second)))


PAIRS: dict[str, tuple[Any, Any]] = {
    "arrays": (np.array([1.0, 2.0]), np.array([10.0, 20.0])),
    "array and number": (np.array([1.0, 2.0]), 30.0),
    "number and array": (1, np.array([[10.0], [20.0]])),
    "array and list": (np.array([1.0, 2.0]), [3, 4]),
    "0-d arrays": (np.array(1.0), np.array(5.0)),
    "broadcast arrays": (np.array([1.0, 2.0]), np.array([[4.0], [5.0]])),
    "negative": (np.array([-1.0, 2.0]), np.array([-9.0, 2.0])),
    "empty": (np.zeros(0), np.ones(0)),
}
"""Start and stop for functions such as `linspace`; ndarrays are copied to the device before the call."""

SPACED = {"linspace": PyGPU.linspace, "logspace": PyGPU.logspace, "geomspace": PyGPU.geomspace}


def check_spaced(name: str, ends: tuple[Any, Any], ours: tuple[Any, Any], **keywords: Any) -> None:
    """Compare a function of two end points with NumPy's function. Computed powers may differ in the last bits."""
    expected = getattr(np, name)(*ends, **keywords)
    result = SPACED[name](*ours, **keywords)
    assert isinstance(result, PyGPU.GPUArray)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    if name == "linspace":
        assert_same(result, expected)
    else:
        np.testing.assert_allclose(result.get(), expected, rtol=1e-5 if expected.dtype.itemsize == 4 else 1e-12)


def on_device(end: Any, dtype: str | None = None) -> Any:
    return PyGPU.to_gpu(end if dtype is None else end.astype(dtype)) if isinstance(end, np.ndarray) else end


@pytest.mark.sampled
@pytest.mark.parametrize(
    "keywords", [{}, {"axis": -1, "num": 3}, {"endpoint": False, "num": 4}, {"num": 0}, {"num": 1}]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex128"])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", SPACED)
def test_linspace_and_similar_functions_between_arrays_match_numpy(
    name: str, pair: str, dtype: str, keywords: dict[str, Any]
) -> None:
    ends = tuple(end.astype(dtype) if isinstance(end, np.ndarray) else end for end in PAIRS[pair])
    check_spaced(name, ends, tuple(on_device(end) for end in ends), **keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SPACED)
def test_linspace_and_similar_functions_accept_device_end_and_host_end(name: str) -> None:
    start, stop = PAIRS["arrays"]
    check_spaced(name, (start, stop), (PyGPU.to_gpu(start), stop))
    check_spaced(name, (start, stop), (start, PyGPU.to_gpu(stop)))


@pytest.mark.parametrize("name", ["logspace", "geomspace"])
def test_numpy_linspace_of_device_and_host_end_dispatches_to_pygpu(name: str) -> None:
    start, stop = PAIRS["arrays"]
    result = getattr(np, name)(PyGPU.to_gpu(start), stop, 3, axis=1)
    assert isinstance(result, PyGPU.GPUArray)
    np.testing.assert_allclose(result.get(), getattr(np, name)(start, stop, 3, axis=1), rtol=1e-12)


def test_linspace_between_arrays_returns_step_and_rounds_like_numpy() -> None:
    start, stop = np.array([-1.0, 2.0]), np.array([-4.0, 20.0])
    values, step = PyGPU.linspace(PyGPU.to_gpu(start), PyGPU.to_gpu(stop), 3, retstep=True, dtype="int64")
    expected, expected_step = np.linspace(start, stop, 3, retstep=True, dtype="int64")
    assert_same(values, expected)
    assert_same(step, expected_step)
    assert np.isnan(PyGPU.linspace(PyGPU.to_gpu(start), 1, 1, retstep=True)[1])


def test_linspace_between_arrays_is_correct_for_underflowing_step() -> None:
    start, stop = np.array([0.0, 0.0]), np.array([5e-324, 1.0])
    assert_same(PyGPU.linspace(PyGPU.to_gpu(start), PyGPU.to_gpu(stop), 4), np.linspace(start, stop, 4))


@pytest.mark.parametrize("base", [np.array([2.0, 3.0]), np.array([[2.0], [3.0]]), np.array(2, "float32")])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_logspace_with_bases_and_axis_matches_numpy(base: Any, axis: int) -> None:
    start = np.array([1.0, 2.0])
    expected = np.logspace(start, 3, 4, base=base, axis=axis)
    result = PyGPU.logspace(PyGPU.to_gpu(start), 3, 4, base=PyGPU.to_gpu(base), axis=axis)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(result.get(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", SPACED)
@pytest.mark.parametrize(
    ("stop", "keywords"),
    [([4.0, 5.0], {"axis": 2}), ([4.0, 5.0], {"num": -1}), ([4.0, 5.0], {"num": 2.5}), ([4.0, 5.0, 6.0], {})],
)
def test_linspace_and_similar_functions_raise_same_errors_as_numpy(
    name: str, stop: list[float], keywords: dict[str, Any]
) -> None:
    start, last = np.array([1.0, 2.0]), np.array(stop)
    with pytest.raises(Exception) as numpys:  # noqa: PT011  # NumPy determines the type
        getattr(np, name)(start, last, **keywords)
    with pytest.raises(numpys.type):
        SPACED[name](PyGPU.to_gpu(start), PyGPU.to_gpu(last), **keywords)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns when the test computes the expected result.
def test_geomspace_rejects_host_zero_and_returns_nan_for_device_zero() -> None:
    ends = PyGPU.to_gpu([1.0, 2.0])
    with pytest.raises(ValueError, match="cannot include zero"):
        PyGPU.geomspace(ends, 0.0, 3)
    assert np.isnan(PyGPU.geomspace(PyGPU.to_gpu([0.0]), 4.0, 3).get()).all()
