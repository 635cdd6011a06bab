"""Test that `a[key] = value` matches NumPy for any value and layout; a rejected assignment changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from support import (
    COMPLEX,
    INTEGERS,
    ML_DTYPES,
    NUMPYS_OWN,
    RECORD,
    VOID,
    assert_same,
    assert_same_refusal,
    basic_keys,
    dtypes,
    examples,
    host_views,
    numeric_dtypes,
    of_few,
    outcome,
    pair,
    print_each,
    shapes,
    slices,
    stable_repr,
    values,
)

# Maps each target dtype to the source dtype of a quick test run. Every dtype occurs once as source and once as target.
FEW = dict(zip(NUMPYS_OWN, [*NUMPYS_OWN[5:], *NUMPYS_OWN[:5]], strict=True))


def assign_both(device: PyGPU.GPUArray, host: np.ndarray, key: Any, ours: Any, numpys: Any) -> None:
    """Assign the same value to `device[key]` and `host[key]`; check that errors, warnings and results are equal."""
    given_to_numpy = outcome(lambda: host.__setitem__(key, numpys))
    given_to_us = outcome(lambda: device.__setitem__(key, ours))
    if given_to_numpy[0] == "error":
        if isinstance(numpys, list) and isinstance(given_to_us[1], ValueError):
            # If a list has an invalid value and an invalid shape, NumPy's error is about the value, and PyGPU's about
            # the shape.
            given_to_numpy = given_to_us
        assert_same_refusal(given_to_us, given_to_numpy)
    else:
        assert given_to_us[0] == "value", given_to_us[1]
    assert_same(device, host)


@examples(300)
@given(st.data(), shapes, numeric_dtypes, st.sampled_from(["host", "device", "list"]))
def test_assignment_broadcasts_and_converts_like_numpy(
    data: st.DataObject, shape: tuple[int, ...], dtype: str, form: str
) -> None:
    host, device = pair(shape, dtype)
    key = data.draw(basic_keys(shape))
    target = outcome(lambda: host[key])
    length = np.ndim(target[1]) if target[0] == "value" else 1
    trimmed = np.shape(target[1])[data.draw(st.integers(0, length)) :] if target[0] == "value" else (2,)
    source_shape = tuple(data.draw(st.sampled_from([n, n, n, 1, 2])) for n in trimmed)
    # All values are small, because values beyond the target's range would be converted differently from NumPy.
    kind = data.draw(numeric_dtypes if form != "device" else st.sampled_from(of_few(NUMPYS_OWN, [dtype, FEW[dtype]])))
    source = values(source_shape, kind)[tuple(slice(None, None, -1) for _ in source_shape)]
    ours = {"host": source, "device": PyGPU.to_gpu(source), "list": source.tolist()}[form]
    assign_both(device, host, key, ours, source.tolist() if form == "list" else source)


@examples(200)
@given(host_views(), st.data())
def test_assignment_between_any_strides_matches_numpy(source: np.ndarray, data: st.DataObject) -> None:
    host = values(tuple(2 * n + 1 for n in source.shape), source.dtype, start=77)
    steps = tuple(data.draw(st.sampled_from([slice(1, None, 2), slice(-2, None, -2)])) for _ in source.shape)
    device = PyGPU.to_gpu(host)
    host[steps] = source
    device[steps] = PyGPU.to_gpu(source) if data.draw(st.booleans()) else source
    assert_same(device, host)


@examples(300)
@given(st.data(), dtypes, st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_overlapping_assignment_equals_assignment_of_copied_source(
    data: st.DataObject, dtype: Any, shape: list[int]
) -> None:
    host, device = pair(tuple(shape), dtype)
    target_key = tuple(data.draw(slices) for _ in shape)
    source_key = tuple(data.draw(slices) for _ in shape)
    source, ours = host[source_key].copy(), device[source_key]
    if data.draw(st.booleans()):
        source, ours = source.T, ours.T
    assign_both(device, host, target_key, ours, source)


def test_array_assigned_to_its_shifted_or_transposed_view_is_correct() -> None:
    for there, here in ((slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None))):
        host, device = pair((1000,), "int32")
        host[there] = host[here].copy()
        device[there] = device[here]
        assert_same(device, host)
    host, device = pair((20, 20), "int32")
    device[...] = device.T
    assert_same(device, host.T)


SCALARS = [
    0,
    1,
    -1,
    True,
    127,
    128,
    255,
    256,
    -129,
    2**31,
    2**63,
    2**64,
    -(2**63) - 1,
    2**2000,
    1.5,
    -1.5,
    1e300,
    float("inf"),
    float("nan"),
    1 + 2j,
    1 + 0j,
    np.int8(-3),
    np.uint64(2**63),
    np.float16(1.5),
    np.float64(1e300),
    np.complex64(1 + 1j),
    np.bool_(True),
    np.array(300),
    np.array(1.5),
    "7",
    "text",
    "",
    b"7",
    None,
    object(),
    [],
    [1],
    [[1]],
    (1,),
    (1, 2),
    {},
    {1: 2},
    np.datetime64("2020-01-01"),
    np.array(["7"]),
    np.array([None]),
    Ellipsis,
    int,
]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda value: stable_repr(value)[:25])
def test_assigned_scalar_is_converted_or_rejected_like_numpy(scalar: Any) -> None:
    for dtype in print_each(NUMPYS_OWN):
        host, device = pair((2, 2), dtype)
        assign_both(device, host, (slice(None), 1), scalar, scalar)


@pytest.mark.parametrize("dtype", NUMPYS_OWN)
def test_assignment_converts_and_warns_like_numpy_for_all_dtypes(dtype: str) -> None:
    for source_dtype in print_each(of_few(NUMPYS_OWN, [dtype, FEW[dtype]])):
        host, device = pair((3,), dtype)
        source = values((3,), source_dtype, start=10)
        assign_both(device, host, slice(None), source, source)
        assign_both(device, host, slice(None), PyGPU.to_gpu(source), source)
        assign_both(device, host, 0, PyGPU.to_gpu(source)[1], source[1])


@pytest.mark.parametrize("name", ML_DTYPES)
def test_assigned_scalar_is_converted_to_ml_dtypes(name: str) -> None:
    import ml_dtypes

    host, device = pair((3,), getattr(ml_dtypes, name))
    for value in (2, 0.5, np.float32(4), [1, 2, 4], np.array([1.0, 0.5, 2.0])):
        assign_both(device, host, slice(None), value, value)


@pytest.mark.parametrize("name", COMPLEX)
def test_assignment_of_complex_to_real_array_warns(name: str) -> None:
    _, device = pair((2,), "float32")
    with pytest.warns(np.exceptions.ComplexWarning):
        device[:] = np.array([1 + 1j, 2], name)
    assert device.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", INTEGERS)
def test_assigned_python_integer_beyond_range_raises_overflow_error(name: str) -> None:
    host, device = pair((2,), name)
    limits = np.iinfo(name)
    for value in (int(limits.max) + 1, int(limits.min) - 1, [1, int(limits.max) + 1]):
        with pytest.raises(OverflowError):
            device[:] = value
    assert_same(device, host)
    device[0], device[1] = int(limits.max), int(limits.min)
    assert device.tolist() == [limits.max, limits.min]


WRONG_SHAPES = [(3,), (2, 3), (4, 2), (4, 3, 1), (2, 1, 4, 1), (0,), (1, 0)]


@pytest.mark.parametrize("shape", WRONG_SHAPES)
@pytest.mark.parametrize("form", ["host", "device", "list", "other dtype"])
def test_assignment_of_wrong_shape_raises_and_changes_nothing(shape: tuple[int, ...], form: str) -> None:
    host, device = pair((2, 4), "float32")
    source = values(shape, "float32")
    forms = {
        "host": source,
        "device": PyGPU.to_gpu(source),
        "list": source.tolist(),
        "other dtype": source.astype("i8"),
    }
    assign_both(device, host, ..., forms[form], source)


def test_assignment_drops_surplus_leading_axes_of_length_one() -> None:
    host, device = pair((2, 3))
    source = values((1, 1, 2, 3), start=50)
    assign_both(device, host, ..., source, source)
    assign_both(device, host, (0, 0, ...), PyGPU.to_gpu(source)[..., 0, 0], source[..., 0, 0])


def test_empty_array_accepts_assignment_of_any_broadcastable_source() -> None:
    host, device = pair((0, 3))
    for source in (1, [1, 2, 3], np.ones((1, 3)), np.ones((0, 3)), np.ones((0, 1))):
        assign_both(device, host, ..., source, source)
    assign_both(device, host, ..., np.ones((2, 3)), np.ones((2, 3)))


def test_readonly_array_rejects_every_assignment() -> None:
    host, device = pair((3,))
    view = PyGPU.broadcast_to(device, (3,))
    for key, value in ((0, 1), (..., [1, 2, 3]), ([0], 1), (slice(0, 0), []), (slice(None), device)):
        with pytest.raises(ValueError, match="read-only"):
            view[key] = value
    with pytest.raises(ValueError, match="read-only"):
        view.fill(1)
    with pytest.raises(ValueError, match="read-only"):
        view.set(host)
    assert_same(device, host)


def test_tuple_assigned_to_structured_items_matches_numpy() -> None:
    host, device = pair((2, 3), RECORD)
    item = (7, (0.5, 1.5), True)
    for key, value in (((0, 0), item), (1, [item] * 3), ((..., 2), host[0, 0]), ((..., 1), host[:, 0].copy())):
        assign_both(device, host, key, value, value)
    assign_both(device, host, 0, PyGPU.to_gpu(host[1]), host[1].copy())
    assign_both(device, host, 0, (1, 2), (1, 2))
    assign_both(device, host, 0, [item, item], [item, item])


def test_bytes_assigned_to_void_items_match_numpy() -> None:
    host, device = pair((3,), VOID)
    for value in (b"abc", np.void(b"xyz"), host[0], host[::-1].copy()):
        assign_both(device, host, ..., value, value)


def test_deletion_of_element_raises_like_numpy() -> None:
    host, device = pair((3,))
    assert_same_refusal(outcome(lambda: device.__delitem__(0)), outcome(lambda: host.__delitem__(0)))


@pytest.mark.parametrize("value", [0, 1, 2.5, True, np.int8(3), np.array(4), 300, 1j, "x", None], ids=repr)
def test_fill_matches_numpy(value: Any) -> None:
    for dtype in print_each(NUMPYS_OWN):
        host, device = pair((2, 3), dtype)
        numpys, ours = outcome(lambda h=host: h.fill(value)), outcome(lambda d=device: d.fill(value))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert ours[1] is device
        assert_same(device, host)


@examples(60)
@given(host_views(), st.data())
def test_fill_of_view_leaves_gaps_between_its_elements_unchanged(source: np.ndarray, data: st.DataObject) -> None:
    host = values(tuple(n + 2 for n in source.shape), source.dtype)
    key = tuple(data.draw(slices) for _ in source.shape)
    device = PyGPU.to_gpu(host)
    item = values((1,), source.dtype, start=99)[0]
    host[key] = item
    device[key].fill(item)
    assert_same(device, host)


def test_fill_writes_void_items_of_any_size() -> None:
    for size in (1, 2, 3, 5, 7, 12, 16, 24, 40):
        host, device = pair((5, 3), f"V{size}")
        item = np.frombuffer(bytes(range(1, size + 1)), f"V{size}")[0]
        host[1:4] = item
        device[1:4].fill(item)
        assert_same(device, host)


def test_fill_rejects_value_with_several_elements() -> None:
    host, device = pair((3,))
    for value in ([1, 2], np.ones(3), device):
        with pytest.raises((ValueError, TypeError)):
            device.fill(value)
    assert_same(device, host)
