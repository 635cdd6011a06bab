"""Test searches in sorted arrays, partitions, and sorting by several keys."""

from __future__ import annotations

import random

import numpy as np
import pytest

import PyGPU
from support import assert_same, assert_same_refusal, of_few, outcome

PyGPU.device_count()
SEED = random.randrange(1 << 32)


def generator() -> np.random.Generator:
    print("seed", SEED)
    return np.random.default_rng(SEED)


def values(rng: np.random.Generator, shape: int | tuple[int, ...], dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind in "biu":
        return rng.integers(0, 100, shape).astype(kind)
    result = rng.choice([0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan, 7.25, 100.0], shape).astype(kind)
    return result + 1j * rng.integers(0, 3, shape).astype(kind) if kind.kind == "c" else result


@pytest.mark.parametrize(
    "dtype",
    of_few(["bool", "int8", "uint64", "int32", "float16", "float32", "float64", "complex64"], ["int32", "float32"]),
)
def test_searchsorted_matches_numpy(dtype: str) -> None:
    rng = generator()
    for length in (0, 1, 5, 1000, 5000):
        sorted_ = np.sort(values(rng, length, dtype))
        for shape in ((), (0,), (7,), (40, 3)):
            expected = values(rng, shape, dtype)
            for side in ("left", "right"):
                got = PyGPU.searchsorted(PyGPU.to_gpu(sorted_), PyGPU.to_gpu(expected), side)
                assert_same(got, np.searchsorted(sorted_, expected, side))


def test_searchsorted_matches_numpy_for_any_layout_and_dtype() -> None:
    rng = generator()
    edges = np.sort(rng.integers(0, 1000, 60))
    array = PyGPU.to_gpu(edges)
    host = rng.random((9, 8)).astype("float32") * 1000
    v = PyGPU.to_gpu(host)
    assert_same(array[::2].searchsorted(v.T[::-1]), edges[::2].searchsorted(host.T[::-1]))
    assert_same(array.searchsorted([3, 500.5], "right"), edges.searchsorted([3, 500.5], "right"))
    assert_same(array.searchsorted(7), np.asarray(edges.searchsorted(7)))
    assert_same(PyGPU.searchsorted(edges, v), np.searchsorted(edges, host))
    assert_same(np.searchsorted(array, v), np.searchsorted(edges, host))
    turned = rng.permutation(edges)
    order = np.argsort(turned)
    assert_same(
        PyGPU.to_gpu(turned).searchsorted(v, sorter=PyGPU.to_gpu(order)), turned.searchsorted(host, sorter=order)
    )


def test_search_function_rejects_arguments_that_numpy_rejects() -> None:
    host = np.arange(6.0)
    a = PyGPU.to_gpu(host)
    for call in (
        lambda x: x.searchsorted(3, "middle"),
        lambda x: x.reshape(2, 3).searchsorted(3),
        lambda x: x.searchsorted(3, sorter=x),
        lambda x: x.searchsorted(3, sorter=[0]),
        lambda x: x.argpartition(6),
        lambda x: x.partition(-7),
        lambda x: x.argpartition(1.5),
        lambda x: x.argpartition(1, kind="bubble"),
        lambda x: np.digitize(x, [1, 3, 2]),
        lambda x: np.digitize(x, 3),
    ):
        assert_same_refusal(outcome(lambda call=call: call(a)), outcome(lambda call=call: call(host)))
    with pytest.raises(TypeError, match="no operand is on a device"):
        PyGPU.searchsorted(np.ones(1), np.ones(1))
    with pytest.raises(ValueError, match="k=7"):
        PyGPU.topk(a, 7)


@pytest.mark.parametrize("right", [False, True])
def test_digitize_accepts_increasing_and_decreasing_bins(right: bool) -> None:
    rng = generator()
    host = rng.random((30, 4)) * 12 - 1
    for edges in (np.arange(10.0), np.arange(10.0)[::-1], np.array([2.0, 2.0, 5.0]), np.array([1.0])):
        x = PyGPU.to_gpu(host)
        assert_same(PyGPU.digitize(x, edges, right), np.digitize(host, edges, right))
        assert_same(np.digitize(x, PyGPU.to_gpu(edges), right), np.digitize(host, edges, right))


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_partition_separates_smaller_from_larger_elements(dtype: str) -> None:
    rng = generator()
    host = rng.permutation(300).reshape(3, 100).astype(dtype)
    array = PyGPU.to_gpu(host)
    for axis, kth in ((-1, 40), (0, 1), (None, [5, 250]), (1, -3)):
        along = 0 if axis is None else axis
        expected = np.sort(host, axis).take(kth, along)
        for got in (PyGPU.partition(array, kth, axis).get(), np.partition(array, kth, axis).get()):
            np.testing.assert_array_equal(got.take(kth, along), expected)
        positions = PyGPU.argpartition(array, kth, axis).get()
        elements = host.ravel() if axis is None else host
        np.testing.assert_array_equal(np.take_along_axis(elements, positions, along).take(kth, along), expected)
    copied = PyGPU.to_gpu(host)
    assert copied.partition(10, axis=1) is None
    np.testing.assert_array_equal(copied.get()[:, 10], np.sort(host)[:, 10])
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.broadcast_to(copied, (2, 3, 100)).partition(0)


def test_topk_returns_ordered_values_and_their_indices() -> None:
    rng = generator()
    host = rng.integers(0, 50, (4, 90, 3)).astype("float32")
    host[0, 3, 0] = np.nan
    array = PyGPU.to_gpu(host)
    for axis, k in ((1, 5), (-2, 90), (0, 0), (2, 1)):
        for largest in (True, False):
            got, indices = PyGPU.topk(array, k, axis, largest)
            order = PyGPU.argsort(array, axis, descending=largest).get().take(np.arange(k), axis)
            assert_same(indices, order)
            np.testing.assert_array_equal(got.get(), np.take_along_axis(host, order, axis))
    best = PyGPU.topk(PyGPU.to_gpu(np.array([1, 9, 3, 9])), 3)
    assert (best.values.tolist(), best.indices.tolist()) == ([9, 9, 3], [1, 3, 2])


def test_lexsort_matches_numpy() -> None:
    rng = generator()
    keys = [rng.integers(0, 4, (5, 60)).astype(dtype) for dtype in ("int32", "float32", "int32")]
    arrays = [PyGPU.to_gpu(key) for key in keys]
    for axis in (-1, 0):
        assert_same(PyGPU.lexsort(arrays, axis), np.lexsort(keys, axis))
        assert_same(np.lexsort(tuple(arrays), axis), np.lexsort(keys, axis))
    whole = rng.integers(0, 3, (3, 40))
    assert_same(PyGPU.lexsort(PyGPU.to_gpu(whole)), np.lexsort(whole))
    with pytest.raises(TypeError, match="len > 0"):
        PyGPU.lexsort(())
    with pytest.raises(ValueError, match="same shape"):
        PyGPU.lexsort((arrays[0], arrays[1][0]))


def test_searchsorted_and_sort_can_be_captured() -> None:
    host = np.array([5.0, 1.0, 4.0, 2.0], "float32")
    array, v = PyGPU.to_gpu(host), PyGPU.to_gpu(np.array([0.5, 3.0], "float32"))
    stream = PyGPU.Stream()
    with stream:
        PyGPU.searchsorted(PyGPU.sort(array), v)
        stream.synchronize()
        stream.begin_capture()
        positions = PyGPU.searchsorted(PyGPU.sort(array), v)
        median = PyGPU.median(array)
        with pytest.raises(PyGPU.NotSupportedError):
            PyGPU.unique(array)
        graph = stream.end_capture()
        for turn in (1.0, 2.0):
            array.set(host * turn)
            graph.launch(stream)
            stream.synchronize()
            assert_same(positions, np.searchsorted(np.sort(host * turn), v.get()))
            assert median.item() == np.median(host * turn)
