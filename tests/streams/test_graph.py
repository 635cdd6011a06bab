"""Test that captured work runs at each launch and not during the capture, on every backend."""

from __future__ import annotations

import gc
from collections.abc import Callable

import numpy as np
import pytest

import PyGPU
from PyGPU import _core
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from support_kernels import needs_kernels

VIEWS = {  # Functions that take an array with 60 elements and return a view of it with shape (6, 5).
    "dense": lambda x: x[:30].reshape(6, 5),
    "parts_of_rows": lambda x: x.reshape(6, 10)[:, :5],
    "every_second_row": lambda x: x.reshape(12, 5)[::2],
    "every_second_column": lambda x: x.reshape(6, 10)[:, ::2],
    "transposed": lambda x: x[:30].reshape(5, 6).T,
    "reversed": lambda x: x[:30].reshape(6, 5)[::-1],
}


def test_captured_fill_runs_at_each_launch_only() -> None:
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


def test_graph_launch_and_other_streams_wait_for_each_other() -> None:
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


def test_graph_keeps_captured_arrays_alive() -> None:
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


def test_default_stream_cannot_be_captured() -> None:
    with pytest.raises(ValueError, match="default stream cannot capture"):
        PyGPU.default_stream().begin_capture()


def test_end_capture_without_begin_raises_value_error() -> None:
    with pytest.raises(ValueError, match="no capture of PyGPU began"):
        PyGPU.Stream().end_capture()


def test_with_block_of_graph_captures_its_work() -> None:
    with PyGPU.Graph() as graph:
        assert PyGPU.current_stream().is_capturing
        zeros = PyGPU.zeros(3)
    assert not PyGPU.current_stream().is_capturing
    zeros.fill(5.0)
    graph.replay()
    assert zeros.tolist() == [0.0] * 3


def test_empty_graph_cannot_be_launched() -> None:
    with pytest.raises(ValueError, match="the graph is empty"):
        PyGPU.Graph().launch()


def test_capture_rejects_host_wait_and_stays_valid() -> None:
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


def test_exception_in_with_block_of_graph_discards_capture() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    graph = PyGPU.Graph(stream)
    with pytest.raises(ZeroDivisionError), graph:
        _ = 1 // 0
    assert not stream.is_capturing
    with pytest.raises(ValueError, match="the graph is empty"):
        graph.launch()


def test_memory_of_array_dropped_in_capture_is_valid_at_each_launch() -> None:
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


def test_array_accesses_on_two_streams_of_capture_run_in_recorded_order() -> None:
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    a, b = PyGPU.zeros(1000, "int32"), PyGPU.zeros(1000, "int32")
    one.begin_capture()
    a.fill(1, stream=one)
    other.wait_stream(one)
    with other:
        b[...] = a
    a.fill(2, stream=one)  # This write must run after the other stream has read the array `a`.
    one.wait_stream(other)
    graph = one.end_capture()
    for _ in range(3):
        graph.launch(one)
        assert (a.get() == 2).all()
        assert (b.get() == 1).all()


def test_pinned_memory_in_graph_is_read_and_written_at_each_launch() -> None:
    source, target = PyGPU.empty_pinned(100, "float32"), PyGPU.empty_pinned(100, "float32")
    source[:], target[:] = 1, 0
    a = PyGPU.zeros(100, "float32")
    with PyGPU.Graph() as graph:
        a.set_async(source)
        a.get_async(ary=target)
    del a
    gc.collect()
    for value in (2, 3):
        source[:] = value
        graph.launch()
        PyGPU.synchronize()
        np.testing.assert_array_equal(target, value)


def _is_captured(call: Callable[[], object]) -> bool:
    try:
        call()
    except PyGPU.NotSupportedError as error:
        return "cannot be captured" not in str(error)
    return True


@needs_kernels
@pytest.mark.parametrize("host_side", sorted(VIEWS))
def test_captured_copy_of_pinned_memory_in_any_layout_works_or_raises(host_side: str) -> None:
    read, written = PyGPU.zeros_pinned(60, "float32"), PyGPU.zeros_pinned(60, "float32")
    read[...] = np.arange(60)
    source, target = VIEWS[host_side](read), VIEWS[host_side](written)
    for device_side in sorted(VIEWS):
        a, b = PyGPU.zeros(60, "float32"), PyGPU.zeros(60, "float32")
        view, captured = VIEWS[device_side](a), []
        # These calls compile the kernels of the captured operations before the capture.
        view.copy(), view.__setitem__(..., view.copy())
        with PyGPU.Graph() as graph:
            for call in (lambda: view.set_async(source), lambda: view.get_async(ary=target)):  # noqa: B023
                if _is_captured(call):
                    captured.append(call)
            b.fill(1)
        assert len(captured) == 2 or (host_side == "reversed" and not captured)
        written[...] = 0
        graph.launch()
        PyGPU.synchronize()
        np.testing.assert_array_equal(b.get(), 1)
        if captured:
            np.testing.assert_array_equal(view.get(), source)
            np.testing.assert_array_equal(target, source)


def test_copies_by_raw_address_can_be_captured() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    first, second = _core.raw_allocate(64), _core.raw_allocate(64)
    _core.raw_fill(first, 0, 64)
    _core.raw_fill(second, 0, 64)
    stream.begin_capture()
    _core.raw_fill(first, 7, 64, stream)
    _core.raw_copy(second, first, 64, "device_to_device", stream)
    graph = stream.end_capture()
    found = np.zeros(64, np.uint8)
    _core.raw_copy(found.ctypes.data, second, 64, "device_to_host")
    assert not found.any()
    graph.launch(stream)
    stream.synchronize()
    _core.raw_copy(found.ctypes.data, second, 64, "device_to_host")
    assert (found == 7).all()
    _core.raw_free(first)
    _core.raw_free(second)


def test_arrays_kept_alive_by_graph_are_released_with_graph() -> None:
    gc.collect()
    PyGPU.synchronize()
    before = PyGPU.memory_statistics()["bytes"]
    with PyGPU.Graph() as graph:
        PyGPU.zeros(1000, "uint8")
    assert PyGPU.memory_statistics()["bytes"] == before + 1000
    graph.launch()
    del graph
    PyGPU.synchronize()
    PyGPU.trim_memory()  # The synchronization above has released the memory that the launch kept alive.
    assert PyGPU.memory_statistics()["bytes"] == before


@needs_kernels
def test_kernel_launches_are_captured_with_argument_values() -> None:
    kernel = PyGPU.Kernel(
        """__global__ void add(int *x, int value, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] += value;
        }""",
        "add",
    )
    x = PyGPU.zeros(1000, "int32")
    kernel[4, 256](x, 0, 1000)  # Compile the kernel before the capture by a first launch.
    with PyGPU.Graph() as graph:
        for value in (1, 10, 100):
            kernel[4, 256](x, value, 1000)
    del kernel
    gc.collect()
    assert graph.num_nodes == 3
    assert not x.get().any()
    for turn in (1, 2):
        graph.launch()
        np.testing.assert_array_equal(x.get(), 111 * turn)


@needs_kernels
def test_generated_kernels_and_strided_copies_are_captured() -> None:
    total = ReductionKernel(np.int64, "0", "a + b", arguments="const long long *in")
    double = ElementwiseKernel("long long *x", "x[i] *= 2")
    host = np.arange(60 * 70).reshape(60, 70)
    a = PyGPU.to_gpu(host)
    total(a), double(a.copy()), a.T.copy("C")  # Compile the kernels before the capture by first calls.
    with PyGPU.Graph() as graph:
        double(a)
        turned = a.T.copy("C")
        found = total(turned)
    np.testing.assert_array_equal(a.get(), host)
    for turn in (1, 2):
        graph.launch()
        expected = host * 2**turn
        np.testing.assert_array_equal(a.get(), expected)
        np.testing.assert_array_equal(turned.get(), expected.T)
        assert found.get() == expected.sum()
