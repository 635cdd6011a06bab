"""Test the arguments `order`, `copy` and `out` of the methods `ravel`, `flatten`, `reshape` and `get`."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "permuted": lambda a: a.transpose(1, 2, 0),
    "strided": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, :, ::-1],
    "broadcast axis": lambda a: a[:, :1],
    "empty": lambda a: a[:0],
    "0-d": lambda a: a[0, 1, 2],
}
HOST = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("order", ["C", "F", "A", "K", None])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_ravel_and_flatten_read_elements_in_same_order_as_numpy(layout, order):
    host, array = np.asarray(LAYOUTS[layout](HOST)), LAYOUTS[layout](PyGPU.to_gpu(HOST))
    expected = host.ravel("C" if order is None else order)
    for found in (array.ravel(order), array.flatten(order), PyGPU.ravel(array, "C" if order is None else order)):
        np.testing.assert_array_equal(found.get(), expected)
        assert found.shape == expected.shape
    flat = array.flatten(order)
    flat.fill(-1)
    np.testing.assert_array_equal(array.get(), host)


def test_ravel_in_memory_order_k_of_fortran_array_is_view():
    array = PyGPU.to_gpu(HOST).T
    array.ravel("K")[0] = 99
    assert array[0, 0, 0].item() == 99


def test_reshape_copies_only_as_argument_copy_requests():
    array = PyGPU.arange(6)
    copied = array.reshape(2, 3, copy=True)
    copied.fill(0)
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    array.reshape((2, 3), copy=False)[0, 0] = 7
    assert array[0].item() == 7
    with pytest.raises(ValueError, match="creating a copy"):
        array.reshape(2, 3).T.reshape(6, copy=False)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_get_returns_ndarray_in_requested_memory_order(layout, order):
    array = LAYOUTS[layout](PyGPU.to_gpu(HOST))
    host = np.asarray(LAYOUTS[layout](HOST))
    found = array.get(order=order)
    np.testing.assert_array_equal(found, host)
    if order != "K":
        assert found.strides == host.copy(order).strides


def test_get_writes_into_out_array_and_rejects_unknown_order():
    array, out = PyGPU.arange(3), np.empty(3, "int64")
    assert array.get(out=out) is out
    assert out.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="one of them"):
        array.get(out, out=out)
    with pytest.raises(ValueError, match="order must be"):
        array.get(order="X")
