"""Test reads and writes of elements by index: results match NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import PyGPU
from installed.numpy_version import is_numpy
from support import assert_same, assert_same_refusal, of_few, on_cpu, outcome, pair, print_each

SEED = random.randrange(1 << 32)
MODES = ["raise", "wrap", "clip"]


def generator() -> np.random.Generator:
    print("seed", SEED)
    return np.random.default_rng(SEED)


def moved(value: Any) -> Any:
    if isinstance(value, list):
        return [moved(one) for one in value]
    return PyGPU.to_gpu(value) if isinstance(value, np.ndarray) else value


def both(name: str, *arguments: Any, **keywords: Any) -> None:
    """Compare PyGPU's function with NumPy's. PyGPU's function is called directly, and also through NumPy's dispatch."""
    numpys = outcome(lambda: getattr(np, name)(*arguments, **keywords))
    for function in (getattr(PyGPU, name), getattr(np, name)):
        ours = outcome(lambda function=function: function(*map(moved, arguments), **keywords))
        if numpys[0] == "error":
            assert_same_refusal(ours, numpys)
        else:
            assert ours[0] == "value", repr(ours[1])
            assert_same(ours[1], numpys[1])


def written(name: str, host: np.ndarray, *arguments: Any, **keywords: Any) -> None:
    """Compare a function that writes into its first argument with NumPy's.

    If the function raises an error, the first argument must be unchanged.
    """
    target, expected = PyGPU.to_gpu(host), host.copy("K")
    numpys = outcome(lambda: getattr(np, name)(expected, *arguments, **keywords))
    ours = outcome(lambda: getattr(PyGPU, name)(target, *map(moved, arguments), **keywords))
    if numpys[0] == "error":
        assert_same_refusal(ours, numpys)
        assert_same(target, host)
    else:
        assert ours[0] == "value", repr(ours[1])
        assert_same(target, expected)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, 3])
def test_take_along_any_axis_matches_numpy(axis: int | None) -> None:
    rng = generator()
    host = rng.integers(0, 100, (4, 5, 3)).astype("float32")
    for shape in print_each([(), (2,), (2, 3), (0,)]):
        index = rng.integers(-3, 3, shape)
        both("take", host, index, axis)
        both("take", host, index.tolist(), axis)
    both("take", host, np.array([1, 0], "int8"), axis)


@pytest.mark.parametrize("mode", MODES)
def test_take_and_put_with_out_of_range_index_match_numpy_in_each_mode(mode: str) -> None:
    host = np.arange(15.0).reshape(5, 3)
    index = np.array([[-7, 4], [9, -1]])
    both("take", host, index, 0, mode=mode)
    both("take", host, np.array([4, 0, -5]), 0, mode=mode)
    both("take", host, index + 30, mode=mode)
    both("take", host[:0], index, 0, mode=mode)
    written("put", host, index, np.array([1.5, 2.5]), mode=mode)


def test_take_rejects_unknown_mode_and_invalid_indices() -> None:
    host = np.arange(4.0)
    both("take", host, [1], mode="other")
    both("take", host, np.array([1.0]))
    if is_numpy("2.1") or on_cpu():  # NumPy 2.0 rejects indices of uint64.
        both("take", host, np.array([1], "uint64"))
    else:
        assert_same(PyGPU.take(PyGPU.to_gpu(host), PyGPU.to_gpu(np.array([1], "uint64"))), host[1:2])
    both("take", host, np.array([True, False]))
    ours = outcome(lambda: PyGPU.to_gpu(host).take([0, 7, 9]))
    assert str(ours[1]) == str(outcome(lambda: host.take([0, 7, 9]))[1])


def test_take_matches_numpy_for_any_layout() -> None:
    rng = generator()
    host = rng.integers(0, 100, (6, 4)).astype("int32")
    array, index = PyGPU.to_gpu(host), rng.integers(-4, 4, (2, 3))
    on_device = PyGPU.to_gpu(index)
    assert_same(array[::-1, ::2].take(on_device[:, 0]), host[::-1, ::2].take(index[:, 0]))
    assert_same(array.T.take(on_device.T, 0), host.T.take(index.T, 0))
    out, expected = PyGPU.zeros((3, 2, 6), "int32"), np.zeros((3, 2, 6), "int32")
    assert array.T.take(on_device.T, 0, out) is out
    assert_same(out, host.T.take(index.T, 0, expected))
    turned = PyGPU.zeros((6, 2, 3), "int32").transpose((1, 2, 0))
    array.T.take(on_device, 0, turned)
    assert_same(turned, host.T.take(index, 0))
    with pytest.raises(IndexError, match="out of bounds"):
        array.T.take(on_device + 100, 0, turned)
    assert_same(turned, host.T.take(index, 0))
    array.take(PyGPU.to_gpu(np.array([3, 2, 1, 0])), 1, array)
    assert_same(array, host[:, ::-1])
    with pytest.raises(ValueError, match="does not match"):
        array.take([1], 0, out)


@pytest.mark.parametrize("count", [1, 3, 5, 9])
def test_put_repeats_values_and_stores_last_value_for_each_index(count: int) -> None:
    rng = generator()
    host = rng.integers(0, 100, (3, 4)).astype("float64")
    values = np.arange(count) + 0.5
    for host_like in print_each([host, np.asfortranarray(host), host.astype("int16")]):
        written("put", host_like, np.array([[1, -1, 5], [1, 1, 0]]), values)
        written("put", host_like, [2, 3], values.tolist())
    written("put", host, [], values)
    written("put", host, [1], [])
    device = PyGPU.to_gpu(np.asfortranarray(host))[:, ::2]
    expected = host[:, ::2].copy()
    device.put([0, 4], values)
    expected.put([0, 4], values)
    assert_same(device, expected)
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.broadcast_to(PyGPU.zeros(1), (4,)).put([0], 1)


def test_row_assignment_by_repeated_index_stores_last_row() -> None:
    rng = generator()
    host = rng.integers(0, 100, (50, 64)).astype("float32")
    array, index = PyGPU.to_gpu(host), rng.integers(-50, 50, 80)
    values = rng.integers(0, 100, (80, 64)).astype("float32")
    array[PyGPU.to_gpu(index)] = PyGPU.to_gpu(values)
    host[index] = values
    assert_same(array, host)
    array[PyGPU.to_gpu(np.arange(10))] = array[5:15]
    host[np.arange(10)] = host[5:15].copy()
    assert_same(array, host)
    before = array.get()
    with pytest.raises(IndexError, match="index 50 is out of bounds"):
        array[PyGPU.to_gpu(np.array([0, 50]))] = PyGPU.to_gpu(values[:2])
    assert_same(array, before)


@pytest.mark.parametrize("repeats", [0, 1, 3, [2], [1, 0, 2, 5], [0, 0, 0, 0], [1, -1, 0, 0], [1, 2]], ids=str)
def test_repeat_matches_numpy(repeats: Any) -> None:
    host = np.arange(12.0).reshape(3, 4)
    both("repeat", host, repeats, axis=1)
    both("repeat", host[0], repeats)
    if isinstance(repeats, list):
        both("repeat", host, np.array(repeats), axis=-1)
    if isinstance(repeats, int):
        both("repeat", host, repeats)
        both("repeat", np.asfortranarray(host), repeats, axis=0)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_compress_and_extract_match_numpy(axis: int | None) -> None:
    host = np.arange(12.0).reshape(3, 4)
    for condition in print_each([[True, False, True], [0, 3], [], [False] * 3, [True] * 20]):
        both("compress", np.array(condition), host, axis)
    assert_same(PyGPU.to_gpu(host).compress([True, False, True], axis), host.compress([True, False, True], axis))
    both("extract", host > 3, host)
    both("extract", host.T > 3, host)


@pytest.mark.parametrize("values", [[1.5], [1.5, 2.5, 3.5], list(range(20)), []], ids=len)
def test_place_and_putmask_match_numpy(values: list[float]) -> None:
    host = np.arange(12.0).reshape(3, 4)
    for mask in print_each([host % 2 == 0, host < 0, np.ones((4, 3), bool), np.ones(3, bool)]):
        written("place", host, mask, np.array(values))
        written("putmask", host, mask, np.array(values))
    for name in ("place", "putmask"):
        written(name, host.astype("int8"), host > 3, np.array(values))


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("mode", MODES)
def test_choose_matches_numpy(mode: str) -> None:
    numbers = np.array([[0, 2], [1, 1]])
    choices = [np.arange(4.0).reshape(2, 2), np.array([7, 8], "int32"), np.array(5, "int8")]
    both("choose", numbers, choices, mode=mode)
    both("choose", numbers * 3 - 2, choices, mode=mode)
    out = PyGPU.zeros((2, 2), "float64")
    assert PyGPU.to_gpu(numbers).choose(moved(choices), out, mode) is out
    assert_same(out, numbers.choose(choices, mode=mode))


def test_select_uses_choice_of_first_true_condition() -> None:
    host = np.arange(10)
    both("select", [host < 3, host > 5], [-host, host * 2.5], 42)
    both("select", [host < 3, host[:, None] > 5], [host.astype("float32"), host.astype("int8")])
    both("select", [], [])
    both("select", [host < 3], [host, host])
    both("select", [host], [host])


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_take_and_put_along_axis_match_numpy(axis: int | None) -> None:
    rng = generator()
    host = rng.permutation(24).reshape(4, 6)
    index = rng.integers(-4, 4, (4, 6) if axis is not None else 5)
    both("take_along_axis", host, index, axis)
    both("take_along_axis", host, index + 20, axis)
    both("take_along_axis", host, index * 1.0, axis)
    both("take_along_axis", host, index[None], axis)
    order = host.argsort(axis)
    written("put_along_axis", host, order, -1, axis)
    written("put_along_axis", host, order, np.arange(order.size).reshape(order.shape), axis)


@pytest.mark.parametrize("dtype", of_few(["int8", "uint16", "int64", "uint64"], ["uint16"]))
def test_take_accepts_indices_of_any_integer_dtype(dtype: str) -> None:
    host, device = pair((9, 3))
    index = np.array([[8, 0], [3, 3]], dtype)
    assert_same(device[PyGPU.to_gpu(index)], host[index])


def test_take_and_put_with_wrap_or_clip_can_be_captured() -> None:
    host = np.arange(10.0)
    array, index, out = PyGPU.to_gpu(host), PyGPU.to_gpu(np.array([3, 12, -1])), PyGPU.zeros(3)
    array.take(index, 0, out, "wrap")
    array.put(index, out, "wrap")
    PyGPU.synchronize()
    stream = PyGPU.Stream()
    stream.begin_capture()
    with stream:
        array.take(index, 0, out, "wrap")
        with pytest.raises(PyGPU.NotSupportedError):
            array.take(index, 0, out)
    graph = stream.end_capture()
    index[...] = np.array([4, 11, -2])
    PyGPU.synchronize()
    graph.launch(stream)
    stream.synchronize()
    assert_same(out, host.take([4, 11, -2], mode="wrap"))
