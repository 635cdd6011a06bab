"""Test scalar conversions of one-element arrays, `item`, `tolist`, `len`, `iter`, truth and formatting."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import PyGPU
from installed.numpy_version import is_numpy
from support import (
    ALL_DTYPES,
    COMPLEX,
    INTEGERS,
    ML_DTYPES,
    NUMPYS_OWN,
    OPAQUE,
    assert_same_refusal,
    dtypes,
    examples,
    outcome,
    pair,
    print_each,
    shapes,
    values,
)


def same(ours: Any, numpys: Any) -> bool:
    return type(ours) is type(numpys) and (ours == numpys or ours != ours)


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index, len], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_0d_array_conversion_matches_numpy(convert: Callable[[Any], Any], dtype: Any) -> None:
    for start in (0, 1, 42):
        host = values((), dtype, start=start)
        numpys, ours = outcome(lambda host=host: convert(host)), outcome(lambda host=host: convert(PyGPU.to_gpu(host)))
        if numpys[0] == "error" and not isinstance(numpys[1], Warning):
            assert_same_refusal(ours, numpys)
        elif numpys[0] == "value":
            assert ours[0] == "value", ours[1]
            assert same(ours[1], numpys[1])


@pytest.mark.parametrize("convert", [bool, int, float, complex, operator.index], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(0,), (2,), (1, 2), (0, 1)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "bool"])
def test_array_without_exactly_one_element_rejects_scalar_conversion(
    convert: Callable[[Any], Any], shape: Any, dtype: str
) -> None:
    host, device = pair(shape, dtype)
    # Before NumPy 2.2, the truth value of an empty array was False.
    if convert is not bool or host.size or is_numpy("2.2"):
        assert_same_refusal(outcome(lambda: convert(device)), outcome(lambda: convert(host)))


@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_bool_accepts_array_with_one_element_of_any_rank(shape: Any) -> None:
    for value in (0, 3, float("nan")):
        assert bool(PyGPU.full(shape, value)) is bool(value)
    with pytest.raises(TypeError):
        operator.index(PyGPU.ones(shape, "int32"))


def test_nan_and_infinity_are_converted_to_scalars_like_numpy() -> None:
    for value in (float("nan"), float("inf"), -float("inf"), -0.0, 1e308):
        host = np.array(value)
        device = PyGPU.to_gpu(host)
        for convert in (int, float, complex, bool):
            numpys, ours = outcome(lambda c=convert, h=host: c(h)), outcome(lambda c=convert, d=device: c(d))
            if numpys[0] == "error":
                assert_same_refusal(ours, numpys)
            else:
                assert repr(ours[1]) == repr(numpys[1])


@pytest.mark.parametrize("name", INTEGERS)
def test_largest_and_smallest_integers_are_converted_exactly(name: str) -> None:
    for value in (np.iinfo(name).min, np.iinfo(name).max):
        device = PyGPU.to_gpu(np.array(value, name))
        assert int(device) == operator.index(device) == device.item() == value
    assert [10, 20, 30][PyGPU.to_gpu(np.array(1, name))] == 20


@pytest.mark.parametrize("name", COMPLEX)
def test_conversion_of_complex_array_to_real_scalar_raises(name: str) -> None:
    host = np.array(1 + 2j, name)
    device = PyGPU.to_gpu(host)
    assert complex(device) == 1 + 2j
    for convert in (int, float):
        ours, numpys = outcome(lambda c=convert: c(device)), outcome(lambda c=convert: c(host))
        assert type(ours[1]) is type(numpys[1])


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_item_returns_same_python_scalar_as_numpy(dtype: Any) -> None:
    host, device = pair((2, 3), dtype)
    for arguments in ((0,), (5,), (-1,), (1, 2), (-1, 0), (np.int64(3),), ((0, 1),), ((-1, -1),)):
        ours, numpys = device.item(*arguments), host.item(*arguments)
        assert repr(ours) == repr(numpys)
        assert type(ours) is type(numpys)
    for array in (device[1, 2], device[1:, 2:], device[:1, 0]):
        assert repr(array.item()) == repr(array.get().item())


@pytest.mark.parametrize(
    "arguments",
    [(), (6,), (-7,), (0, 3), (2, 0), (0, 0, 0), ("a",), (1.5,), (None,), ((0, 0, 0),), (slice(2),), ([0],)],
    ids=repr,
)
def test_item_rejects_arguments_that_numpy_rejects(arguments: Any) -> None:
    host, device = pair((2, 3))
    assert_same_refusal(outcome(lambda: device.item(*arguments)), outcome(lambda: host.item(*arguments)))


def test_item_index_counts_in_c_order_for_any_strides() -> None:
    host, device = pair((3, 4), "int32")
    for h, d in ((host.T, device.T), (host[::-1, ::2], device[::-1, ::2]), (host[1], device[1])):
        for index in range(h.size):
            assert d.item(index) == h.item(index)
    assert device[0, 0].item() == host[0, 0].item()
    assert device[0, 0].item(0) == host[0, 0].item(0)


@examples(100)
@given(shapes, dtypes)
def test_tolist_matches_numpy(shape: tuple[int, ...], dtype: Any) -> None:
    host, device = pair(shape, dtype)
    assert repr(device.tolist()) == repr(host.tolist())
    assert repr(device.T.tolist()) == repr(host.T.tolist())


@examples(100)
@given(shapes)
def test_len_is_length_of_first_axis(shape: tuple[int, ...]) -> None:
    host, device = pair(shape)
    ours, numpys = outcome(lambda: len(device)), outcome(lambda: len(host))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert ours == numpys


def test_iterators_of_array_are_independent_and_stay_exhausted() -> None:
    _, device = pair((2, 3))
    rows = iter(device)
    assert [row.shape for row in rows] == [(3,), (3,)]
    assert list(rows) == []
    assert next(rows, None) is None
    assert iter(rows) is rows
    assert len(list(device)) == 2
    first, second = device
    assert first.tolist() == [1, 2, 3]
    assert second.base is device


@pytest.mark.parametrize("spec", ["", ".3f", "5d", ">10", "e", "x", "s", "nonsense", "%"])
def test_format_of_0d_array_matches_numpy(spec: str) -> None:
    for dtype in print_each(NUMPYS_OWN):
        host = values((), dtype, start=42)
        numpys, ours = outcome(lambda h=host: format(h, spec)), outcome(lambda h=host: format(PyGPU.to_gpu(h), spec))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert ours == numpys


@pytest.mark.parametrize("spec", ["", ".3f", "d"])
def test_format_of_2d_array_accepts_same_specifications_as_numpy(spec: str) -> None:
    host, device = pair((2, 3))
    numpys, ours = outcome(lambda: format(host, spec)), outcome(lambda: format(device, spec))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
    else:
        assert ours == numpys


@pytest.mark.parametrize("name", ML_DTYPES)
def test_elements_of_ml_dtypes_convert_to_scalars(name: str) -> None:
    host = np.array(2, getattr(ml_dtypes, name))
    device = PyGPU.to_gpu(host)
    assert float(device) == float(host) == 2.0
    assert int(device) == 2
    assert bool(device) is True


@pytest.mark.parametrize("dtype", OPAQUE, ids=str)
def test_void_and_structured_items_convert_to_scalars_like_numpy(dtype: Any) -> None:
    host = values((), dtype)
    device = PyGPU.to_gpu(host)
    for convert in (int, float, operator.index):
        ours, numpys = outcome(lambda c=convert: c(device)), outcome(lambda c=convert: c(host))
        assert ours[0] == numpys[0]
    assert repr(device.item()) == repr(host.item())


@examples(100)
@given(st.integers(0, 3))
def test_iteration_yields_each_element_once(count: int) -> None:
    _, device = pair((count,), "int32")
    assert [int(element) for element in device] == list(range(1, count + 1))
