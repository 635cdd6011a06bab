"""Test updates of one graph node or of a whole graph, on every backend."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import PyGPU
from support_kernels import needs_kernels

SOURCE = """__global__ void add(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}"""


def captured(*calls: Any) -> PyGPU.Graph:
    """Return a graph into which the given functions' work was captured."""
    graph = PyGPU.Graph()
    with graph:
        for call in calls:
            call()
    return graph


def test_graph_nodes_are_listed_in_capture_order_with_kind() -> None:
    a, b = PyGPU.zeros(100, "uint8"), PyGPU.zeros(100, "uint8")
    graph = captured(lambda: a.fill(3), lambda: b.__setitem__(..., a))
    assert [(node.index, node.kind, node.name) for node in graph.nodes] == [(0, "memset", None), (1, "memcpy", None)]
    assert repr(graph.nodes[1]) == "<PyGPU.GraphNode 1: memcpy>"


def test_update_of_fill_node_replaces_array_and_value() -> None:
    a, b = PyGPU.zeros(100, "uint8"), PyGPU.zeros(50, "uint8")
    graph = captured(lambda: a.fill(3))
    graph.update(graph.nodes[0], b, 7)
    graph.launch()
    assert not a.get().any()
    np.testing.assert_array_equal(b.get(), 7)


def test_update_of_copy_node_replaces_source_and_target() -> None:
    a, b, c = PyGPU.full(100, 1.0), PyGPU.zeros(100), PyGPU.full(100, 2.0)
    graph = captured(lambda: b.__setitem__(..., a))
    (node,) = graph.nodes
    graph.update(node, b, c)
    graph.launch()
    np.testing.assert_array_equal(b.get(), 2.0)
    graph.update(node, a, c)
    graph.launch()
    np.testing.assert_array_equal(a.get(), 2.0)


def test_update_of_pinned_copy_node_replaces_host_memory() -> None:
    one, two = PyGPU.empty_pinned(100, "float32"), PyGPU.empty_pinned(100, "float32")
    one[:], two[:] = 1, 2
    a = PyGPU.zeros(100, "float32")
    with PyGPU.Graph() as graph:
        a.set_async(one)
        a.get_async(ary=one)
    into, out = graph.nodes
    graph.update(into, a, two)
    graph.launch()
    PyGPU.synchronize()
    np.testing.assert_array_equal(one, 2)
    one[:] = 5
    graph.update(into, a, one)
    graph.update(out, two, a)
    del one
    gc.collect()
    graph.launch()
    PyGPU.synchronize()
    np.testing.assert_array_equal(two, 5)


@needs_kernels
def test_update_of_kernel_node_replaces_arguments_and_launch_shape() -> None:
    kernel = PyGPU.Kernel(SOURCE, "add")
    x, y = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32")
    graph = captured(lambda: kernel[4, 256](x, 1, 1000))
    (node,) = graph.nodes
    assert (node.kind, node.name) == ("kernel", "add")
    graph.update(node, y, 10, 1000)
    graph.launch()
    assert not x.get().any()
    np.testing.assert_array_equal(y.get(), 10)
    # The update passes no arguments, so the arguments of the node stay unchanged.
    graph.update(node, grid=1, block=(100, 1))
    graph.launch()
    np.testing.assert_array_equal(y.get(), np.where(np.arange(1000) < 100, 20, 10))
    graph.update(node, lambda: kernel[2, 100](x, 5, 150))
    graph.launch()
    np.testing.assert_array_equal(x.get(), np.where(np.arange(1000) < 150, 5, 0))


@needs_kernels
def test_node_update_with_invalid_arguments_raises_same_error_as_launch() -> None:
    kernel = PyGPU.Kernel(SOURCE, "add")
    x = PyGPU.zeros(1000, "int32")
    graph = captured(lambda: kernel[4, 256](x, 1, 1000))
    (node,) = graph.nodes
    with pytest.raises(TypeError, match="takes 3 arguments"):
        graph.update(node, x)
    with pytest.raises(TypeError, match="float32"):
        graph.update(node, PyGPU.zeros(1000, "float32"), 1, 1000)
    with pytest.raises(ValueError, match="block"):
        graph.update(node, block=1 << 20)
    with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
        graph.update(node, PyGPU.InOut(np.zeros(1000, "int32")), 1, 1000)
    graph.launch()
    np.testing.assert_array_equal(x.get(), 1)


def test_update_of_graph_node_by_different_operation_raises_error() -> None:
    a, b = PyGPU.zeros(100, "uint8"), PyGPU.full(100, 9, "uint8")
    graph, other = captured(lambda: a.fill(3)), captured(lambda: b.fill(4))
    (node,) = graph.nodes
    with pytest.raises(ValueError, match="makes a memcpy"):
        graph.update(node, lambda: a.__setitem__(..., b))
    with pytest.raises(ValueError, match="makes 2 operations"):
        graph.update(node, lambda: (a.fill(1), b.fill(1)))
    with pytest.raises(ValueError, match="makes no operation"):
        graph.update(node, lambda: None)
    with pytest.raises(ValueError, match="of another graph"):
        graph.update(other.nodes[0], a, 1)
    with pytest.raises(TypeError, match="an array and a value"):
        graph.update(node, a)
    with pytest.raises(TypeError, match="of a kernel's node"):
        graph.update(node, a, 1, grid=3)
    with pytest.raises(TypeError, match="or another graph"):
        graph.update(0, a, 1)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        graph.update(node, lambda: 1 // 0)
    with pytest.raises(ValueError, match="the graph is empty"):
        graph.update(PyGPU.Graph())
    graph.launch()
    np.testing.assert_array_equal(a.get(), 3)
    np.testing.assert_array_equal(b.get(), 9)


def test_update_of_host_function_node_is_not_supported() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    stream.begin_capture()
    stream.launch_host_function(list)
    graph = stream.end_capture()
    assert graph.nodes[0].kind == "host"
    with pytest.raises(PyGPU.NotSupportedError, match="no parameters to exchange"):
        graph.update(graph.nodes[0])


def test_graph_update_accepts_graph_with_same_operations() -> None:
    a, b, c = PyGPU.zeros(100, "uint8"), PyGPU.zeros(100, "uint8"), PyGPU.zeros(100, "uint8")
    graph = captured(lambda: a.fill(1), lambda: b.__setitem__(..., a))
    other = captured(lambda: c.fill(2), lambda: a.__setitem__(..., c))
    graph.update(other)
    del other
    gc.collect()
    graph.launch()
    assert (c.get() == 2).all()
    assert (a.get() == 2).all()
    assert not b.get().any()
    graph.update(graph.nodes[0], c, 5)  # After an update of the whole graph, single nodes can still be updated.
    graph.launch()
    assert (a.get() == 5).all()


def test_update_by_graph_of_different_operations_raises_error_910() -> None:
    a, b = PyGPU.zeros(100, "uint8"), PyGPU.zeros(100, "uint8")
    graph = captured(lambda: a.fill(1), lambda: b.__setitem__(..., a))
    with pytest.raises(PyGPU.CudaError, match=r"\(910\).*topology changed"):
        graph.update(captured(lambda: a.fill(7)))
    with pytest.raises(PyGPU.CudaError, match=r"\(910\).*kind of an operation changed"):
        graph.update(captured(lambda: a.fill(7), lambda: b.fill(7)))
    graph.launch()
    np.testing.assert_array_equal(b.get(), 1)


def test_launch_waits_for_work_on_arrays_of_updated_node() -> None:
    one, two = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    with two:
        a, b, c = PyGPU.zeros(1000), PyGPU.zeros(1000), PyGPU.zeros(1000)
    graph = captured(lambda: b.__setitem__(..., a))
    graph.update(graph.nodes[0], c, b)
    for value in range(5):
        b.fill(float(value), stream=two)
        graph.launch(one)
        np.testing.assert_array_equal(c.get(stream=two), float(value))


def test_graph_update_keeps_new_arrays_alive_and_releases_old_arrays() -> None:
    target, source = PyGPU.zeros(1000, "uint8"), PyGPU.zeros(1000, "uint8")
    with PyGPU.Graph() as graph:
        target[...] = source
    (node,) = graph.nodes
    del source
    held = []
    for value in range(5):
        graph.update(node, target, PyGPU.full(1000, value, "uint8"))
        graph.launch()
        np.testing.assert_array_equal(target.get(), value)
        gc.collect()
        PyGPU.synchronize()
        PyGPU.trim_memory()  # The synchronization above has released the memory that the launch kept alive.
        held.append(PyGPU.memory_statistics()["bytes"])
    assert set(held) == {held[0]}
    del graph, node
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()
    assert PyGPU.memory_statistics()["bytes"] == held[0] - 1000


@needs_kernels
def test_graph_update_keeps_replaced_array_alive_for_another_node() -> None:
    kernel = PyGPU.Kernel(SOURCE, "add")
    x, y = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32")
    with PyGPU.Graph() as graph:
        kernel[4, 256](x, 1, 1000)
        kernel[4, 256](x, 10, 1000)
        y[...] = x
    graph.update(graph.nodes[0], y, 1, 1000)
    del x
    gc.collect()
    others = [PyGPU.full(1000, 99, "int32") for _ in range(10)]
    for turn in (1, 2):
        graph.launch()
        np.testing.assert_array_equal(y.get(), 10 * turn)
    assert all((other.get() == 99).all() for other in others)


def test_graph_update_does_not_change_launches_already_enqueued() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    a, found = PyGPU.zeros(1 << 20, "uint8"), []
    graph = captured(lambda: a.fill(1))
    for value in range(2, 12):
        graph.launch(stream)
        copy = a.copy()
        found.append(copy)
        graph.update(graph.nodes[0], a, value)
    for value, copy in enumerate(found, 1):
        np.testing.assert_array_equal(copy.get(), value)


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="a driver takes an update at any time")
def test_update_of_running_graph_on_cpu_raises_value_error() -> None:
    a = PyGPU.zeros(100, "uint8")
    stream = PyGPU.Stream(non_blocking=True)
    stream.begin_capture()
    a.fill(1, stream=stream)
    stream.launch_host_function(lambda: graph.update(graph.nodes[0], a, 2))
    graph = stream.end_capture()
    graph.launch(stream)
    with pytest.raises(ValueError, match="the graph runs at this moment"):
        stream.synchronize()
