"""Test calls for which PyGPU once differed from NumPy: PyGPU accepted input that NumPy rejects, or rejected input that
NumPy accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same


@pytest.mark.parametrize("order", [None, "C", "F"])
def test_index_conversion_functions_accept_bools_and_order_none(order: Any) -> None:
    host = (np.array([True, False]), np.array([1, 2]))
    ours = tuple(PyGPU.to_gpu(part) for part in host)
    assert_same(PyGPU.ravel_multi_index(ours, (3, 4), order=order), np.ravel_multi_index(host, (3, 4), order=order))
    unraveled = PyGPU.unravel_index(ours[0], (3, 4), order)
    for one, other in zip(unraveled, np.unravel_index(host[0], (3, 4), order), strict=True):
        assert_same(one, other)


def test_index_conversion_functions_reject_same_arguments_as_numpy() -> None:
    index = PyGPU.to_gpu([0, 1])
    for number in (12, 100, -1, np.int64(12)):
        with pytest.raises(ValueError, match=f"index {number} is out of bounds for array with size 12"):
            PyGPU.unravel_index(number, (3, 4))
    with pytest.raises(TypeError, match="order must be str, not int"):
        PyGPU.ravel_multi_index((index, index), (3, 4), order=2)
    with pytest.raises(TypeError, match="not float64"):
        PyGPU.ravel_multi_index((index * 1.0, index), (3, 4))


@pytest.mark.parametrize(
    ("subscripts", "shape"), [("ii", (2, 1)), ("ii->i", (2, 1)), ("ii", (1, 2)), ("iij->ij", (2, 1, 3))]
)
def test_einsum_rejects_repeated_labels_of_different_lengths(subscripts: str, shape: tuple[int, ...]) -> None:
    host = np.ones(shape)
    for compute in (lambda: np.einsum(subscripts, host), lambda: PyGPU.einsum(subscripts, PyGPU.to_gpu(host))):
        with pytest.raises(ValueError, match="don't match"):
            compute()


@pytest.mark.parametrize("subscripts", ["ii->i", "ij->ji"])
def test_views_returned_by_einsum_are_writeable(subscripts: str) -> None:
    host = np.arange(4, dtype=np.int16).reshape(2, 2)
    array = PyGPU.to_gpu(host)
    PyGPU.einsum(subscripts, array)[...] = 7
    np.einsum(subscripts, host)[...] = 7
    assert_same(array, host)


def test_cov_and_pinv_of_size_zero_have_same_dtype_as_numpy() -> None:
    for dtype in ("float32", "complex64", "int32"):
        host = np.zeros((0, 2), dtype)
        assert_same(PyGPU.linalg.pinv(PyGPU.to_gpu(host)), np.linalg.pinv(host))
        assert_same(PyGPU.cov(PyGPU.to_gpu(host)), np.cov(host))


def test_correlate_rejects_0d_arrays_and_gradient_rejects_bools() -> None:
    one, many = PyGPU.to_gpu(np.array(3)), PyGPU.to_gpu([1, 2])
    for operands in ((one, many), (many, one), (3, many)):
        with pytest.raises(ValueError, match="object of too small depth for desired array"):
            PyGPU.correlate(*operands)
    with pytest.raises(TypeError, match="bool"):
        PyGPU.gradient(PyGPU.to_gpu([True, False, True]))


# `gradient` divides by a spacing of 0, and NumPy warns about this division.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("coordinates", [[True, False, True], [True, True, True]])
def test_gradient_with_bool_coordinates_matches_numpy(coordinates: list[bool], edge_order: int) -> None:
    values, host = np.array([1.0, 2.0, 4.0]), np.array(coordinates)
    expected = np.gradient(values, host, edge_order=edge_order)
    for ours in (PyGPU.to_gpu(host), host):
        assert_same(PyGPU.gradient(PyGPU.to_gpu(values), ours, edge_order=edge_order), expected)


def test_gradient_with_uneven_bool_coordinates_raises_type_error() -> None:
    values, coordinates = np.array([1.0, 2.0, 4.0]), np.array([True, True, False])
    with pytest.raises(TypeError):
        np.gradient(values, coordinates)
    with pytest.raises(TypeError, match="bool, and unevenly spaced"):
        PyGPU.gradient(PyGPU.to_gpu(values), PyGPU.to_gpu(coordinates))
