"""Test that integers, slices, `...` and `None` give NumPy's views: equal shape, strides, flags, offset and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import (
    assert_same,
    assert_same_layout,
    assert_same_refusal,
    basic_keys,
    dtypes,
    examples,
    orders,
    outcome,
    pair,
    shapes,
    stable_repr,
)


def view_key(key: Any) -> Any:
    """Append an ellipsis to an index key that has none, so that NumPy returns a 0-d view instead of a scalar."""
    items = key if isinstance(key, tuple) else (key,)
    return items if any(item is Ellipsis for item in items) else (*items, Ellipsis)


@examples(100)
@given(st.data(), shapes, dtypes, orders)
def test_basic_index_matches_numpy_view(data: st.DataObject, shape: tuple[int, ...], dtype: Any, order: str) -> None:
    host, device = pair(shape, dtype, order)
    key = data.draw(basic_keys(shape))
    ours, numpys = outcome(lambda: device[key]), outcome(lambda: host[view_key(key)])
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
        return
    assert ours[0] == "value", ours[1]
    assert_same_layout(ours[1], numpys[1], (device, host))
    assert_same(ours[1], numpys[1])


@examples(100)
@given(st.data(), shapes)
def test_basic_index_of_view_matches_numpy(data: st.DataObject, shape: tuple[int, ...]) -> None:
    host, device = bases = pair(shape, "int16")
    for _ in range(3):
        key = data.draw(basic_keys(host.shape))
        numpys = outcome(lambda host=host, key=key: host[view_key(key)])
        if numpys[0] == "error":
            assert_same_refusal(outcome(lambda device=device, key=key: device[key]), numpys)
            return
        host, device = numpys[1], device[key]
        assert_same_layout(device, host, bases[::-1])
    assert_same(device, host)


WRONG_KEYS = [
    5,
    -6,
    (0, 4),
    (0, 0, 0),
    (..., 0, ...),
    (..., 0, 0, 0),
    (None, 0, 0, 0),
    1.0,
    np.float64(1),
    1j,
    "name",
    b"name",
    object(),
    {},
    {1, 2},
    range,
    slice("a", None),
    slice(1.5),
    slice(None, None, 1.0),
    slice(None, None, 0),
    (0, slice(None, None, 0)),
    -(2**63) - 1,
    2**200,
    (0, 2**64),
    [1.5],
    ["a"],
    [[1], [2, 3]],
    np.array(["a"]),
    np.array([1.0]),
    np.array([None]),
    ([0, 5], 0),
    np.array([True]),
    np.ones((5, 3), bool),
    np.ones((5, 4, 1), bool),
    ([0, 1], [0, 1, 2]),
    ([0, 1], "a"),
    (0, object()),
    np.datetime64("2020-01-01"),
]


@pytest.mark.parametrize("key", WRONG_KEYS, ids=stable_repr)
def test_indexing_with_wrong_key_raises_like_numpy(key: Any) -> None:
    host, device = pair((5, 4), "int32")
    assert_same_refusal(outcome(lambda: device[key]), outcome(lambda: host[key]))


@pytest.mark.parametrize("key", WRONG_KEYS, ids=stable_repr)
def test_assignment_rejects_wrong_key_and_changes_nothing(key: Any) -> None:
    host, device = pair((5, 4), "int32")
    assert_same_refusal(outcome(lambda: device.__setitem__(key, 0)), outcome(lambda: host.copy().__setitem__(key, 0)))
    assert_same(device, host)


@pytest.mark.parametrize("key", [2**63, np.uint64(2**63), -(2**63) - 1, (2**63, 0)], ids=repr)
def test_index_beyond_64_bits_raises_index_error(key: Any) -> None:
    # NumPy raises OverflowError for some integers beyond 64 bits, but IndexError if the integers are in a tuple.
    _, device = pair((5, 4))
    with pytest.raises(IndexError, match="index-sized"):
        device[key]


@pytest.mark.parametrize("key", [0, (0,), slice(None), (0, ...), (..., ...)], ids=repr)
def test_0d_array_accepts_same_keys_as_numpy(key: Any) -> None:
    host, device = pair(())
    ours, numpys = outcome(lambda: device[key]), outcome(lambda: host[key])
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert_same(ours[1], numpys[1])


def test_index_with_integer_for_each_axis_gives_0d_view() -> None:
    _, device = pair((2, 3))
    element = device[1, 2]
    assert isinstance(element, PyGPU.GPUArray)
    assert element.shape == ()
    assert element.ptr == device.ptr + 40
    element[...] = -1
    assert device.get()[1, 2] == -1


def test_object_with_index_method_is_accepted_as_integer_index() -> None:
    class Two:
        def __index__(self) -> int:
            return 2

    host, device = pair((5, 4))
    assert_same(device[Two()], host[2])
    assert_same(device[: Two(), Two()], host[:2, 2])


def test_error_of_index_method_is_raised() -> None:
    class Broken:
        def __index__(self) -> int:
            raise ZeroDivisionError("on purpose")

    _, device = pair((5, 4))
    for key in (Broken(), (0, Broken()), slice(Broken()), (0, slice(None, None, Broken()))):
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            device[key]


def test_key_of_tuple_subclass_is_accepted_as_tuple() -> None:
    class Key(tuple):
        __slots__ = ()

    host, device = pair((5, 4))
    assert_same(device[Key((1, 2))], host[1, 2])
    assert_same(device[Key((slice(None), [1, 2]))], host[:, [1, 2]])


@pytest.mark.parametrize("count", [0, 1, 62, 63, 64, 65])
def test_newaxis_beyond_largest_rank_raises_like_numpy(count: int) -> None:
    host, device = pair((2,))
    key = (None,) * count
    numpys = outcome(lambda: host[key])
    if numpys[0] == "error":
        assert_same_refusal(outcome(lambda: device[key]), numpys)
    else:
        assert_same(device[key], numpys[1])


def test_base_attribute_of_view_is_array_that_owns_memory() -> None:
    _, device = pair((5, 4))
    assert device.base is None
    assert device.flags.owndata
    view = device[1:][::2]
    assert view.base is device
    assert not view.flags.owndata
    assert device.T.base is device
    assert device.T[0].base is device


def test_write_to_view_changes_base_array() -> None:
    host, device = pair((5, 4))
    for array in (host, device):
        array[::-2, 1::2][:, 0] = 100
        array.T[2][1:3] = -5
    assert_same(device, host)


@examples(50)
@given(shapes, dtypes)
def test_iteration_yields_views_of_first_axis(shape: tuple[int, ...], dtype: Any) -> None:
    host, device = pair(shape, dtype)
    if not shape:
        assert_same_refusal(outcome(lambda: iter(device)), outcome(lambda: iter(host)))
        return
    rows = list(device)
    assert len(rows) == len(host)
    for row, index in zip(rows, range(len(host)), strict=True):
        assert_same_layout(row, host[index, ...], (device, host))
        assert_same(row, host[index, ...])


def test_slice_bounds_beyond_64_bits_are_clipped_to_axis_length() -> None:
    host, device = pair((5,))
    for key in (
        slice(-(2**63), 2**63),
        slice(2**100, -(2**100), -1),
        slice(None, None, 2**62),
        slice(None, None, -(2**62)),
    ):
        assert_same(device[key], host[key])


@pytest.mark.parametrize("key", ["C", "F", "CONTIGUOUS", "FORTRAN", "W", "O", "FORC", "FNC", "WRITEABLE", "OWNDATA"])
def test_array_flags_support_item_access(key: str) -> None:
    host, device = pair((2, 3))
    assert device.flags[key] == host.flags[key]
    assert device.T.flags[key] == host.T.flags[key]


@pytest.mark.parametrize("key", ["nonsense", "", "c_contiguous"], ids=repr)
def test_unknown_name_in_array_flags_raises_key_error(key: Any) -> None:
    host, device = pair((2, 3))
    assert_same_refusal(outcome(lambda: device.flags[key]), outcome(lambda: host.flags[key]))


@pytest.mark.parametrize("name", ["strides", "dtype", "ndim", "size", "nbytes", "ptr", "base", "T", "flags"])
def test_layout_attributes_of_array_cannot_be_assigned_or_deleted(name: str) -> None:
    _, device = pair((2, 3))
    with pytest.raises(AttributeError):
        setattr(device, name, getattr(device, name))
    with pytest.raises(AttributeError):
        delattr(device, name)


def test_bool_index_adds_axis_like_numpy() -> None:
    host, device = pair((3, 4))
    for key in (np.True_, np.False_, True, False):
        assert_same(device[key], host[key])
