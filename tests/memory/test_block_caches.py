"""Test block caches: each stream caches small freed blocks for reuse, if no other stream used the block."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator

import pytest

import PyGPU
import simulated_driver
from gpu.support import run_script

BACKEND = PyGPU.backend_name()
pytestmark = pytest.mark.skipif(BACKEND == "cpu", reason="the blocks of the host are the C library's")

MIB = 1 << 20


@pytest.fixture(autouse=True)
def keeping() -> Iterator[None]:
    """Enable the block caches of streams for the duration of a test, and empty the caches first."""
    threshold = PyGPU.memory_release_threshold()
    PyGPU.set_memory_release_threshold(2**64 - 1)
    PyGPU.empty(1)
    if kept() == 0:
        pytest.skip("PYGPU_RECYCLE turns it off for the whole process")
    gc.collect()
    PyGPU.trim_memory()
    yield
    PyGPU.set_memory_release_threshold(threshold)
    PyGPU.trim_memory()


@pytest.fixture
def driver() -> simulated_driver.Driver:
    found = simulated_driver.driver()
    if found is None:
        pytest.skip("only a simulated driver counts its calls")
    return found


def allocations(driver: simulated_driver.Driver) -> int:
    return driver.call_count("hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync")


def kept() -> int:
    return PyGPU.memory_statistics()["recycled_bytes"]


def test_next_array_reuses_last_block_without_driver_call(driver: simulated_driver.Driver) -> None:
    address = PyGPU.zeros(100).ptr
    before = allocations(driver)
    array = PyGPU.zeros(110)
    assert array.ptr == address
    assert allocations(driver) == before
    assert array.tolist() == [0] * 110


def test_cached_block_is_counted_and_released_by_trim_memory() -> None:
    array = PyGPU.zeros(1000, "float32")
    held = PyGPU.memory_statistics()
    assert held["recycled_bytes"] == 0
    del array
    after = PyGPU.memory_statistics()
    assert after["recycled_bytes"] == 4096
    assert after["bytes"] == held["bytes"] - 4000
    assert after["count"] == held["count"] - 1
    PyGPU.trim_memory()
    assert kept() == 0


@pytest.mark.parametrize("size", [MIB + 1, 8 * MIB])
def test_blocks_larger_than_1_mib_are_not_cached(size: int) -> None:
    PyGPU.empty(size, "uint8")
    assert kept() == 0


def test_block_cache_is_limited_to_32_mib() -> None:
    arrays = [PyGPU.empty(MIB, "uint8") for _ in range(40)]
    arrays.clear()
    assert kept() == 32 * MIB


def test_release_threshold_limits_block_cache_or_disables_cache_if_zero() -> None:
    PyGPU.set_memory_release_threshold(2 * MIB)
    arrays = [PyGPU.empty(MIB, "uint8") for _ in range(4)]
    arrays.clear()
    assert kept() == 2 * MIB
    PyGPU.set_memory_release_threshold(0)
    assert kept() == 0
    PyGPU.empty(3)
    assert kept() == 0


def test_block_allocated_while_cache_was_disabled_is_not_cached() -> None:
    PyGPU.set_memory_release_threshold(0)
    array = PyGPU.empty(100, "uint8")
    PyGPU.set_memory_release_threshold(2**64 - 1)
    del array
    assert kept() == 0


def test_block_cache_of_stream_is_freed_when_stream_is_dropped(driver: simulated_driver.Driver) -> None:
    stream = PyGPU.Stream()
    with stream:
        address = PyGPU.zeros(100).ptr
    assert kept() > 0
    before = allocations(driver)
    other = PyGPU.zeros(100)
    assert other.ptr != address
    assert allocations(driver) == before + 1
    with stream:
        again = PyGPU.zeros(100)
    assert again.ptr == address
    del again
    gone = driver.call_count("hipFreeAsync" if driver.is_hip else "cuMemFreeAsync")
    del stream
    assert driver.call_count("hipFreeAsync" if driver.is_hip else "cuMemFreeAsync") == gone + 1
    assert kept() == 0


def test_block_used_by_another_stream_is_not_cached() -> None:
    array, stream = PyGPU.zeros(100), PyGPU.Stream()
    with stream:
        array.fill(1)
    del array
    PyGPU.synchronize()
    assert kept() == 0


def test_block_passed_to_record_stream_is_not_cached() -> None:
    array = PyGPU.zeros(100)
    array.record_stream(PyGPU.Stream())
    del array
    PyGPU.synchronize()
    assert kept() == 0


def test_block_used_on_per_thread_default_stream_is_not_cached() -> None:
    with PyGPU.Stream.from_handle(2):
        PyGPU.zeros(100)
    PyGPU.synchronize()
    assert kept() == 0


def test_failed_allocation_frees_cached_blocks_and_retries(driver: simulated_driver.Driver) -> None:
    arrays = [PyGPU.empty(MIB, "uint8") for _ in range(16)]
    arrays.clear()
    assert kept() == 16 * MIB
    driver.fault("hipMallocFromPoolAsync" if driver.is_hip else "cuMemAllocFromPoolAsync", 2)
    array = PyGPU.zeros(2 * MIB, "uint8")
    assert kept() == 0
    assert not array.get().any()


def test_block_allocated_in_capture_is_not_from_cache_and_not_put_there() -> None:
    stream, source = PyGPU.Stream(), PyGPU.zeros(100)
    PyGPU.synchronize()
    with stream:
        PyGPU.empty(100)
        before = kept()
        stream.begin_capture()
        inner = source.copy()
        graph = stream.end_capture()
    assert kept() == before
    address = inner.ptr
    del inner
    assert PyGPU.zeros(100).ptr != address
    graph.launch(stream)
    stream.synchronize()


def test_capture_by_other_library_on_pygpu_stream_uses_no_cached_block(driver: simulated_driver.Driver) -> None:
    stream = PyGPU.Stream()
    with stream:
        address = PyGPU.empty(100).ptr
        begin, end = ("hipStreamBeginCapture", "hipStreamEndCapture") if driver.is_hip else (
            "cuStreamBeginCapture_v2",
            "cuStreamEndCapture",
        )  # fmt: skip
        assert driver.call(begin, stream.handle, 2) == 0
        try:
            inside = PyGPU.empty(100)
            assert inside.ptr != address
        except PyGPU.CudaError:
            inside = None  # The simulated driver does not support allocations in captures.
        finally:
            graph = ctypes.c_void_p()
            getattr(driver.library, end)(ctypes.c_void_p(stream.handle), ctypes.byref(graph))
    del inside


@pytest.mark.starts_processes
def test_environment_variable_pygpu_recycle_0_disables_block_cache() -> None:
    script = """
        import os
        os.environ["PYGPU_RECYCLE"] = "0"
        import PyGPU
        PyGPU.zeros(100)
        print(PyGPU.memory_statistics()["recycled_bytes"])
    """
    assert run_script(script).stdout.split() == ["0"]


@pytest.mark.starts_processes
def test_forked_child_reuses_no_cached_block_of_parent() -> None:
    script = """
        import os, PyGPU
        PyGPU.zeros(100)
        assert PyGPU.memory_statistics()["recycled_bytes"] > 0
        child = os.fork()
        if child == 0:
            try:
                PyGPU.empty(100)
            except PyGPU.ForkError:
                os._exit(7)
            os._exit(1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_script(script).stdout.split() == ["7"]


def test_trim_memory_frees_pinned_memory_in_which_kernels_return_counts(driver: simulated_driver.Driver) -> None:
    def pinned() -> set[int]:
        return {block["address"] for block in driver.live()["host"]}

    before = pinned()
    mask = PyGPU.arange(10) > 4
    assert mask.nonzero()[0].tolist() == [5, 6, 7, 8, 9]
    assert pinned() > before
    PyGPU.trim_memory()
    assert pinned() <= before
