"""Test an array's host mirror (the ndarray that `to_device` uploads), and cached memory of dropped `get` results."""

from __future__ import annotations

import gc
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
from support import assert_same_values, values


def test_array_constructed_from_ndarray_has_values_of_ndarray() -> None:
    """Check that the constructor uploads the values of an ndarray.

    Earlier, `GPUArray(np.zeros(3, 'f4'))` had the previous contents of its memory until `to_device()` was called.
    """
    host = values((3, 4), "float32")
    for _ in range(3):
        junk = PyGPU.full((3, 4), 77, "float32")
        del junk
        a = PyGPU.GPUArray(host)
        assert repr(a).startswith("GPUArray(" + np.array2string(host, separator=", ")[:10])
        assert_same_values(a.get(), host)
    from PyGPU.gpuarray import Allocator, HostAllocator

    side = HostAllocator((3, 4), "float32")
    side.get()[...] = host
    for allocator in (side, Allocator(side)):
        assert_same_values(PyGPU.GPUArray(allocator=allocator).get(), host)


def cached() -> int:
    return PyGPU.memory_statistics()["host_cache_bytes"]


def test_cached_memory_of_dropped_get_results_is_limited_and_released() -> None:
    """Check that the cached memory of dropped results of `get` is limited, and that `trim_memory` releases it.

    Earlier, 20 arrays of 8 MB, whose `get()` results were dropped at once, held 168 MB even after `trim_memory()`.
    """
    gc.collect()  # Free the objects that earlier tests have dropped.
    PyGPU.trim_memory()
    arrays = [PyGPU.zeros(1 << 20) for _ in range(20)]
    for a in arrays:
        a.get()
    # The cache for the memory of dropped results is limited to 32 MiB. The memory of one more result, of 8 MiB, stays
    # allocated, because the next call of `get` reuses this memory.
    assert cached() <= (32 << 20) + (8 << 20)
    before = cached()
    for a in arrays:
        a.get()
    assert cached() == before
    PyGPU.trim_memory()
    assert cached() == 0
    assert all(a.host_array is None for a in arrays)


def test_memory_of_dropped_graph_is_not_cached() -> None:
    gc.collect()
    try:
        graph = PyGPU.Graph()
    except PyGPU.NotSupportedError as error:
        pytest.skip(str(error))
    a, out = PyGPU.ones(3), PyGPU.zeros(3)
    with graph:
        out[...] = a + 1
    graph.launch()
    assert out.tolist() == [2, 2, 2]
    del graph, a, out
    gc.collect()
    PyGPU.trim_memory()
    assert cached() == 0


def test_cached_memory_of_small_dropped_get_results_is_limited() -> None:
    """Check that the cached memory of small dropped results of `get` is limited."""
    PyGPU.trim_memory()
    arrays = [PyGPU.zeros(1 << 10) for _ in range(500)]
    for a in arrays:
        a.get()
    assert 0 < cached() <= 64 * 8 << 10
    del arrays, a
    gc.collect()
    assert cached() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_dropped_get_results_returns_to_operating_system() -> None:
    """Check that the operating system gets back the memory of dropped results of `get`."""
    program = """if True:
        import numpy as np, PyGPU
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096
        arrays = [PyGPU.ones(1 << 20) for _ in range(20)]
        PyGPU.synchronize()
        before = resident()
        for a in arrays:
            a.get()
        PyGPU.trim_memory()
        print((resident() - before) >> 20)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)
    assert int(done.stdout) < 60


def test_result_of_get_is_host_mirror_until_result_is_dropped() -> None:
    """Check that `to_device` uploads the last result of `get`, which is the host mirror until the result is dropped."""
    a = PyGPU.arange(3.0)
    held = a.get()
    assert a.host_array is held
    held[0] = 7
    for _ in range(200):
        PyGPU.zeros(1 << 10).get()
    PyGPU.trim_memory()
    a.to_device()
    assert a.tolist() == [7, 1, 2]
    assert a.host_array is held
    del held
    assert a.host_array is None
    with pytest.raises(ValueError, match="host side"):
        a.to_device()
    assert_same_values(a.get(), np.array([7.0, 1, 2]))


def test_ndarray_passed_to_constructor_remains_host_mirror() -> None:
    """Check that `to_device` still uploads the ndarray from which the array was constructed, as in PybindGPU."""
    a = PyGPU.GPUArray(np.arange(3.0))
    a.get()[0] = 7
    a.to_device()
    assert a.tolist() == [7, 1, 2]
    b = PyGPU.zeros(3)
    b.to_host()
    b.host_array[1] = 5
    b.to_device()
    assert b.tolist() == [0, 5, 0]


@pytest.mark.parametrize("count", [5, 1 << 15, 1 << 20, 1 << 23])
def test_repeated_get_reuses_memory_of_dropped_results(count: int) -> None:
    """Check that `get` reuses the memory of dropped results, which avoids page faults."""
    a = PyGPU.zeros(count)
    addresses = {a.get().ctypes.data for _ in range(6)}
    assert len(addresses) <= 2
