"""Captured work: nothing runs while it is recorded, and all of it runs at each launch. On every backend (B7)."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import PyGPU


def test_a_fill_runs_at_each_launch_and_not_while_it_is_captured() -> None:
    stream = PyGPU.Stream()
    a = PyGPU.zeros(1000, "float32")
    stream.begin_capture()
    assert stream.is_capturing
    a.fill(3.0, stream=stream)
    graph = stream.end_capture()
    assert not stream.is_capturing
    assert graph.num_nodes == 1
    assert a.get()[0] == 0.0
    for _ in range(3):
        graph.launch(stream)
        np.testing.assert_array_equal(a.get(), 3.0)
        a.fill(0.0)


def test_a_launch_waits_for_other_streams_and_they_for_it() -> None:
    one, two = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    with two:
        a, b = PyGPU.zeros(1000), PyGPU.zeros(1000)
    one.begin_capture()
    with one:
        b[...] = a
    graph = one.end_capture()
    for value in range(5):
        a.fill(float(value), stream=two)
        graph.launch(one)
        np.testing.assert_array_equal(b.get(stream=two), float(value))


def test_a_graph_keeps_the_arrays_that_it_uses() -> None:
    stream = PyGPU.Stream()
    a, b = PyGPU.full(1000, 7.0), PyGPU.zeros(1000)
    stream.begin_capture()
    with stream:
        b[...] = a
    graph = stream.end_capture()
    del a
    gc.collect()
    others = [PyGPU.zeros(1000) for _ in range(10)]
    graph.launch(stream)
    graph.replay()
    np.testing.assert_array_equal(b.get(), 7.0)
    del graph, others
    np.testing.assert_array_equal(b.get(), 7.0)


def test_the_default_stream_cannot_be_captured() -> None:
    with pytest.raises(ValueError, match="default stream cannot capture"):
        PyGPU.default_stream().begin_capture()


def test_an_end_without_a_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="no capture of PyGPU began"):
        PyGPU.Stream().end_capture()


def test_the_block_of_a_with_statement_is_captured() -> None:
    with PyGPU.Graph() as graph:
        assert PyGPU.current_stream().is_capturing
        zeros = PyGPU.zeros(3)
    assert not PyGPU.current_stream().is_capturing
    zeros.fill(5.0)
    graph.replay()
    assert zeros.tolist() == [0.0] * 3


def test_an_empty_graph_cannot_be_launched() -> None:
    with pytest.raises(ValueError, match="the graph is empty"):
        PyGPU.Graph().launch()


def test_a_wait_of_the_host_is_refused_and_leaves_the_capture_valid() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    a = PyGPU.zeros(10, "float32")
    stream.begin_capture()
    with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
        stream.synchronize()
    with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
        a.get(stream=stream)
    a.fill(2.0, stream=stream)
    stream.end_capture().launch(stream)
    assert a.tolist() == [2.0] * 10


def test_an_exception_in_the_block_ends_the_capture_and_forgets_it() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    graph = PyGPU.Graph(stream)
    with pytest.raises(ZeroDivisionError), graph:
        _ = 1 // 0
    assert not stream.is_capturing
    with pytest.raises(ValueError, match="the graph is empty"):
        graph.launch()


def test_memory_made_and_dropped_in_a_capture_is_there_at_each_launch() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    target = PyGPU.zeros(1000, "float32")
    stream.begin_capture()
    with stream:
        temporary = PyGPU.full(1000, 4.0, "float32")
        target[...] = temporary
    del temporary
    graph = stream.end_capture()
    gc.collect()
    others = [PyGPU.full(1000, 9.0, "float32") for _ in range(10)]
    for _ in range(3):
        target.fill(0.0)
        graph.launch(stream)
        np.testing.assert_array_equal(target.get(), 4.0)
    assert all(other.get()[0] == 9.0 for other in others)


def test_two_streams_of_a_capture_keep_the_order_of_the_arrays() -> None:
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    a, b = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32")
    one.begin_capture()
    a.fill(1, stream=one)
    other.wait_stream(one)
    with other:
        b[...] = a
    a.fill(2, stream=one)  # behind the read on the other stream
    one.wait_stream(other)
    graph = one.end_capture()
    for _ in range(3):
        graph.launch(one)
        assert (a.get() == 2).all()
        assert (b.get() == 1).all()
