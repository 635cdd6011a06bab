"""Captures that another library began, and graphs of ours with a real driver."""

from __future__ import annotations

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


def test_torch_captures_our_launches_copies_and_fills(increment: PyGPU.Kernel) -> None:
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


def test_a_block_that_another_stream_still_writes_is_settled_before_torch_captures_it(increment: PyGPU.Kernel) -> None:
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


def test_cupy_captures_our_launches(increment: PyGPU.Kernel) -> None:
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


def test_a_download_in_a_capture_of_torch_is_refused_and_the_capture_goes_on(increment: PyGPU.Kernel) -> None:
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


def test_a_graph_of_many_kernels_runs_in_order_on_any_stream(increment: PyGPU.Kernel) -> None:
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


def test_a_strided_copy_and_a_reduction_are_captured() -> None:
    from PyGPU.reduction import ReductionKernel

    total = ReductionKernel(np.int64, "0", "a + b", arguments="const long long *in")
    a = PyGPU.to_gpu(np.arange(600 * 700).reshape(600, 700))
    total(a)  # compiled before the capture
    a.T.copy("C")
    with PyGPU.Graph() as graph:
        turned = a.T.copy("C")
        found = total(turned)
    graph.launch()
    np.testing.assert_array_equal(turned.get(), a.get().T)
    assert found.get() == np.arange(600 * 700).sum()


def test_a_graph_may_be_dropped_while_it_runs(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(COUNT, np.int32)
    with PyGPU.Graph() as graph:
        for _ in range(500):
            increment[COUNT // 256, 256](x, COUNT)
    graph.launch()
    del graph
    assert (x.get() == 500).all()


def test_torch_captures_our_fills_of_any_item_and_refuses_our_uploads() -> None:
    # A1: fills of 8 and 16 bytes put a copy out of freed host memory into the graph. Kernels are loaded beside the
    # capture of torch.
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


def test_a_large_fill_reaches_every_part() -> None:
    rows = 1 << (10 if support.is_simulated() else 13)
    for dtype, value in (("float64", 1.5), ("complex128", 1 - 2j), ("V12", np.frombuffer(b"abcdefghijkl", "V12")[0])):
        a = PyGPU.empty((rows, 3000), dtype)
        a.fill(value)
        expected = np.empty((), dtype)
        expected[()] = value
        assert a[:: rows // 8, ::333].get().tobytes() == np.broadcast_to(expected, (8, 10)).tobytes()
        assert a[-1].get().tobytes() == np.broadcast_to(expected, (3000,)).tobytes()
