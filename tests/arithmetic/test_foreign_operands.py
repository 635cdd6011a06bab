"""Test comparisons of arrays with objects of unknown types: results match NumPy."""

from __future__ import annotations

import array
import operator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import PyGPU
from support import stable_repr

STRANGERS: list[Any] = [None, "x", "1", b"x", object(), {}, {1}, ..., slice(1), int]
ARRAYS: list[Any] = [
    np.array([1, 2]),
    np.zeros((2, 3), order="F"),
    np.array(1.0),
    np.zeros((0, 2), np.float32),
    np.array([True, False]),
    np.array([1j, np.nan]),
    np.array([(1, 2.0)], dtype=[("x", "i4"), ("y", "f8")]),
    np.ones(2, ml_dtypes.bfloat16),
]


@pytest.mark.parametrize("values", ARRAYS, ids=str)
@pytest.mark.parametrize("stranger", STRANGERS, ids=stable_repr)
def test_object_of_unknown_type_is_unequal_to_every_array_element(values: Any, stranger: Any) -> None:
    a = PyGPU.to_gpu(values)
    for made, expected in (
        (a == stranger, False),
        (stranger == a, False),
        (a != stranger, True),
        (stranger != a, True),
    ):
        assert isinstance(made, PyGPU.GPUArray)
        assert (made.dtype, made.shape, made.device) == (np.dtype(bool), values.shape, a.device)
        assert np.array_equal(made.get(), np.full(values.shape, expected))
        # NumPy reports that structured arrays cannot be compared, and compares bfloat16 only with numbers.
        if values.dtype.names is None and values.dtype.kind != "V":
            assert np.array_equal(made.get(), values == stranger if expected is False else values != stranger)
            assert made.flags.f_contiguous == np.asarray(values == stranger).flags.f_contiguous


def test_comparison_returns_result_of_method_of_unknown_type() -> None:
    class Anything:
        def __eq__(self, other: object) -> bool:
            return True

        def __ne__(self, other: object) -> bool:
            return False

        __hash__ = object.__hash__

    a = PyGPU.to_gpu([1, 2])
    assert (a == Anything(), Anything() == a, a != Anything()) == (True, True, False)
    assert Anything() in a


def test_exception_in_comparison_of_unknown_type_is_raised() -> None:
    class Angry:
        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError("on purpose")

        __hash__ = object.__hash__

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        PyGPU.to_gpu([1, 2]) == Angry()  # noqa: B015


def test_object_of_unknown_type_is_not_in_array_and_operator_less_raises() -> None:
    a = PyGPU.to_gpu([1, 2])
    for stranger in STRANGERS:
        assert stranger not in a
        with pytest.raises(TypeError, match=r"'<' not supported between instances of 'PyGPU.GPUArray' and"):
            a < stranger  # noqa: B015


def test_comparison_result_has_class_of_array() -> None:
    class Own(PyGPU.GPUArray):
        pass

    a = Own((2,), "int64")
    assert type(a == "x") is type(a == 1)


@pytest.mark.parametrize(
    "values", [range(2), array.array("i", [1, 2]), bytearray(b"ab"), memoryview(b"ab")], ids=stable_repr
)
def test_comparison_with_host_array_or_list_raises_type_error(values: Any) -> None:
    a = PyGPU.to_gpu([1, 2])
    for compare in (operator.eq, operator.ne):
        with pytest.raises(TypeError, match=rf"expected a GPUArray, not {type(values).__name__}"):
            compare(a, values)
