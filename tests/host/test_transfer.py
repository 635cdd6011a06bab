"""Test `get`, `set`, and the host mirror, an ndarray that `to_device` uploads and `to_host` refreshes."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import (
    PADDED,
    address,
    assert_same,
    assert_same_values,
    dtypes,
    examples,
    host_views,
    pair,
    shapes,
    slices,
    values,
)


@st.composite
def device_views(draw: st.DrawFn) -> tuple[np.ndarray, PyGPU.GPUArray]:
    """Draw a view of an ndarray and the same view of a device array: strided, reversed or transposed."""
    host, device = pair(draw(shapes), draw(dtypes), draw(st.sampled_from("CF")))
    key = tuple(draw(slices) for _ in range(host.ndim))
    axes = draw(st.permutations(range(host.ndim)))
    return host[(*key, ...)].transpose(axes), device[key].transpose(axes)


# Tests of `get`.


@examples(100)
@given(device_views())
def test_get_returns_ndarray_with_memory_order_of_array(views: tuple[np.ndarray, PyGPU.GPUArray]) -> None:
    host, device = views
    got = device.get()
    assert_same_values(got, host)
    assert got.flags.owndata or got.base.flags.owndata
    assert got.flags.writeable
    expected = host.copy(order="K")
    long = [axis for axis, length in enumerate(host.shape) if length > 1]
    if host.size:
        assert [got.strides[axis] for axis in long] == [expected.strides[axis] for axis in long]


@examples(100)
@given(device_views(), st.data())
def test_get_fills_ndarray_of_any_strides(views: tuple[np.ndarray, PyGPU.GPUArray], data: st.DataObject) -> None:
    host, device = views
    frame = values(tuple(2 * n + 1 for n in host.shape), host.dtype, start=99)
    untouched = frame.copy()
    key = tuple(data.draw(st.sampled_from([slice(1, None, 2), slice(-2, None, -2)])) for _ in host.shape)
    target = frame[(*key, ...)]
    assert device.get(target) is target
    untouched[key] = host
    assert_same_values(frame, untouched)


def test_get_accepts_ndarray_of_other_shape_and_same_size() -> None:
    host, device = pair((2, 6), "int32")
    target = np.zeros((3, 4), "int32")
    assert device.get(target) is target
    assert_same_values(target, host.reshape(3, 4))
    with pytest.raises(ValueError, match="copy"):
        device.get(np.zeros((3, 8), "int32")[:, ::2].T)


def refusals_of_get() -> list[tuple[str, Any, type[Exception]]]:
    readonly = np.zeros((2, 3))
    readonly.flags.writeable = False
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(3), (2, 3), (0, 8))
    return [
        ("another dtype", np.zeros((2, 3), "float32"), TypeError),
        ("the other byte order", np.zeros((2, 3), ">f8"), TypeError),
        ("objects", np.zeros((2, 3), object), TypeError),
        ("too few elements", np.zeros((2, 2)), ValueError),
        ("too many elements", np.zeros((3, 3)), ValueError),
        ("read-only", readonly, ValueError),
        ("overlapping elements", overlapping, ValueError),
        ("a list", [0.0] * 6, TypeError),
        ("a number", 7, TypeError),
        ("a device array", PyGPU.zeros((2, 3)), TypeError),
    ]


@pytest.mark.parametrize("position", range(10))
def test_get_into_unsuitable_ndarray_raises_and_leaves_ndarray_unchanged(position: int) -> None:
    _, target, error = refusals_of_get()[position]
    host, device = pair((2, 3))
    remembered = device.get()
    before = target.copy() if isinstance(target, np.ndarray) else target
    with pytest.raises(error) as refusal:
        device.get(target)
    assert "get" in str(refusal.value) or "byte order" in str(refusal.value) or "device memory" in str(refusal.value)
    if isinstance(target, np.ndarray):
        np.testing.assert_array_equal(target, before)
    assert device.host_array is remembered
    assert_same(device, host)


# Tests of `set`.


@examples(100)
@given(device_views(), st.data())
def test_set_accepts_ndarray_of_any_strides_and_changes_no_gaps(
    views: tuple[np.ndarray, PyGPU.GPUArray], data: st.DataObject
) -> None:
    host, device = views
    source = data.draw(host_views(host.dtype)) if data.draw(st.booleans()) else None
    if source is None or source.size != host.size:
        source = values(host.shape, host.dtype, data.draw(st.sampled_from("CF")), start=50)
    if source.shape != host.shape:
        source = np.ascontiguousarray(source)
    host[...] = source.reshape(host.shape)
    assert device.set(source) is None
    assert_same(device, host)
    if device.base is not None:
        assert_same(device.base, host if host.base is None else _owner(host).reshape(device.base.shape, order="A"))


def _owner(host: np.ndarray) -> np.ndarray:
    while host.base is not None:
        host = host.base
    return host


def test_set_accepts_lists_and_other_shapes_of_same_size() -> None:
    _, device = pair((2, 3), "int64")
    device.set([[6, 5, 4], [3, 2, 1]])
    assert device.tolist() == [[6, 5, 4], [3, 2, 1]]
    device.set(np.arange(6))
    assert device.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_set_reads_readonly_and_broadcast_sources() -> None:
    _, device = pair((2, 3))
    source = np.broadcast_to(np.arange(3.0), (2, 3))
    device.set(source)
    assert_same(device, source)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (np.zeros((2, 3), "float32"), ValueError),
        (np.zeros((2, 3), ">f8"), TypeError),
        (np.zeros((2, 3), object), TypeError),
        (np.zeros((2, 2)), ValueError),
        (np.zeros((2, 3, 2)), ValueError),
        (np.zeros(0), ValueError),
        (1.0, ValueError),
        (None, TypeError),
        ("text", TypeError),
        ([[1.0, 2.0], [3.0]], ValueError),
    ],
    ids=lambda value: repr(value)[:30],
)
@pytest.mark.parametrize("name", ["set", "set_async"])
def test_set_rejects_unsuitable_source_and_changes_nothing(name: str, source: Any, error: type[Exception]) -> None:
    host, device = pair((2, 3))
    with pytest.raises(error) as refusal:
        getattr(device, name)(source)
    assert str(refusal.value)
    assert_same(device, host)


def test_set_copies_ndarray_before_it_returns() -> None:
    _, device = pair((1000,), "int32")
    for call in (device.set, device.set_async):
        source = np.full(1000, 3, "int32")
        call(source)
        source[...] = 9
        assert device.tolist() == [3] * 1000


def test_asynchronous_get_and_set_copy_correct_values() -> None:
    host, device = pair((50, 40), "int16")
    for got in (device.get_async(), device.get(async_=True), device.T.get_async().T):
        device.synchronize()
        assert_same_values(got, host)
    target = np.zeros_like(host)
    assert device.get_async(ary=target) is target
    device.synchronize()
    assert_same_values(target, host)
    device.set(host[::-1], async_=True)
    assert_same(device, host[::-1])


# Tests of the host mirror.


def test_get_returns_new_ndarray_that_later_calls_do_not_change() -> None:
    host, device = pair((4,))
    first = device.get()
    device.fill(0)
    second = device.get()
    assert second is not first
    assert not np.may_share_memory(first, second)
    assert_same_values(first, host)
    assert second.tolist() == [0.0] * 4


HOLDERS: list[Callable[[np.ndarray], Any]] = [
    lambda a: a,
    lambda a: a[1:],
    lambda a: a.T,
    memoryview,
    lambda a: a.view(np.recarray),
    lambda a: [a],
    lambda a: iter(a),
    lambda a: a.ctypes,
    lambda a: a.flat,
    lambda a: a.__array_interface__ and a.reshape(-1),
]


@pytest.mark.parametrize("position", range(len(HOLDERS)))
def test_result_of_get_in_use_is_not_overwritten_by_next_get(position: int) -> None:
    _, device = pair((4,))
    got = device.get()
    at = address(got)
    holder = HOLDERS[position](got)
    del got
    device.fill(0)
    again = device.get()
    assert address(again) != at
    assert holder is not None


def test_memory_of_dropped_get_result_is_reused() -> None:
    _, device = pair((1000,))
    addresses = set()
    for _ in range(5):
        got = device.get()
        addresses.add(address(got))
        del got
    assert len(addresses) == 1


def test_to_device_uploads_changes_in_last_result_of_get() -> None:
    _, device = pair((2, 3), "int32")
    got = device.get()
    got[1] = [7, 8, 9]
    assert device.to_device() is None
    assert device.tolist() == [[1, 2, 3], [7, 8, 9]]
    assert device.host_array is got


def test_to_host_refreshes_last_result_of_get_in_place() -> None:
    _, device = pair((3,), "int32")
    got = device.get()
    device.fill(5)
    assert got.tolist() == [1, 2, 3]
    assert device.to_host() is None
    assert got.tolist() == [5, 5, 5]
    assert device.host_array is got


def test_to_host_creates_host_mirror() -> None:
    host, device = pair((3,))
    assert device.host_array is None
    with pytest.raises(ValueError, match="host side"):
        device.to_device()
    device.to_host()
    assert_same_values(device.host_array, host)


def test_array_constructed_from_ndarray_has_ndarray_as_host_mirror() -> None:
    host = values((2, 3), "float32", "F")
    device = PyGPU.GPUArray(host)
    assert device.host_array is host
    assert (device.shape, device.dtype, device.strides) == (host.shape, host.dtype, host.strides)
    device.to_device()
    assert device.tolist() == host.tolist()
    assert device.host_array is host
    other = PyGPU.GPUArray(host, copy=True)
    assert not np.may_share_memory(other.host_array, host)
    other.to_device()
    assert_same(other, host)


def test_changed_host_mirror_is_uploaded_by_to_device_only() -> None:
    host = np.zeros(3)
    device = PyGPU.GPUArray(host)
    device.to_device()
    host[0] = 7
    assert device[0].item() == 0
    device.to_device()
    assert device[0].item() == 7
    device.fill(1).to_host()
    assert host.tolist() == [1, 1, 1]


@examples(100)
@given(host_views())
def test_ndarray_of_any_strides_can_be_host_mirror(host: np.ndarray) -> None:
    device = PyGPU.GPUArray(host)
    device.to_device()
    expected = host.copy()
    host[...] = np.zeros((), host.dtype)
    device.to_host()
    assert_same_values(host, expected)


def test_to_device_uploads_readonly_mirror_and_to_host_rejects_it() -> None:
    host = values((3,))
    host.flags.writeable = False
    device = PyGPU.GPUArray(host)
    device.to_device()
    assert device.tolist() == [1, 2, 3]
    device.fill(0)
    with pytest.raises(ValueError, match="read-only"):
        device.to_host()
    assert device.host_array is host
    assert host.tolist() == [1, 2, 3]


def test_to_device_accepts_host_mirror_that_was_reshaped() -> None:
    device = PyGPU.GPUArray(values((4,)))
    host = device.host_array
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        host.shape = (2, 2)
    device.to_device()
    assert device.tolist() == [1, 2, 3, 4]


def test_views_of_array_have_separate_host_mirrors() -> None:
    _, device = pair((4,))
    got = device.get()
    view = device[1:3]
    assert view.host_array is None
    part = view.get()
    part[...] = -1
    view.to_device()
    assert device.host_array is got
    assert device.tolist() == [1, -1, -1, 4]


def test_dropped_array_releases_its_host_mirror() -> None:
    import weakref

    host = values((3,))
    device = PyGPU.GPUArray(host)
    reference = weakref.ref(host)
    del host
    assert reference() is not None
    del device
    gc.collect()
    assert reference() is None


LARGE_SHAPES = [(1 << 20,), (1024, 1025), (3, 700, 301), (2, 2, 2, 100_003)]


@examples(25)
@given(dtypes.filter(lambda dtype: dtype is not PADDED), st.sampled_from(LARGE_SHAPES))
def test_large_arrays_of_every_dtype_have_same_bytes_after_download(dtype: Any, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    raw = np.arange(count * dtype.itemsize, dtype=np.uint32).astype(np.uint8)
    if dtype.kind == "b" or dtype.names is not None:
        raw &= 1
    host = raw.view(dtype).reshape(shape)
    device = PyGPU.to_gpu(host)
    for ours, numpys in ((device, host), (device.T, host.T), (device[..., ::2], host[..., ::2])):
        got = ours.get()
        assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(numpys).tobytes()
