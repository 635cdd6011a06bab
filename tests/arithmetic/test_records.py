"""Test `==` and `!=` of arrays with structured or void items."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import OPAQUE, assert_same, assert_same_refusal, outcome

NESTED = np.dtype([("x", OPAQUE[1]), ("y", "c8"), ("z", OPAQUE[0], (2, 2))])
ALIGNED = np.dtype([("a", "u1"), ("b", "f8")], align=True)
TITLED = np.dtype([(("title", "a"), "i4"), ("b", "f8")])
MATRIX = np.dtype([("m", "f4", (2, 2))])
PLAIN = np.dtype([("a", "i4"), ("b", "f8")])
DTYPES = [*OPAQUE, NESTED, ALIGNED, TITLED, MATRIX, PLAIN]
OPERATORS = [operator.eq, operator.ne]


def pair(dtype: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays of random bits. Half of their items have equal fields; the padding bytes between the fields
    differ."""
    rng = np.random.default_rng(6)
    first, second = (rng.integers(0, 2, 12 * dtype.itemsize, "u1").view(dtype).reshape(3, 4) for _ in range(2))
    for names in [dtype.names] if dtype.names else []:
        for name in names:
            second[name][:, ::2] = first[name][:, ::2]
    if not dtype.names:
        second[:, ::2] = first[:, ::2]
    return first, second


# If a NumPy scalar is compared with a device array, NumPy gives a DeprecationWarning and then calls the array's method.
@pytest.mark.filterwarnings("ignore:elementwise:DeprecationWarning")
@pytest.mark.parametrize("compare", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_structured_items_are_equal_if_all_fields_are_equal(
    dtype: np.dtype[Any], compare: Callable[[Any, Any], Any]
) -> None:
    first, second = pair(dtype)
    ours, others = PyGPU.to_gpu(first), PyGPU.to_gpu(second)
    assert_same(compare(ours, others), compare(first, second))
    assert_same(compare(ours[:, ::-2], others[:, 1::2]), compare(first[:, ::-2], second[:, 1::2]))
    assert_same(compare(ours, ours[1]), compare(first, first[1]))
    assert_same(compare(ours[:0], others[:0]), compare(first[:0], second[:0]))
    assert_same(compare(ours, first[1, 2]), compare(first, first[1, 2]))
    assert_same(compare(first[1, 2], ours), compare(first[1, 2], first))
    assert_same(compare(ours[0, 1], others[0, 1]), np.asarray(compare(first[0, 1], second[0, 1])))
    assert PyGPU.array_equal(ours, ours.copy()) == np.array_equal(first, first.copy())


@pytest.mark.parametrize("compare", OPERATORS)
@pytest.mark.parametrize("other", DTYPES, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_comparison_of_two_structured_dtypes_needs_common_dtype(
    dtype: np.dtype[Any], other: np.dtype[Any], compare: Callable[[Any, Any], Any]
) -> None:
    first, second = np.zeros(3, dtype), np.zeros(3, other)
    expected = outcome(lambda: compare(first, second))
    found = outcome(lambda: compare(PyGPU.to_gpu(first), PyGPU.to_gpu(second)))
    if expected[0] == "error":
        assert_same_refusal(found, expected)
    else:
        assert_same(found[1], expected[1])


def test_structured_item_with_nan_field_differs_from_itself() -> None:
    host = np.array([(1, np.nan), (2, 3)], PLAIN)
    array = PyGPU.to_gpu(host)
    assert (array == array).tolist() == [False, True]
    assert (array != array).tolist() == [True, False]
    assert host[1] in array
    assert host[0] not in array


@pytest.mark.parametrize("compare", [*OPERATORS, operator.lt, operator.ge])
@pytest.mark.parametrize("other", [3, (0, 0.0), [1, 2, 3], True, np.float32(1)], ids=repr)
def test_comparison_of_structured_items_with_other_objects_raises(
    other: Any, compare: Callable[[Any, Any], Any]
) -> None:
    host = np.zeros(3, PLAIN)
    assert_same_refusal(outcome(lambda: compare(PyGPU.to_gpu(host), other)), outcome(lambda: compare(host, other)))


@pytest.mark.parametrize("compare", OPERATORS)
def test_comparison_of_structured_items_with_numbers_or_wrong_shape_raises(compare: Callable[[Any, Any], Any]) -> None:
    host, numbers = np.zeros(3, PLAIN), np.arange(3)
    array = PyGPU.to_gpu(host)
    for first, second in ((host, numbers), (numbers, host), (host, np.zeros(2, PLAIN))):
        ours = PyGPU.to_gpu(first), PyGPU.to_gpu(second)
        assert_same_refusal(outcome(lambda: compare(*ours)), outcome(lambda: compare(first, second)))  # noqa: B023
    with pytest.raises(TypeError, match="ndarray"):
        compare(array, host)
    with pytest.raises(TypeError, match="equal"):
        PyGPU.equal(array, array)
