"""Test every path by which a copy from host memory could enter a graph.

A graph accesses the memory of a captured copy at each launch. Between two launches, pageable memory may be freed and
reused for another object. Therefore PyGPU rejects a copy from pageable memory before it calls the driver; the capture
remains valid and contains no part of the copy. The graph keeps pinned memory alive. The simulated drivers report any
copy that is not rejected.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.gpuarray
from PyGPU import driver
from support import child_environment

pytestmark = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="this backend has no graphs")

COUNT = 1000


class Bench:
    """Hold a capturing stream, and objects that were created before the capture."""

    def __init__(self) -> None:
        self.stream = PyGPU.Stream(non_blocking=True)
        self.host = np.arange(COUNT, dtype="float64")
        self.array = PyGPU.zeros(COUNT, "float64")
        self.wide = PyGPU.zeros((40, 50), "float64")
        self.index = PyGPU.to_gpu(np.array([1, 5, 3]))
        self.mask = PyGPU.to_gpu(np.arange(COUNT) % 3 == 0)
        self.other = PyGPU.zeros(COUNT, "float64")
        self.pybind = PyGPU.DeviceArray_float64(self.host)
        self.pybind.to_device()
        self.pinned = PyGPU.zeros_pinned(COUNT, "float64")


def raw(kind: str, bench: Bench, *, up: bool, wait: bool = False, pinned: bool = False) -> None:
    host = (bench.pinned if pinned else bench.host).ctypes.data
    to, source = (bench.array.ptr, host) if up else (host, bench.array.ptr)
    PyGPU._core.raw_copy(to, source, 8 * COUNT, kind, bench.stream, wait=wait)


def status(answer: Any) -> None:
    """Raise the error of a status object unless the status is success."""
    code = int(answer[-1] if isinstance(answer, tuple) else answer)
    if code:
        raise PyGPU.NotSupportedError(f"status {code}: cannot be captured")


def pybind(call: Callable[[Bench], Any]) -> Callable[[Bench], Any]:
    def copy(bench: Bench) -> None:
        call(bench)
        status(bench.pybind.last_status())

    return copy


DOORS: dict[str, Callable[[Bench], Any]] = {
    "to_gpu": lambda b: PyGPU.to_gpu(b.host),
    "to_gpu_async": lambda b: PyGPU.gpuarray.to_gpu_async(b.host, stream=b.stream),
    "asarray of a list": lambda b: PyGPU.asarray([1.0, 2.0, 3.0]),
    "set": lambda b: b.array.set(b.host),
    "set_async": lambda b: b.array.set_async(b.host, stream=b.stream),
    "assignment": lambda b: b.array.__setitem__(slice(None), b.host),
    "assignment of a list": lambda b: b.array.__setitem__(slice(0, 3), [1.0, 2.0, 3.0]),
    "assignment to a transposed array": lambda b: b.wide.T.__setitem__(slice(None), np.ones((50, 40))),
    "get": lambda b: b.array.get(),
    "get into": lambda b: b.array.get(b.host),
    "get_async into": lambda b: b.array.get_async(b.stream, b.host),
    "tolist": lambda b: b.array.tolist(),
    "an element": lambda b: float(b.array[3].get()),
    "gather": lambda b: b.array[b.index],
    "gather of a list": lambda b: b.array[[1, 5, 3]],
    "scatter": lambda b: b.array.__setitem__(b.index, b.other[:3]),
    "mask": lambda b: b.array[b.mask],
    "assignment of values by a mask": lambda b: b.array.__setitem__(b.mask, b.other[:334]),
    "cudaMemcpyAsync up": lambda b: raw("host_to_device", b, up=True),
    "cudaMemcpyAsync down": lambda b: raw("device_to_host", b, up=False),
    "cudaMemcpyAsync up by default": lambda b: raw("default", b, up=True),
    "cudaMemcpyAsync down by default": lambda b: raw("default", b, up=False),
    "a raw copy that waits": lambda b: raw("default", b, up=True, wait=True, pinned=True),
    "cudaMemcpyAsync on the host": lambda b: PyGPU._core.raw_copy(
        b.host.ctypes.data, b.pinned.ctypes.data, 8, "host_to_host", b.stream
    ),
    "cudaMemcpy2DAsync up": lambda b: PyGPU._core.raw_copy_rows(
        b.array.ptr, 80, b.host.ctypes.data, 80, 64, 100, "host_to_device", b.stream
    ),
    "cudaMemcpy2DAsync down": lambda b: PyGPU._core.raw_copy_rows(
        b.host.ctypes.data, 80, b.array.ptr, 80, 64, 100, "default", b.stream
    ),
    "cudaMemPrefetchAsync": lambda b: PyGPU._core.prefetch_managed(b.array.ptr, 8, 0, b.stream),
    "memcpy_htod_async": lambda b: driver.memcpy_htod_async(b.array.ptr, b.host, b.stream),
    "memcpy_dtoh_async": lambda b: driver.memcpy_dtoh_async(b.host, b.array.ptr, b.stream),
    "DeviceArray.to_device": pybind(lambda b: b.pybind.to_device(PyGPU.cudaStream_t(b.stream.handle))),
    "DeviceArray.to_host": pybind(lambda b: b.pybind.to_host(PyGPU.cudaStream_t(b.stream.handle))),
}


@pytest.mark.parametrize("name", DOORS)
def test_capture_rejects_copy_of_pageable_memory_and_continues(name: str) -> None:
    # A former defect: a captured copy read pageable memory at each launch, although the contents of the memory had
    # changed.
    bench = Bench()
    PyGPU.synchronize()
    bench.stream.begin_capture()
    with bench.stream:
        bench.other.fill(1.5)
        with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
            DOORS[name](bench)
    graph = bench.stream.end_capture()
    assert graph.num_nodes == 1
    before = bench.array.get()
    bench.host[...] = -1
    graph.launch(bench.stream)
    np.testing.assert_array_equal(bench.other.get(), 1.5)
    np.testing.assert_array_equal(bench.array.get(), before)


SOURCE = """
extern "C" __global__ void twice(double *to, const double *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 2 * from[i];
}
"""


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("kind", ["In", "Out", "InOut"])
def test_capture_rejects_launch_with_pycuda_host_arguments(kind: str, pinned: bool) -> None:
    # PyCUDA's `In`, `Out` and `InOut` cannot be captured, because the host must wait for the kernel before it copies
    # the results back. PyGPU raises the error before pinned memory becomes part of the graph.
    twice = PyGPU.Kernel(SOURCE, "twice")
    bench = Bench()
    handler = getattr(driver, kind)(bench.pinned if pinned else bench.host)
    arguments = (bench.array, handler) if kind == "In" else (handler, bench.array)
    bench.stream.begin_capture()
    with bench.stream:
        bench.other.fill(1.5)
        with pytest.raises(PyGPU.NotSupportedError, match="cannot be captured"):
            twice[4, 256](*arguments, np.int32(COUNT))
    assert bench.stream.end_capture().num_nodes == 1


def test_graph_keeps_pinned_memory_alive_and_reads_it_at_each_launch() -> None:
    bench = Bench()
    address = bench.pinned.ctypes.data
    view = bench.pinned[:]  # Drop the view before the launch, so that only the graph keeps the memory alive.
    bench.stream.begin_capture()
    bench.array.set_async(bench.pinned, stream=bench.stream)
    raw("default", bench, up=True, pinned=True)
    graph = bench.stream.end_capture()
    for value in (3.0, 4.0):
        view[...] = value
        graph.launch(bench.stream)
        np.testing.assert_array_equal(bench.array.get(stream=bench.stream), value)
    del view, bench.pinned
    gc.collect()
    others = [PyGPU.zeros_pinned(COUNT, "float64") for _ in range(4)]
    assert address not in [other.ctypes.data for other in others]
    graph.launch(bench.stream)
    np.testing.assert_array_equal(bench.array.get(stream=bench.stream), 4.0)


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_pinned_memory_and_kernels_can_be_created_during_any_capture(mode: str) -> None:
    # During a capture in the mode "global", a driver forbids all threads to pin memory or to load a compiled module. If
    # a thread does so, the capture also becomes invalid.
    bench = Bench()
    other, kept = PyGPU.Stream(non_blocking=True), []

    def make() -> None:
        kept.append(PyGPU.zeros_pinned(12345 + len(kept)))
        kept.append(PyGPU.Kernel(SOURCE + f"// {mode} {len(kept)}", "twice"))

    bench.stream.begin_capture(mode)
    bench.array.fill(2.5, stream=bench.stream)
    make()
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    graph = bench.stream.end_capture()
    assert graph.num_nodes == 1
    graph.launch()
    np.testing.assert_array_equal(bench.array.get(), 2.5)
    for pinned, kernel in (kept[:2], kept[2:]):
        assert pinned.sum() == 0
        kernel[4, 256, other](bench.other, bench.array, np.int32(COUNT))
        np.testing.assert_array_equal(bench.other.get(), 5.0)


def test_kernel_first_used_in_capture_is_loaded_outside_capture(tmp_path: Path) -> None:
    # During a capture, a driver may forbid the load of a compiled module; a forbidden load also invalidates the
    # capture.
    script = """
import numpy as np, PyGPU
a, b = PyGPU.zeros((30, 40)), PyGPU.to_gpu(np.arange(1200.0).reshape(40, 30))
source = 'extern "C" __global__ void one(double *x) { x[threadIdx.x] = 1; }'
with PyGPU.Graph(mode="global") as graph:
    a[::3, ::-2] = 2.5
    a[:, 1] = b.T[::-1, 1]
    PyGPU.Kernel(source, "one")[1, 5](a)
graph.launch()
expected = np.zeros((30, 40))
expected[::3, ::-2] = 2.5
expected[:, 1] = np.arange(1200.0).reshape(40, 30).T[::-1, 1]
expected.ravel()[:5] = 1
np.testing.assert_array_equal(a.get(), expected)
"""
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYGPU_CACHE_DIR": str(tmp_path / "kernels")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.mark.starts_processes
def test_capture_without_compiler_accepts_fill_and_rejects_scattered_copy() -> None:
    # A former defect: the fallback, which copies elements through the host, became part of the capture.
    script = """
import numpy as np, PyGPU, simulated_driver
a, b = PyGPU.zeros((20, 20, 9, 9)), PyGPU.zeros((20, 20, 9, 9))
stream = PyGPU.Stream(non_blocking=True)
stream.begin_capture()
with stream:
    a[::2, ::2, ::2, ::2] = 1.5
    try:
        a[::2, ::2, ::2, ::2] = b[::-2, ::2, ::-2, ::2]
    except PyGPU.NotSupportedError as error:
        assert "cannot be captured" in str(error), error
    else:
        raise AssertionError("it was captured")
stream.end_capture().launch(stream)
expected = np.zeros((20, 20, 9, 9))
expected[::2, ::2, ::2, ::2] = 1.5
np.testing.assert_array_equal(a.get(), expected)
assert simulated_driver.driver() is None or simulated_driver.driver().reports() == []
"""
    folder = Path(__file__).parents[1] / "helpers"
    environment = {**child_environment(folder), "PYGPU_STRIDED_COPY": "driver"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
