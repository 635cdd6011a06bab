"""Test that sequences of view operations (slices, transposes, reshapes, ...) give the same layouts as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import (
    ALL_DTYPES,
    NUMPYS_OWN,
    PADDED,
    assert_same,
    assert_same_layout,
    assert_same_refusal,
    basic_keys,
    dtypes,
    examples,
    host_views,
    orders,
    outcome,
    pair,
    shapes,
    values,
)

OPERATIONS = ["index", "T", "mT", "transpose", "reshape", "squeeze", "swapaxes", "diagonal", "view", "ravel"]
OPERATIONS += ["broadcast_to", "expand_dims", "moveaxis", "flip"]
Step = tuple[str, Callable[[Any], Any], Callable[[Any], Any]]


def method(name: str, *args: Any, **kwargs: Any) -> Step:
    """Return a function that calls the method `name` of both the device array and the NumPy array."""
    call = lambda array: getattr(array, name)(*args, **kwargs)  # noqa: E731
    return f".{name}{args}{kwargs or ''}", call, call


def function(name: str, *args: Any) -> Step:
    """Return a function that calls both PyGPU's and NumPy's function `name`."""
    return f"{name}{args}", lambda a: getattr(PyGPU, name)(a, *args), lambda a: getattr(np, name)(a, *args)


@st.composite
def new_shapes(draw: st.DrawFn, size: int) -> tuple[int, ...]:
    """Draw a shape with `size` elements; in some draws one length is -1 or wrong."""
    shape: list[int] = []
    rest = size
    for _ in range(draw(st.integers(0, 3))):
        factor = draw(st.sampled_from([n for n in range(1, 7) if rest % n == 0] or [1]))
        shape.append(factor)
        rest //= factor
    shape.insert(draw(st.integers(0, len(shape))), rest)
    if draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.sampled_from([-1, -1, -1, 2]))
    return tuple(shape)


def axes(ndim: int) -> st.SearchStrategy[int]:
    """Draw an axis; some draws are out of range."""
    return st.integers(-ndim, max(ndim - 1, 0)) if ndim else st.integers(-1, 1)


@st.composite
def steps(draw: st.DrawFn, host: np.ndarray) -> Step:
    """Draw an operation that returns a view of `host`, or that NumPy rejects."""
    axis = axes(host.ndim)
    some_axes = st.lists(axis, max_size=2).map(tuple)
    name = draw(st.sampled_from(OPERATIONS))
    match name:
        case "index":
            key = draw(basic_keys(host.shape))
            items = key if isinstance(key, tuple) else (key,)
            items = items if any(item is Ellipsis for item in items) else (*items, Ellipsis)
            return f"[{key}]", lambda a: a[items], lambda a: a[items]
        case "T" | "mT":
            return f".{name}", lambda a: getattr(a, name), lambda a: getattr(a, name)
        case "transpose":
            order = draw(st.permutations(range(host.ndim)) | some_axes.map(list))
            return draw(st.sampled_from([method(name), method(name, order), method(name, *order)]))
        case "reshape":
            shape = draw(new_shapes(host.size))
            order = draw(st.sampled_from("CFA"))
            return draw(st.sampled_from([method(name, shape, order=order), method(name, *shape, order=order)]))
        case "squeeze":
            ones = [axis for axis, length in enumerate(host.shape) if length == 1]
            chosen = [(), (tuple(ones),), (None,)]
            # For a 0-d array, draw only integers as axes: NumPy accepts some integers, but no tuple of integers.
            if host.ndim == 0:
                return method(name, *draw(st.sampled_from([*chosen, (0,), (-1,), (1,)])))
            return method(name, *draw(st.sampled_from(chosen) | some_axes.map(lambda a: (a,))))
        case "swapaxes":
            return method(name, draw(axis), draw(axis))
        case "diagonal":
            return method(name, draw(st.integers(-3, 3)), draw(axis), draw(axis))
        case "view" if host.dtype == PADDED:
            # A view with another dtype would contain the padding bytes, which are undefined in a copy that NumPy made.
            return method(name)
        case "view":
            return method(name, *draw(st.sampled_from([(), *((dtype,) for dtype in NUMPYS_OWN), ("V3",), ("V16",)])))
        case "ravel":
            return method(name, *draw(st.sampled_from([(), ("C",), ("F",), ("A",)])))
        case "broadcast_to":
            front = draw(st.lists(st.integers(0, 2), max_size=2))
            wide = [draw(st.integers(0, 3)) if length == 1 else length for length in host.shape]
            return function(name, (*front, *wide))
        case "expand_dims":
            wider = st.integers(-host.ndim - 1, host.ndim)
            return function(name, draw(wider | st.lists(wider, max_size=2).map(tuple)))
        case "moveaxis":
            return function(name, draw(axis | some_axes), draw(axis | some_axes))
        case _:
            label, of_device, of_host = function(name, *draw(st.sampled_from([(), (None,)]) | axis.map(lambda a: (a,))))
            # For a 0-d array, NumPy's function returns a scalar or raises. Replace the scalar by a 0-d view.
            return label, of_device, lambda a: of_host(a) if a.ndim else (of_host(a), a[...])[1]


@examples(400)
@given(st.data(), shapes, dtypes, orders)
def test_layout_after_chain_of_view_operations_matches_numpy(
    data: st.DataObject, shape: tuple[int, ...], dtype: Any, order: str
) -> None:
    host, device = pair(shape, dtype, order)
    bases = (device, host)
    for _ in range(data.draw(st.integers(1, 6), label="length")):
        label, of_device, of_host = data.draw(steps(host))
        ours, numpys = outcome(lambda d=device, call=of_device: call(d)), outcome(lambda h=host, call=of_host: call(h))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
            continue
        assert ours[0] == "value", (label, ours[1])
        if numpys[1].size > 4000:
            break
        is_view = np.may_share_memory(numpys[1], bases[1])
        host, device = numpys[1], ours[1]
        if not is_view:  # The result is a copy, so offsets are now counted from its start.
            assert host.size == 0 or device.ptr != bases[0].ptr, label
            bases = (device, host)
        assert_same_layout(device, host, bases)
        assert_same(device, host)


@examples(100)
@given(host_views(), st.sampled_from(ALL_DTYPES))
def test_view_with_other_dtype_matches_numpy(host: np.ndarray, dtype: Any) -> None:
    device = PyGPU.to_gpu(host)
    host = device.get()  # Both are contiguous, unlike the array that was uploaded.
    ours, numpys = outcome(lambda: device.view(dtype)), outcome(lambda: host.view(dtype))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
        return
    assert ours[0] == "value", ours[1]
    assert_same_layout(ours[1], numpys[1], (device, host))
    assert ours[1].dtype == numpys[1].dtype


WRONG_CALLS = [
    method("reshape", 5),
    method("reshape", -1, -1),
    method("reshape", (-1, 7)),
    method("reshape", 2**40, 2**40),
    method("reshape", 2**70),
    method("reshape", "abc"),
    method("reshape", 2.0, 12),
    method("reshape", (2, None)),
    method("reshape"),
    method("reshape", 24, None),
    method("reshape", 2, 3, 2, 2, 2),
    method("reshape", 2, 3, 2, 2, None),
    method("reshape", a=24),
    method("reshape", (24,), order="X"),
    method("reshape", (24,), order="K"),
    method("reshape", (24,), order=1),
    method("reshape", (1,) * 65),
    method("ravel", "X"),
    method("ravel", order=3),
    method("transpose", 0, 1),
    method("transpose", None, 0, 1),
    method("transpose", 2, 1, 0, 0, 0),
    method("transpose", 0, 1, 1),
    method("transpose", 0, 1, 3),
    method("transpose", (0, 1, -4)),
    method("transpose", 0.0, 1, 2),
    method("transpose", "abc"),
    method("swapaxes", 0, 3),
    method("swapaxes", -4, 0),
    method("swapaxes", 0.5, 1),
    method("swapaxes", None, 1),
    method("swapaxes", 1),
    method("squeeze", 0),
    method("squeeze", 3),
    method("squeeze", (0, 0)),
    method("squeeze", 1.5),
    method("diagonal", 0, 1, 1),
    method("diagonal", 0, 0, 3),
    method("diagonal", 0.5),
    method("view", "nonsense"),
    method("view", "V5"),
    method("view", object),
    method("view", 7),
    function("broadcast_to", (3, 3, 4)),
    function("broadcast_to", (4,)),
    function("broadcast_to", (-1, 2, 3, 4)),
    function("broadcast_to", 2.5),
    function("broadcast_to", (2**62, 2, 3, 4)),
    function("expand_dims", 5),
    function("expand_dims", -5),
    function("expand_dims", (0, 0)),
    function("expand_dims", 0.5),
    function("moveaxis", 3, 0),
    function("moveaxis", 0, 3),
    function("moveaxis", (0, 1), 0),
    function("moveaxis", (0, 0), (0, 1)),
    function("moveaxis", "a", 0),
    function("flip", 3),
    function("flip", (0, 0)),
    function("flip", "a"),
]


@pytest.mark.parametrize(("label", "of_device", "of_host"), WRONG_CALLS, ids=[call[0] for call in WRONG_CALLS])
def test_view_functions_reject_wrong_arguments_like_numpy(label: str, of_device: Any, of_host: Any) -> None:
    host, device = pair((2, 3, 4))
    assert_same_refusal(outcome(lambda: of_device(device)), outcome(lambda: of_host(host)))
    assert_same(device, host)


def test_broadcast_view_and_its_views_are_readonly() -> None:
    _, device = pair((3,))
    wide = PyGPU.broadcast_to(device, (2, 3))
    for view in (wide, wide[0], wide.T, wide.reshape(1, 2, 3), wide.view("int64"), wide[None]):
        assert not view.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0
    assert wide.copy().flags.writeable
    assert device.flags.writeable


def test_ravel_of_array_with_gaps_is_contiguous_copy() -> None:
    host, device = pair((12,))
    for array in (device[::2], device[::-1]):
        assert array.ravel().flags.c_contiguous
        assert array.ravel().ptr != array.ptr
    assert_same(device[::2].ravel(), host[::2].ravel())
    assert device.ravel().ptr == device.ptr


def test_reshape_returns_copy_if_no_view_is_possible() -> None:
    host, device = pair((3, 4))
    flat = device.T.reshape(12)
    flat[...] = 0
    assert_same(device, host)


def test_write_to_view_with_other_dtype_matches_numpy() -> None:
    host, device = pair((2, 3), "float32")
    for array in (host, device):
        array.view("uint8")[:, ::4] = 1
        array[:, 1:].view("i4")[...] = 7
    assert_same(device, host)


def test_view_without_dtype_is_new_object_with_same_memory() -> None:
    _, device = pair((2, 3))
    again = device.view()
    assert again is not device
    assert (again.ptr, again.shape, again.strides, again.base) == (device.ptr, device.shape, device.strides, device)


def test_views_of_64_axes_are_supported_and_views_of_65_are_rejected() -> None:
    host, device = pair((2,) + (1,) * 9, "uint8")
    deep = device.reshape((1,) * 63 + (2,))
    assert_same(deep, host.reshape((1,) * 63 + (2,)))
    assert_same(deep.T, host.reshape((1,) * 63 + (2,)).T)
    with pytest.raises((ValueError, IndexError), match="dimension"):
        deep[None]


def test_ten_axes_with_strides_of_any_sign_match_numpy() -> None:
    host = values((2,) * 10, "int16")
    device = PyGPU.to_gpu(host)
    key = tuple(slice(None, None, step) for step in (1, -1) * 5)
    assert_same_layout(device[key].T, host[key].T, (device, host))
    assert_same(device[key].T, host[key].T)
