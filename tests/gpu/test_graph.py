"""Test captures of PyGPU's work by PyTorch and CuPy, and PyGPU's own graphs, with a real driver."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import PyGPU
from gpu import support

support.require_peers()

SOURCE = """
extern "C" __global__ void increment(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
"""
COUNT = 1 << 16


@pytest.fixture(scope="module")
def increment() -> PyGPU.Kernel:
    return PyGPU.Kernel(SOURCE, "increment")


def test_torch_graph_captures_pygpu_launches_copies_and_fills(increment: PyGPU.Kernel) -> None:
    torch = pytest.importorskip("torch")
    x, y, z = (PyGPU.zeros(COUNT, np.int32) for _ in range(3))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        stream = PyGPU.Stream.from_handle(torch.cuda.current_stream().cuda_stream)
        assert stream.is_capturing
        with stream:
            increment[COUNT // 256, 256](x, COUNT)
            y[...] = x
            z.fill(7)
            temporary = y.copy()
            increment[COUNT // 256, 256](temporary, COUNT)
    assert x.get().sum() == 0
    for turn in (1, 2, 3):
        graph.replay()
        torch.cuda.synchronize()
        assert (x.get() == turn).all()
        assert (y.get() == turn).all()
        assert (z.get() == 7).all()
        assert (temporary.get() == turn + 1).all()


def test_torch_captures_kernel_launch_on_array_used_by_other_stream(increment: PyGPU.Kernel) -> None:
    torch = pytest.importorskip("torch")
    other = PyGPU.Stream(non_blocking=True)
    x = PyGPU.zeros(COUNT, np.int32)
    with other:
        for _ in range(200):
            increment[COUNT // 256, 256](x, COUNT)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), PyGPU.Stream.from_handle(torch.cuda.current_stream().cuda_stream):
        increment[COUNT // 256, 256](x, COUNT)
    graph.replay()
    torch.cuda.synchronize()
    assert (x.get() == 201).all()


def test_graph_captured_by_cupy_repeats_launch_of_pygpu_kernel(increment: PyGPU.Kernel) -> None:
    cupy = pytest.importorskip("cupy")
    x = PyGPU.zeros(COUNT, np.int32)
    theirs = cupy.cuda.Stream(non_blocking=True)
    ours = PyGPU.Stream.from_handle(theirs.ptr, owner=theirs)
    with theirs:
        theirs.begin_capture()
        with ours:
            increment[COUNT // 256, 256](x, COUNT)
        graph = theirs.end_capture()
    for _ in range(3):
        graph.launch(theirs)
    theirs.synchronize()
    assert (x.get() == 3).all()


def test_torch_capture_rejects_download_and_continues(increment: PyGPU.Kernel) -> None:
    torch = pytest.importorskip("torch")
    x = PyGPU.zeros(COUNT, np.int32)
    PyGPU.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), PyGPU.Stream.from_handle(torch.cuda.current_stream().cuda_stream):
        increment[COUNT // 256, 256](x, COUNT)
        with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
            x.get()
    graph.replay()
    torch.cuda.synchronize()
    assert (x.get() == 1).all()


def test_graph_of_many_kernels_runs_in_order_on_any_stream(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(COUNT, np.int32)
    with PyGPU.Graph() as graph:
        for _ in range(100):
            increment[COUNT // 256, 256](x, COUNT)
        doubled = x.copy()
    assert graph.num_nodes == 101
    streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)]
    for turn in range(9):
        graph.launch(streams[turn % 3])
    assert (x.get() == 900).all()
    assert (doubled.get() == 900).all()


def test_captured_strided_copy_and_reduction_are_correct() -> None:
    from PyGPU.reduction import ReductionKernel

    total = ReductionKernel(np.int64, "0", "a + b", arguments="const long long *in")
    a = PyGPU.to_gpu(np.arange(600 * 700).reshape(600, 700))
    total(a)  # Compile the kernels before the capture begins, because kernels cannot be loaded during a capture.
    a.T.copy("C")
    with PyGPU.Graph() as graph:
        turned = a.T.copy("C")
        found = total(turned)
    graph.launch()
    np.testing.assert_array_equal(turned.get(), a.get().T)
    assert found.get() == np.arange(600 * 700).sum()


def test_graph_dropped_during_its_launch_completes_its_work(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(COUNT, np.int32)
    with PyGPU.Graph() as graph:
        for _ in range(500):
            increment[COUNT // 256, 256](x, COUNT)
    graph.launch()
    del graph
    assert (x.get() == 500).all()


def test_capture_by_torch_accepts_fills_and_rejects_uploads() -> None:
    # A former defect: captured fills with items of 8 and 16 bytes copied the item from host memory that was already
    # freed.
    torch = pytest.importorskip("torch")
    sizes = [*range(1, 17), 24, 40]
    item = {size: np.frombuffer(bytes(range(1, size + 1)), f"V{size}")[0] for size in sizes}
    targets = {size: PyGPU.to_gpu(np.zeros((300, 50), f"V{size}")) for size in sizes}
    host = np.arange(1000.0)
    x = PyGPU.zeros(1000)
    PyGPU.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), PyGPU.Stream.from_handle(torch.cuda.current_stream().cuda_stream) as stream:
        for size, target in targets.items():
            target[::3, ::-1].fill(item[size])
            target[1].fill(item[size])
        for upload in (lambda: x.set_async(host, stream=stream), lambda: PyGPU.to_gpu(host)):
            with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
                upload()
        x.fill(2.5)
    host[...] = -1
    junk = [bytes([255]) * size for size in range(1, 2000)]
    for _ in range(50):
        x.fill(0.0)
        for size, target in targets.items():
            target.fill(np.zeros(1, f"V{size}")[0])
        PyGPU.synchronize()
        graph.replay()
        torch.cuda.synchronize()
        assert (x.get() == 2.5).all()
        for size, target in targets.items():
            expected = np.zeros((300, 50), f"V{size}")
            expected[::3] = expected[1] = item[size]
            assert target.get().tobytes() == expected.tobytes(), f"items of {size} bytes"
    del junk


def test_fill_sets_sampled_elements_of_large_array() -> None:
    rows = 1 << (10 if support.is_simulated() else 13)
    for dtype, value in (("float64", 1.5), ("complex128", 1 - 2j), ("V12", np.frombuffer(b"abcdefghijkl", "V12")[0])):
        a = PyGPU.empty((rows, 3000), dtype)
        a.fill(value)
        expected = np.empty((), dtype)
        expected[()] = value
        assert a[:: rows // 8, ::333].get().tobytes() == np.broadcast_to(expected, (8, 10)).tobytes()
        assert a[-1].get().tobytes() == np.broadcast_to(expected, (3000,)).tobytes()


ADD = """__global__ void add(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
__global__ void spin(int *x, long long turns) {
    for (long long i = 0; i < turns; ++i) atomicAdd(x, 1);
}"""


def test_graph_update_changes_parameters_of_each_kind_of_node() -> None:
    add = PyGPU.Kernel(ADD, "add")
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


def test_graph_node_that_fills_rows_can_be_updated() -> None:
    a, b = PyGPU.zeros((64, 64), "uint8"), PyGPU.full((64, 64), 5, "uint8")
    with PyGPU.Graph() as graph:
        a[:, :32].fill(1)
    (node,) = graph.nodes
    graph.update(node, lambda: b[:, :32].fill(2))
    graph.launch()
    assert not a.get().any()
    assert (b.get()[:, :32] == 2).all()
    assert (b.get()[:, 32:] == 5).all()


def test_graph_update_by_other_graph_sets_all_nodes_or_raises_error_910() -> None:
    add = PyGPU.Kernel(ADD, "add")
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
    # After a failed update of the whole graph, single nodes can still be updated.
    graph.update(graph.nodes[0], y, 5, 1000)
    graph.launch()
    assert (x.get() == 10).all()
    assert (y.get() == 10).all()  # The fill with 10 runs after the kernel that adds 5, so the result is 10.


def test_graph_update_during_launch_does_not_affect_that_launch() -> None:
    spin = PyGPU.Kernel(ADD, "spin")
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


def test_repeated_updates_of_graph_node_leak_no_memory() -> None:
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
