"""Test `repeat`, `delete`, `insert` and `trim_zeros` with each kind of index: values, dtypes and errors match NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy, since_numpy

ARRAYS = [np.arange(12).reshape(3, 4), np.arange(5), np.zeros((0, 3)), np.arange(8.0).reshape(2, 2, 2)]
INDICES: list[Any] = [
    *(0, -1, 2, 5, np.uint8(1), [0, 1], [1, 1, -1], [], [0, 9], np.array([], "i8"), np.array([1], "u8")),
    *(slice(None), slice(1, 3), slice(None, None, 2), slice(3, None, -1), slice(5, 1), slice(-1, None, -2)),
    *(np.array([True, False]), np.array([True, False, True]), np.array([1.5]), np.array([])),
]
COUNTS: list[Any] = [
    *(0, 1, 3, [2], [1, 2, 0], [1, 0, 2, 1], [], 1.5, [1.5, 1, 2], [0, 0, 0], np.int8(3), True, [True, False, True]),
    *(np.array([1, 2, 0], "u8"), np.array([1.5, 1, 2]), [1, -1, 2], [1, 2, 3, 4, 5]),
]


def outcome(function: Any, *arguments: Any) -> Any:
    """Return the result of a function, or the class of its exception."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


def check(name: str, host: np.ndarray, *arguments: Any) -> None:
    expected = outcome(getattr(np, name), host, *arguments)
    got = outcome(getattr(PyGPU, name), PyGPU.to_gpu(host), *arguments)
    if isinstance(expected, type):
        # If both the number of repeat counts and their values are wrong, NumPy and PyGPU may report different errors.
        assert got == expected or {got, expected} <= {ValueError, TypeError}, (name, arguments, expected, got)
        return
    assert isinstance(got, PyGPU.GPUArray), (name, host.shape, arguments, got)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (name, host.shape, arguments)
    np.testing.assert_array_equal(got.get(), expected, err_msg=f"{name} of shape {host.shape}: {arguments}")


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_delete_and_repeat_match_numpy_for_each_kind_of_index(axis: int | None) -> None:
    for host in ARRAYS:
        for index in INDICES:
            check("delete", host, index, axis)
        for count in COUNTS:
            check("repeat", host, count, axis)


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_insert_matches_numpy_for_each_kind_of_index(axis: int | None) -> None:
    for host in ARRAYS:
        for index in INDICES:
            # Before version 2.2, NumPy used the elements of a mask as the integers 0 and 1, so such indices are not
            # tested.
            if not is_numpy("2.2") and isinstance(index, np.ndarray) and index.dtype == bool:
                continue
            for values in (7, np.array([7, 8])):
                check("insert", host, index, values, axis)


@since_numpy("2.2", "trim_zeros of several axes")
def test_trim_zeros_matches_numpy() -> None:
    for values in ([0, 0, 1, 0, 2, 0], [0, 0], [1], [[0, 0], [0, 1]], [[], []]):
        for trim in ("fb", "f", "b"):
            check("trim_zeros", np.array(values, "f4"), trim)


def test_delete_accepts_device_indices_and_masks() -> None:
    host = np.arange(10)
    a = PyGPU.to_gpu(host)
    np.testing.assert_array_equal(PyGPU.delete(a, PyGPU.to_gpu([1, 3, -1])).get(), np.delete(host, [1, 3, -1]))
    np.testing.assert_array_equal(PyGPU.delete(a, a > 4).get(), np.delete(host, host > 4))
    with pytest.raises(ValueError, match="match the axis length of 10"):
        PyGPU.delete(a, a[:5] > 4)
    rows = PyGPU.to_gpu(host.reshape(2, 5))
    np.testing.assert_array_equal(PyGPU.delete(rows, rows[0] > 2, 1).get(), np.delete(rows.get(), host[:5] > 2, 1))
    np.testing.assert_array_equal(PyGPU.insert(a, PyGPU.to_gpu([1, 3]), 7).get(), np.insert(host, [1, 3], 7))
