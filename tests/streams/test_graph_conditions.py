"""Test conditional graph nodes (if, else, while, switch). Backends without conditional nodes reject them with an
error."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import PyGPU
from support_kernels import needs_kernels

IS_HIP = PyGPU.backend_name() == "hip"
on_hip = pytest.mark.skipif(not IS_HIP, reason="the other backends have conditional nodes")
needs_conditions = pytest.mark.skipif(IS_HIP, reason="HIP has no conditional nodes")

SOURCE = """
__global__ void countdown(int *left, int *turns, cudaGraphConditionalHandle more) {
    *turns += 1;
    *left -= 1;
    cudaGraphSetConditional(more, *left > 0);
}
__global__ void choose(const int *which, cudaGraphConditionalHandle choice) {
    cudaGraphSetConditional(choice, *which);
}
"""


def number(value: int) -> Any:
    """Return a device array that contains one int."""
    return PyGPU.full((), value, "int32")


@on_hip
def test_create_condition_on_hip_raises_error_with_remedy() -> None:
    a = PyGPU.zeros(4)
    with PyGPU.Graph() as graph:
        with pytest.raises(PyGPU.NotSupportedError, match=r"no conditional nodes.*a graph of its own"):
            graph.create_condition(1)
        a.fill(3)
    graph.launch()
    assert a.tolist() == [3.0] * 4


@needs_conditions
@pytest.mark.parametrize("default", [0, 1, 7])
def test_if_body_runs_once_if_condition_is_nonzero(default: int) -> None:
    a, b = PyGPU.zeros(100), PyGPU.zeros(100)
    with PyGPU.Graph() as graph:
        with graph.if_then(graph.create_condition(default)):
            assert PyGPU.current_stream().is_capturing
            a.fill(1)
        b[...] = a  # This copy must run after the body of the condition.
    assert [node.kind for node in graph.nodes] == ["conditional", "memcpy"]
    assert not a.get().any()
    for _ in range(2):
        a.fill(5)
        graph.launch()
        np.testing.assert_array_equal(b.get(), 1 if default else 5)


@needs_conditions
@pytest.mark.parametrize("default", [0, 1])
def test_else_body_runs_if_condition_is_zero(default: int) -> None:
    a = PyGPU.zeros(100)
    with PyGPU.Graph() as graph:
        then, otherwise = graph.if_else(graph.create_condition(default))
        with then:
            a.fill(1)
        with otherwise:
            a.fill(2)
    graph.launch()
    np.testing.assert_array_equal(a.get(), 1 if default else 2)


@needs_conditions
@needs_kernels
def test_while_body_repeats_until_kernel_clears_condition() -> None:
    module = PyGPU.Module(SOURCE)
    left, turns, seen = number(5), number(0), PyGPU.zeros(3, "int32")
    with PyGPU.Graph() as graph:
        more = graph.create_condition(1)
        assert more.default_value == 1
        assert more.handle
        with graph.while_loop(more):
            module["countdown"][1, 1](left, turns, more)
            seen[...] = turns
    del module
    gc.collect()
    for launch in (1, 2, 3):
        left.fill(5)
        graph.launch()
        assert int(left) == 0
        assert int(turns) == 5 * launch
        assert seen.tolist() == [5 * launch] * 3


@needs_conditions
@needs_kernels
@pytest.mark.parametrize("cases", [1, 3])
def test_switch_node_runs_selected_case_only(cases: int) -> None:
    module = PyGPU.Module(SOURCE)
    which, a = number(0), PyGPU.zeros(10)
    with PyGPU.Graph() as graph:
        choice = graph.create_condition()
        assert choice.default_value is None
        module["choose"][1, 1](which, choice)
        for place, case in enumerate(graph.switch(choice, cases)):
            with case:
                a.fill(place + 1)
    for chosen in range(cases + 2):
        a.fill(0)
        which.fill(chosen)
        graph.launch()
        np.testing.assert_array_equal(a.get(), chosen + 1 if chosen < cases else 0)


@needs_conditions
@needs_kernels
def test_condition_of_outer_body_is_usable_in_nested_body() -> None:
    module = PyGPU.Module(SOURCE)
    left, turns, which, a = number(3), number(0), number(1), PyGPU.zeros(10)
    with PyGPU.Graph() as graph:
        more, choice = graph.create_condition(1), graph.create_condition(0)
        with graph.while_loop(more):
            module["choose"][1, 1](which, choice)
            with graph.if_then(choice):
                a += 1
            module["countdown"][1, 1](left, turns, more)
    graph.launch()
    np.testing.assert_array_equal(a.get(), 3)
    which.fill(0)
    left.fill(2)
    graph.launch()
    np.testing.assert_array_equal(a.get(), 3)
    assert int(turns) == 5


@needs_conditions
def test_memory_of_conditional_bodies_stays_allocated_as_long_as_graph() -> None:
    target = PyGPU.zeros(1000, "uint8")
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    before = PyGPU.memory_statistics()["bytes"]
    with PyGPU.Graph() as graph, graph.if_then(graph.create_condition(1)):
        target[...] = PyGPU.full(1000, 7, "uint8")
    gc.collect()
    others = [PyGPU.full(1000, 9, "uint8") for _ in range(5)]
    graph.launch()
    np.testing.assert_array_equal(target.get(), 7)
    assert all((other.get() == 9).all() for other in others)
    del graph, others
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    assert PyGPU.memory_statistics()["bytes"] == before


@needs_conditions
def test_launch_and_other_streams_wait_for_accesses_in_conditional_body() -> None:
    one, two = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    with two:
        a, b = PyGPU.zeros(1000), PyGPU.zeros(1000)
    with PyGPU.Graph(one) as graph, graph.if_then(graph.create_condition(1)):
        b[...] = a
    for value in range(5):
        a.fill(float(value), stream=two)
        graph.launch(one)
        np.testing.assert_array_equal(b.get(stream=two), float(value))


@needs_conditions
def test_conditional_body_is_ordered_with_other_streams_of_capture() -> None:
    other = PyGPU.Stream(non_blocking=True)
    a, b, c = PyGPU.zeros(1000), PyGPU.zeros(1000), PyGPU.zeros(1000)
    with PyGPU.Graph() as graph:
        origin = PyGPU.current_stream()
        other.wait_stream(origin)
        a.fill(1, stream=other)
        with graph.if_then(graph.create_condition(1)):
            b[...] = a
            a.fill(2)
        with other:
            c[...] = a
        origin.wait_stream(other)
    for _ in range(3):
        graph.launch()
        np.testing.assert_array_equal(b.get(), 1)
        np.testing.assert_array_equal(c.get(), 2)


@needs_conditions
def test_outer_stream_rejects_work_during_capture_of_conditional_body() -> None:
    a = PyGPU.zeros(10)
    with PyGPU.Graph() as graph:
        origin, condition = PyGPU.current_stream(), graph.create_condition(1)
        with graph.if_then(condition):
            with pytest.raises(ValueError, match="beside it"):
                a.fill(1, stream=origin)
            a.fill(2)
        with pytest.raises(ValueError, match="in another operation already"):
            graph.while_loop(condition)
        (late,) = graph.switch(graph.create_condition(1), 1)
        a += 1
        with pytest.raises(ValueError, match="right after the node"), late:
            pass
    graph.launch()
    np.testing.assert_array_equal(a.get(), 3)


@needs_conditions
def test_use_of_condition_in_wrong_state_or_capture_raises_error() -> None:
    a = PyGPU.zeros(10)
    graph, other = PyGPU.Graph(), PyGPU.Graph()
    with pytest.raises(ValueError, match="inside of `with graph:`"):
        graph.create_condition(1)
    with graph:
        condition = graph.create_condition(1)
        body = graph.if_then(condition)
        with body:
            a.fill(1)
        with pytest.raises(ValueError, match="captured once"):
            body.__enter__()
        with pytest.raises(ValueError, match="at least"):
            graph.switch(condition, 0)
        with pytest.raises((TypeError, OverflowError)):
            graph.create_condition(-1)
    with pytest.raises(ValueError, match="inside of `with graph:`"):
        graph.if_then(condition)
    with other:
        with pytest.raises(ValueError, match="of another graph"):
            other.if_then(condition)
        a.fill(2)
    with pytest.raises(PyGPU.NotSupportedError, match="conditional has no parameters"):
        graph.update(graph.nodes[0])
    graph.launch()
    np.testing.assert_array_equal(a.get(), 1)


@needs_conditions
def test_end_of_graph_inside_open_body_raises_error_and_discards_capture() -> None:
    graph, a = PyGPU.Graph(), PyGPU.zeros(10)
    graph.__enter__()
    origin = PyGPU.current_stream()
    body = graph.if_then(graph.create_condition(1))
    body.__enter__()
    stream = PyGPU.current_stream()
    with pytest.raises(ValueError, match="leave the body"):
        graph.__exit__(None, None, None)
    assert not origin.is_capturing
    assert not stream.is_capturing
    with pytest.raises(ValueError, match="over already"):
        body.__exit__(None, None, None)
    with PyGPU.Graph() as graph:
        a.fill(1)
    graph.launch()
    np.testing.assert_array_equal(a.get(), 1)


@needs_conditions
def test_exception_in_conditional_body_is_raised_and_ends_both_captures() -> None:
    graph, streams = PyGPU.Graph(), []

    def capture() -> None:
        with graph, graph.if_then(graph.create_condition(1)):
            streams.append(PyGPU.current_stream())
            _ = 1 // 0

    with pytest.raises(ZeroDivisionError):
        capture()
    assert not streams[0].is_capturing
    with pytest.raises(ValueError, match="the graph is empty"):
        graph.launch()
