"""Test that boolean masks, integer arrays and lists select and assign like NumPy.

The result of a selection is a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import (
    RECORD,
    assert_same,
    assert_same_refusal,
    dtypes,
    examples,
    integer_indices,
    orders,
    outcome,
    pair,
    shapes,
    slices,
    stable_repr,
    values,
)


@st.composite
def index_arrays(draw: st.DrawFn, length: int) -> Any:
    """Draw integer indices for an axis as an ndarray or a list; some draws contain indices out of range."""
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 1), (0,), (1, 3)]))
    low, high = (-length, length - 1) if length and draw(st.integers(0, 9)) else (-7, 7)
    count = int(np.prod(shape))
    items = draw(st.lists(st.integers(low, high), min_size=count, max_size=count))
    array = np.array(items, draw(st.sampled_from(["int64", "int8", "intp"]))).reshape(shape)
    return array.tolist() if draw(st.booleans()) else array


def masks(shape: tuple[int, ...]) -> st.SearchStrategy[np.ndarray]:
    count = int(np.prod(shape))
    return st.lists(st.booleans(), min_size=count, max_size=count).map(lambda m: np.array(m, bool).reshape(shape))


@st.composite
def advanced_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Draw a key for indexing: a mask, or a mixture of slices, masks, index arrays, integers, `None` and booleans."""
    if draw(st.integers(0, 4)) == 0:
        return draw(masks(shape[: draw(st.integers(0, len(shape)))]))
    items: list[Any] = []
    axis = 0
    while axis < len(shape) and draw(st.integers(0, 5)):
        kind = draw(st.integers(0, 3))
        width = 1
        if kind == 0:
            items.append(draw(slices))
        elif kind == 1:
            width = draw(st.integers(1, len(shape) - axis))
            items.append(draw(masks(shape[axis : axis + width])))
        else:
            items.append(draw(index_arrays(shape[axis]) | integer_indices(shape[axis])))
        axis += width
    for extra in draw(st.lists(st.sampled_from([None, Ellipsis, True, False, np.True_]), max_size=2)):
        items.insert(draw(st.integers(0, len(items))), extra)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def on_device(key: Any) -> Any:
    """Return the key with its ndarrays copied to the device."""
    if isinstance(key, tuple):
        return tuple(map(on_device, key))
    return PyGPU.to_gpu(key) if isinstance(key, np.ndarray) else key


@examples(300)
@given(st.data(), shapes, dtypes, orders, st.booleans())
def test_indexing_with_arrays_matches_numpy(
    data: st.DataObject, shape: tuple[int, ...], dtype: Any, order: str, moved: bool
) -> None:
    host, device = pair(shape, dtype, order)
    key = data.draw(advanced_keys(shape))
    numpys = outcome(lambda: host[key])
    ours = outcome(lambda: device[on_device(key) if moved else key])
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert ours[0] == "value", ours[1]
        assert_same(ours[1], numpys[1])


@examples(300)
@given(st.data(), shapes, dtypes, st.booleans(), st.booleans())
def test_assignment_with_arrays_as_key_matches_numpy(
    data: st.DataObject, shape: tuple[int, ...], dtype: Any, moved: bool, by_device: bool
) -> None:
    host, device = pair(shape, dtype)
    key = data.draw(advanced_keys(shape))
    selected = outcome(lambda: host[key])
    source: Any = values(np.shape(selected[1]) if selected[0] == "value" else (2,), dtype, start=50)
    if source.ndim and data.draw(st.booleans()):
        source = source[..., :1]  # The last axis of the assigned value has length 1 and is broadcast.
    numpys = outcome(lambda: host.__setitem__(key, source))
    given_source = PyGPU.to_gpu(source) if by_device else source
    ours = outcome(lambda: device.__setitem__(on_device(key) if moved else key, given_source))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert ours[0] == "value", ours[1]
    assert_same(device, host)


def test_array_selected_by_indices_or_mask_owns_its_memory() -> None:
    host, device = pair((5, 4))
    for key in ([0, 1], host > 3, np.array([2]), (slice(None), [0])):
        selected = device[key]
        assert selected.base is None
        selected[...] = -1
    assert_same(device, host)


def test_repeated_indices_select_element_repeatedly() -> None:
    host, device = pair((5,))
    key = np.array([4, 0, 4, 4, -1])
    assert_same(device[key], host[key])
    # If an index occurs more than once, the last value assigned to it is stored.
    device[key] = host[key] = np.arange(5.0)
    assert_same(device, host)


def test_mask_selects_elements_and_accepts_one_value_per_element() -> None:
    host, device = pair((5, 4))
    mask = host % 3 == 0
    assert_same(device[mask], host[mask])
    device[mask] = host[mask] = np.arange(mask.sum())
    assert_same(device, host)
    device[PyGPU.to_gpu(mask)] = host[mask] = 0.5
    assert_same(device, host)


@pytest.mark.parametrize("key", [[0, 1], np.array([[0], [2]]), np.arange(5) > 2, (..., [0, 1])], ids=repr)
@pytest.mark.parametrize(
    "source", [np.arange(7.0), np.ones((2, 2, 2, 2)), [1, 2, 3], "text", [object()], {}], ids=stable_repr
)
def test_assignment_of_wrong_value_raises_and_changes_nothing(key: Any, source: Any) -> None:
    host, device = pair((5, 4))
    assert_same_refusal(
        outcome(lambda: device.__setitem__(key, source)), outcome(lambda: host.__setitem__(key, source))
    )
    assert_same(device, host)


def test_indexing_view_with_array_key_matches_numpy() -> None:
    host, device = pair((6, 5))
    for h, d in ((host.T, device.T), (host[::-2, 1:], device[::-2, 1:])):
        assert_same(d[[0, 2], [1, 1]], h[[0, 2], [1, 1]])
        assert_same(d[h > 9], h[h > 9])
        d[[1, 2]] = h[[1, 2]] = -3
    assert_same(device, host)


def test_assignment_from_reversed_view_of_target_matches_copy() -> None:
    host, device = pair((6,))
    host[[0, 1, 2]] = host[::-1][:3].copy()
    device[[0, 1, 2]] = device[::-1][:3]
    assert_same(device, host)


def test_readonly_array_can_be_gathered_but_not_scattered() -> None:
    host, device = pair((3,))
    wide = PyGPU.broadcast_to(device, (2, 3))
    assert_same(wide[[1], [2]], host[[2]])
    with pytest.raises(ValueError, match="read-only"):
        wide[[0], [0]] = 1
    assert_same(device, host)


@pytest.mark.parametrize("name", RECORD.names)
def test_selected_field_is_view(name: str) -> None:
    host, device = pair((2, 3), RECORD)
    assert_same(device[name], host[name])
    assert device[name].base is device
    device[name][1] = host[name][1] = 0
    assert_same(device, host)
    device[name] = host[name] = 1
    assert_same(device, host)
    device[1, ::-1][name] = host[1, ::-1][name] = np.zeros_like(host[1][name])
    assert_same(device, host)
    assert_same(device.T[name], host.T[name])


def test_view_of_several_fields_is_readonly_and_shares_memory() -> None:
    host, device = pair((2, 3), RECORD)
    names = ["mark", "id"]
    assert_same(device[names], host[names])
    assert device[names].base is device
    with pytest.raises(ValueError, match="read-only"):
        device[names][0] = (True, 77)
    device[names] = host[names] = (True, 77)
    assert_same(device, host)


@pytest.mark.parametrize("key", ["nothing", ["id", "nothing"], ["id", 1], ("id", 0), (0, "id"), b"id", []], ids=repr)
def test_access_to_unknown_field_raises_like_numpy(key: Any) -> None:
    host, device = pair((2, 3), RECORD)
    numpys = outcome(lambda: host[key])
    if numpys[0] == "error":
        assert_same_refusal(outcome(lambda: device[key]), numpys)
    else:
        assert_same(device[key], numpys[1])


def test_selection_from_subclass_has_same_class() -> None:
    class Named(PyGPU.GPUArray):
        pass

    whole = Named((4,), "float32")
    whole.fill(0)
    selected = whole[[0, 1]]
    assert type(selected) is Named
    assert selected.shape == (2,)


@pytest.mark.parametrize("shape", [(0, 0, 0), (2, 3)])
@pytest.mark.parametrize("number", [0, 1, 7])
def test_index_next_to_empty_index_array_is_checked_like_numpy(shape: tuple[int, ...], number: int) -> None:
    # NumPy raises IndexError if the index `number` is out of bounds, although the empty index array selects no element.
    host = np.zeros(shape)
    key = (np.array(number), np.array([], int))
    try:
        expected = host[key].shape
    except IndexError:
        expected = None
    array = PyGPU.to_gpu(host)
    for own in (key, tuple(map(PyGPU.to_gpu, key))):
        if expected is None:
            with pytest.raises(IndexError):
                array[own]
            with pytest.raises(IndexError):
                array[own] = 1
        else:
            assert array[own].shape == expected
