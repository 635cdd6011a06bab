"""Updates of graphs by the driver's own descriptions of their nodes, on a GPU: what simulators cannot vouch for."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import PyGPU

SOURCE = """__global__ void add(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
__global__ void spin(int *x, long long turns) {
    for (long long i = 0; i < turns; ++i) atomicAdd(x, 1);
}"""


def test_each_kind_of_node_takes_other_parameters() -> None:
    add = PyGPU.Kernel(SOURCE, "add")
    x, y, z = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32"), PyGPU.full(1000, 3, "int32")
    pinned, other = PyGPU.empty_pinned(1000, "int32"), PyGPU.empty_pinned(1000, "int32")
    pinned[:], other[:] = 40, 50
    with PyGPU.Graph() as graph:
        add[4, 256](x, 1, 1000)
        y[...] = x
        z.fill(0)
        x.set_async(pinned)
    kernel, copy, fill, upload = graph.nodes
    assert [node.kind for node in graph.nodes] == ["kernel", "memcpy", "memset", "memcpy"]
    assert kernel.name == "add"
    graph.launch()
    assert (y.get() == 1).all()
    assert (x.get() == 40).all()

    w = PyGPU.zeros(1000, "int32")
    graph.update(kernel, w, 7, 1000)
    graph.update(copy, y, w)
    graph.update(fill, z, 9)
    graph.update(upload, x, other)
    del w
    gc.collect()
    graph.launch()
    assert (y.get() == 7).all()
    assert (z.get() == 9).all()
    assert (x.get() == 50).all()

    graph.update(kernel, grid=1, block=10)
    graph.launch()
    np.testing.assert_array_equal(y.get(), np.where(np.arange(1000) < 10, 14, 7))


def test_a_fill_of_rows_is_a_node_that_can_be_updated() -> None:
    a, b = PyGPU.zeros((64, 64), "uint8"), PyGPU.full((64, 64), 5, "uint8")
    with PyGPU.Graph() as graph:
        a[:, :32].fill(1)
    (node,) = graph.nodes
    graph.update(node, lambda: b[:, :32].fill(2))
    graph.launch()
    assert not a.get().any()
    assert (b.get()[:, :32] == 2).all()
    assert (b.get()[:, 32:] == 5).all()


def test_all_of_a_graph_is_taken_over_and_the_driver_says_why_not() -> None:
    add = PyGPU.Kernel(SOURCE, "add")
    x, y = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32")

    def captured(array: PyGPU.GPUArray, value: int, fills: int) -> PyGPU.Graph:
        with PyGPU.Graph() as graph:
            add[4, 256](array, value, 1000)
            for _ in range(fills):
                y.fill(value)
        return graph

    graph = captured(x, 1, 1)
    graph.update(captured(x, 10, 1))
    graph.launch()
    assert (x.get() == 10).all()
    assert (y.get() == 10).all()
    with pytest.raises(PyGPU.CudaError, match=r"\(910\)"):
        graph.update(captured(x, 100, 2))
    graph.update(graph.nodes[0], y, 5, 1000)  # its own nodes, after all of it was exchanged
    graph.launch()
    assert (x.get() == 10).all()
    assert (y.get() == 10).all()  # the fill comes after


def test_a_launch_under_way_has_what_there_was_and_its_memory() -> None:
    spin = PyGPU.Kernel(SOURCE, "spin")
    stream = PyGPU.Stream(non_blocking=True)
    x, y = PyGPU.zeros(1, "int32"), PyGPU.zeros(1, "int32")
    with PyGPU.Graph() as graph:
        spin[1, 1](x, 1 << 20)
    (node,) = graph.nodes
    graph.launch(stream)
    graph.update(node, y, 10)
    found = x
    del x
    graph.launch(stream)
    assert int(found.get()[0]) == 1 << 20
    assert int(y.get()[0]) == 10


def test_many_updates_hold_no_more_memory_than_one() -> None:
    target = PyGPU.zeros(1 << 20, "uint8")
    with PyGPU.Graph() as graph:
        target.fill(1)
    (node,) = graph.nodes
    held = []
    for value in range(200):
        graph.update(node, PyGPU.empty(1 << 20, "uint8"), value % 256)
        graph.launch()
        if value % 50 == 49:
            PyGPU.synchronize()
            PyGPU.trim_memory()
            held.append(PyGPU.memory_statistics()["bytes"])
    assert len(set(held)) == 1, held
