"""Test that `a.flat` of a device array `a` behaves like NumPy's iterator."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy, since_numpy

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "strided": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, ::-1],
    "scalar": lambda a: a[1, 2],
}
KEYS = [
    3,
    -1,
    np.int64(2),
    slice(None),
    slice(1, 9, 3),
    slice(None, None, -2),
    ...,
    # Before NumPy 2.4, `a.flat[()]` has the shape of `a`.
    *([()] if is_numpy("2.4") else []),
    [0, 5, 5],
    np.array([2, 1]),
    [],
]


def pair(layout: str) -> tuple[np.ndarray, PyGPU.GPUArray, np.ndarray, PyGPU.GPUArray]:
    """Return a host array, a device copy of it, and equal views of the two arrays."""
    host = np.arange(12).reshape(3, 4)
    array = PyGPU.to_gpu(host)
    return host, array, LAYOUTS[layout](host), LAYOUTS[layout](array)


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "scalar"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_flat_iterator_reads_and_writes_like_numpy(layout, key):
    host, array, host_view, view = pair(layout)
    found, expected = view.flat[key], host_view.flat[key]
    np.testing.assert_array_equal(found.get(), expected)
    assert found.shape == np.shape(expected)
    found.fill(99)
    np.testing.assert_array_equal(array.get(), host)
    for value in (-1, [-2], [-3, -4]):
        # NumPy raises an error for these assigned values.
        if isinstance(key, tuple) or (np.ndim(expected) == 0 and np.ndim(value)):
            continue
        host_view.flat[key] = value
        view.flat[key] = value
        np.testing.assert_array_equal(array.get(), host)


def test_flat_iterator_accepts_device_indices_and_masks():
    host, array, host_view, view = pair("F")
    for key in (np.array([5, 0]), host_view.ravel() > 4):
        np.testing.assert_array_equal(view.flat[PyGPU.to_gpu(key)].get(), host_view.flat[key])
        host_view.flat[key] = [7, 8]
        view.flat[PyGPU.to_gpu(key)] = PyGPU.to_gpu([7, 8])
        np.testing.assert_array_equal(array.get(), host)


def test_assignment_to_flat_repeats_values_until_array_is_full():
    host, array, host_view, view = pair("strided")
    host_view.flat = [1, 2, 3, 4]
    view.flat = [1, 2, 3, 4]
    np.testing.assert_array_equal(array.get(), host)


def test_flat_iterator_of_0d_array_has_one_element():
    _, array, _, view = pair("scalar")
    assert len(view.flat) == 1
    assert view.flat[0].item() == 6
    array[1, 2] = 0
    view.flat[0] = 8
    assert view.item() == 8


@pytest.mark.parametrize("key", [12, -13, (1, 2), None, "x", [True] * 12, True])
@since_numpy("2.4", "errors for masks of another length")
def test_flat_iterator_rejects_invalid_keys_with_same_errors_as_numpy(key):
    host, array, *_ = pair("C")
    with pytest.raises(IndexError):
        host.flat[key] if key is not True else host.flat[[True]]
    with pytest.raises(IndexError):
        array.flat[key]
    with pytest.raises(IndexError):
        array.flat[key] = 1
    np.testing.assert_array_equal(array.get(), host)


def test_flat_iterator_index_counts_elements_in_c_order():
    _, _, host_view, view = pair("F")
    iterator, expected = view.flat, host_view.flat
    assert isinstance(iterator, PyGPU.flatiter)
    for value, number in zip(iterator, expected, strict=True):
        assert value == number
        if iterator.index < view.size:
            assert (iterator.index, iterator.coords) == (expected.index, expected.coords)
    assert iterator.base is view
    assert view.flat.copy().tolist() == host_view.flat.copy().tolist()


def test_comparison_of_flat_iterator_compares_elements():
    _, array, *_ = pair("C")
    assert (array.flat == array.flat).all()
    assert (array.flat < 6).get().sum() == 6
