"""Test the memory of new arrays, which comes from PyGPU's pool or a custom allocator, and memory limits."""

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from support import assert_same, assert_same_values, on_cpu


class Counting:
    """Imitate an allocator of another library. The allocator takes its memory from PyGPU's pool."""

    def __init__(self) -> None:
        self.live: dict[int, int] = {}
        self.requests: list[tuple[int, PyGPU.Stream]] = []

    def allocate(self, nbytes: int, stream: PyGPU.Stream) -> "Memory":
        self.requests.append((nbytes, stream))
        with PyGPU.using_allocator(None), stream:
            return Memory(self, PyGPU.empty(nbytes, np.uint8))

    def __call__(self, nbytes: int) -> "Memory":
        return self.allocate(nbytes, PyGPU.default_stream())


class Memory:
    def __init__(self, pool: Counting, block: PyGPU.GPUArray) -> None:
        self.block, self.ptr, self.live = block, block.ptr, pool.live
        self.live[self.ptr] = block.nbytes

    def __del__(self) -> None:
        del self.live[self.ptr]


@pytest.fixture
def pool() -> Iterator[Counting]:
    """Set an allocator for the whole process for the duration of a test."""
    pool = Counting()
    PyGPU.set_allocator(pool)
    yield pool
    PyGPU.set_allocator(None)


def test_array_holds_memory_from_allocator_until_dropped(pool: Counting) -> None:
    host = np.arange(12.0).reshape(3, 4)
    arrays = [
        PyGPU.to_gpu(host),
        PyGPU.zeros((3, 4)),
        PyGPU.empty((3, 4)),
        PyGPU.full((3, 4), 7.0),
        PyGPU.to_gpu(host).copy(),
        PyGPU.GPUArray((3, 4), np.float64),
    ]
    assert {array.ptr for array in arrays} == set(pool.live)
    assert set(pool.live.values()) == {host.nbytes}
    assert_same(arrays[0], host)
    view = arrays[0][1:]
    del arrays
    gc.collect()
    assert len(pool.live) == 1
    assert_same(view, host[1:])
    del view
    assert not pool.live


def test_empty_array_requests_no_memory(pool: Counting) -> None:
    assert PyGPU.zeros((0, 3)).shape == (0, 3)
    assert not pool.requests


def test_allocator_receives_stream_of_allocation(pool: Counting) -> None:
    stream = PyGPU.Stream()
    with stream:
        array = PyGPU.zeros(5)
    assert pool.requests[-1] == (40, stream)
    assert_same(array, np.zeros(5))


def test_get_allocator_returns_allocator_that_was_set() -> None:
    assert PyGPU.get_allocator() is None
    pool = Counting()
    PyGPU.set_allocator(pool)
    try:
        assert PyGPU.get_allocator() is pool
        with PyGPU.using_allocator(None):
            assert PyGPU.get_allocator() is None
            PyGPU.zeros(3)
        assert not pool.requests
        assert PyGPU.get_allocator() is pool
    finally:
        PyGPU.set_allocator(None)
    assert PyGPU.get_allocator() is None


def test_using_allocator_applies_to_calling_thread_only() -> None:
    pool, others = Counting(), []
    with PyGPU.using_allocator(pool):
        thread = threading.Thread(target=lambda: others.append(PyGPU.ones(3)))
        thread.start()
        thread.join()
        own = PyGPU.ones(3)
    assert list(pool.live) == [own.ptr]
    assert len(others) == 1


def test_using_allocator_restores_previous_allocator_after_error() -> None:
    with pytest.raises(KeyError), PyGPU.using_allocator(Counting()):
        raise KeyError
    assert PyGPU.get_allocator() is None


def test_allocator_error_is_raised_by_array_creation() -> None:
    class Full(MemoryError):
        pass

    def refuse(nbytes: int) -> None:
        raise Full(nbytes)

    with PyGPU.using_allocator(refuse):
        for make in [lambda: PyGPU.empty(3), lambda: PyGPU.to_gpu(np.zeros(3)), lambda: PyGPU.zeros((1, 3))]:
            with pytest.raises(Full) as caught:
                make()
            assert caught.value.args == (24,)
    assert_same(PyGPU.zeros(3), np.zeros(3))


@pytest.mark.parametrize("answer", [None, "text", 0, 1.5, np.zeros(1)])
def test_allocation_rejects_allocator_result_without_address(answer: Any) -> None:
    with PyGPU.using_allocator(lambda nbytes: answer), pytest.raises((TypeError, ValueError)):
        PyGPU.empty(3)


@pytest.mark.parametrize("allocator", [int, lambda nbytes: np.uint64(1 << 40), lambda nbytes: True])
def test_allocation_rejects_plain_integer_as_allocator_result(allocator: Any) -> None:
    with pytest.raises(TypeError, match="gave the number"):
        PyGPU.empty(2, np.float64, allocator)


@pytest.mark.parametrize("allocator", [3, object(), b"torch"])
def test_set_allocator_rejects_non_allocators_immediately(allocator: Any) -> None:
    with pytest.raises(TypeError, match=r"allocate\(nbytes, stream\)"):
        PyGPU.set_allocator(allocator)
    assert PyGPU.get_allocator() is None


def test_set_allocator_error_for_unknown_name_lists_known_names() -> None:
    with pytest.raises(ValueError, match="'torch', 'cupy', 'rmm'"):
        PyGPU.set_allocator("numba")


@pytest.mark.skipif(not on_cpu(), reason="the others have memory of GPUs")
@pytest.mark.parametrize("name", ["torch", "cupy", "rmm"])
def test_set_allocator_rejects_gpu_library_on_cpu(name: str) -> None:
    with pytest.raises(PyGPU.NotSupportedError, match=name):
        PyGPU.set_allocator(name)


@pytest.mark.parametrize("make", [PyGPU.empty, PyGPU.zeros, PyGPU.ones, PyGPU.GPUArray])
def test_array_creation_accepts_allocator_argument_like_pycuda(make: Any) -> None:
    pool = Counting()
    arrays = [
        make((2, 3), np.float32, pool),
        make((2, 3), np.float32, allocator=pool),
        make((2, 3), np.float32, allocator=pool, order="F"),
    ]
    assert [array.strides for array in arrays] == [(12, 4), (12, 4), (4, 8)]
    assert set(pool.live) == {array.ptr for array in arrays}
    assert make((2, 3), np.float32, "F").strides == (4, 8)
    assert make((2, 3), np.float32, None).strides == (12, 4)
    assert len(pool.live) == 3


def test_upload_into_memory_of_allocator_preserves_memory_order() -> None:
    pool = Counting()
    host = np.arange(6.0).reshape(2, 3, order="F")
    array = PyGPU.to_gpu(host, pool)
    assert array.strides == host.strides
    assert list(pool.live) == [array.ptr]
    assert_same_values(array.get(), host)


def test_dropped_array_frees_allocator_memory_without_synchronization() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("needs a driver that can be slow")
    pool, other = Counting(), PyGPU.Stream(non_blocking=True)
    host = np.arange(1 << 16, dtype=np.int32)
    array = PyGPU.to_gpu(host, pool)
    driver.delay(100_000, other.handle)
    with other, PyGPU.using_allocator(None):
        copied = array.copy()
    del array
    # The next array in this memory is written in stream order, that is, after the copy that still reads the memory.
    assert not pool.live
    again = PyGPU.full(1 << 16, -1, np.int32)
    assert_same(copied, host)
    assert again.get()[0] == -1


@pytest.fixture
def limited() -> Iterator[None]:
    PyGPU.synchronize()
    gc.collect()
    yield
    PyGPU.set_memory_limit(None)


@pytest.mark.usefixtures("limited")
def test_allocation_beyond_limit_raises_and_leaves_live_arrays_valid() -> None:
    before = PyGPU.memory_statistics()
    PyGPU.set_memory_limit(before["bytes"] + 1000)
    assert PyGPU.memory_limit() == before["bytes"] + 1000
    held = PyGPU.full(100, 3.0)
    with pytest.raises(PyGPU.OutOfMemoryError, match=r"asked for 201 bytes.*set_memory_limit\(\) allows \d+"):
        PyGPU.empty(201, np.uint8)
    with pytest.raises(MemoryError):
        PyGPU.to_gpu(np.zeros(1000))
    assert PyGPU.memory_statistics()["bytes"] == before["bytes"] + 800
    assert PyGPU.memory_statistics()["count"] == before["count"] + 1
    last = PyGPU.empty(200, np.uint8)
    assert last.nbytes == 200
    assert_same(held, np.full(100, 3.0))
    PyGPU.set_memory_limit(None)
    assert PyGPU.memory_limit() is None
    assert PyGPU.empty(201, np.uint8).nbytes == 201


@pytest.mark.usefixtures("limited")
def test_memory_limit_applies_to_memory_of_allocator() -> None:
    pool = Counting()
    with PyGPU.using_allocator(pool):
        PyGPU.set_memory_limit(PyGPU.memory_statistics()["bytes"] + 100)
        with pytest.raises(PyGPU.OutOfMemoryError):
            PyGPU.empty(101, np.uint8)
        assert not pool.requests


def test_host_memory_is_counted_and_limited_like_device_memory() -> None:
    """Test that host memory is counted and limited like device memory.

    Earlier defect: on the CPU host memory was not counted, and a limit was not supported.
    """
    gc.collect()
    before = PyGPU.memory_statistics("cpu")
    held = PyGPU.zeros(1000, np.uint8, device="cpu")
    during = PyGPU.memory_statistics("cpu")
    assert (during["bytes"], during["count"]) == (before["bytes"] + 1000, before["count"] + 1)
    assert during["peak"] >= during["bytes"]
    PyGPU.set_memory_limit(during["bytes"] + 10, "cpu")
    try:
        with pytest.raises(PyGPU.OutOfMemoryError, match=r"asked for 11 bytes.*set_memory_limit\(\) allows \d+"):
            PyGPU.empty(11, np.uint8, device="cpu")
        assert PyGPU.empty(10, np.uint8, device="cpu").nbytes == 10
    finally:
        PyGPU.set_memory_limit(None, "cpu")
    del held
    after = PyGPU.memory_statistics("cpu")
    assert (after["bytes"], after["count"]) == (before["bytes"], before["count"])


@pytest.mark.parametrize("limit", [-1, 1.5, "many"])
def test_set_memory_limit_rejects_value_that_is_no_size(limit: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        PyGPU.set_memory_limit(limit)
    assert PyGPU.memory_limit() is None
