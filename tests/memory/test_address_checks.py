"""Test that every entry point checks an address against the size, the read-only flag and the hazards of the block at
this address."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU import _core, driver, tools
from support import on_cpu

INVALID_VALUE = 1

cpu_only = pytest.mark.skipif(
    not on_cpu(), reason="only the host's memory is lent read-only, or known as freed without a driver"
)
gpu_only = pytest.mark.skipif(on_cpu(), reason="the CPU has no streams")


REFERENCES: dict[str, Callable[[PyGPU.GPUArray], Any]] = {
    "the array": lambda a: a,
    "a view of it": lambda a: a[:1],
    "ptr": lambda a: a.ptr,
    "gpudata": lambda a: a.gpudata,
    "an integer of NumPy": lambda a: np.uint64(a.ptr),
    "a pointer of ctypes": lambda a: ctypes.c_void_p(a.ptr),
    "a typed pointer of ctypes": lambda a: ctypes.cast(a.ptr, ctypes.POINTER(ctypes.c_double)),
    "a pointer wrapper": lambda a: a.device_data,
}
references = pytest.mark.parametrize("refer", REFERENCES.values(), ids=REFERENCES)


@references
def test_array_over_memory_of_another_array_is_limited_to_same_block(refer: Any) -> None:
    """Test that an array over the memory of another array is limited to the block of that memory.

    Earlier defect: `GPUArray((1 << 20,), 'f8', gpudata=zeros(2)).fill(7)` wrote beyond the block.
    """
    a = PyGPU.zeros(4)
    with pytest.raises(ValueError, match=r"8388608 bytes are needed.*has 32.*block of 32 bytes"):
        PyGPU.GPUArray((1 << 20,), "f8", gpudata=refer(a))
    with pytest.raises(ValueError, match="32 of them before"):
        PyGPU.GPUArray((5,), "f8", gpudata=refer(a), strides=(-8,))
    same = PyGPU.GPUArray((2, 2), "f8", gpudata=refer(a))
    same.fill(3)
    assert a.tolist() == [3] * 4
    assert not same.flags.owndata


def test_array_at_offset_address_cannot_exceed_end_of_block() -> None:
    """Test that an array at an offset address cannot exceed the end of the block."""
    a = PyGPU.zeros(4)
    PyGPU.GPUArray((2,), "f8", gpudata=a.ptr + 16).fill(1)
    PyGPU.GPUArray((2,), "f8", gpudata=a.ptr + 8, strides=(-8,)).fill(2)
    assert a.tolist() == [2, 2, 1, 1]
    with pytest.raises(ValueError, match="has 16"):
        PyGPU.GPUArray((3,), "f8", gpudata=a.ptr + 16)


@references
def test_uses_of_memory_by_two_arrays_are_ordered_across_streams(refer: Any, late: None) -> None:
    """Test that uses of memory that two arrays share are ordered across streams.

    Earlier defect: a read did not wait for a fill on another stream, and returned 0 instead of 7.
    """
    streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)]
    for number in range(10):
        a = PyGPU.zeros(1000)
        with streams[0]:
            other = PyGPU.GPUArray((1000,), "f8", gpudata=refer(a))
            other.fill(number)
        with streams[1]:
            assert (a.get() == number).all()
        with streams[2]:
            a.fill(-1)
        with streams[1]:
            assert (other.get() == -1).all()
        del a  # The block stays allocated as long as one array refers to it.
        with streams[2]:
            assert (other.get() == -1).all()


def test_copies_by_address_wait_for_earlier_work_on_arrays(late: None) -> None:
    """Test that copies by address wait for earlier work on the array at that address.

    Earlier defect: `cudaMemcpyAsync` and `memcpy_*` with the address of an array ignored the array's uses.
    """
    first, second = (PyGPU.Stream(non_blocking=True) for _ in range(2))
    a, host = PyGPU.zeros(1000), PyGPU.empty_pinned(1000)
    for number in range(10):
        with first:
            a.fill(number)
        assert (
            PyGPU.cudaMemcpyAsync(host.ctypes.data, a.ptr, a.nbytes, PyGPU.cudaMemcpyDeviceToHost, second).as_int() == 0
        )
        second.synchronize()
        assert (host == number).all()
        assert PyGPU.cudaMemsetAsync(a.ptr, 0, a.nbytes, second).as_int() == 0
        with first:
            assert (a.get() == 0).all()
        driver.memset_d8_async(a.ptr, 1, a.nbytes, second)
        with first:
            assert (a.get().view("u1") == 1).all()


@pytest.mark.reads_in_place
@cpu_only
@pytest.mark.parametrize("refer", [lambda a: a, lambda a: a.ptr, lambda a: a.__array_interface__["data"][0]])
def test_second_array_over_imported_readonly_memory_is_readonly(refer: Any) -> None:
    """Test that a second array over imported read-only memory is read-only too.

    Earlier defect: an array over the `gpudata` of a read-only array modified a `bytes` object.
    """
    text = b"immutable"
    a = PyGPU.asarray(np.frombuffer(text, "u1"))
    again = PyGPU.GPUArray((9,), "u1", gpudata=refer(a))
    assert not again.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        again.fill(0)
    with pytest.raises(ValueError, match="read-only"):
        driver.memset_d8(refer(a), 0, 9)
    with pytest.raises(ValueError, match="read-only"):
        driver.memcpy_htod(refer(a), b"123")
    with pytest.raises(ValueError, match="read-only"):
        driver.memcpy_dtod(refer(a), PyGPU.zeros(9, "u1"), 9)
    if isinstance(refer(a), int):
        assert PyGPU.cudaMemset(refer(a), 0, 9).as_int() == INVALID_VALUE
        assert PyGPU.cudaMemcpy(refer(a), np.zeros(9, "u1"), 9).as_int() == INVALID_VALUE
    assert again.get().tobytes() == text == b"immutable"


ALLOCATORS: dict[str, Callable[[], Callable[[int], Any]]] = {
    "mem_alloc": lambda: lambda nbytes: driver.mem_alloc(8),
    "an array": lambda: lambda nbytes: own(8),
    "a part of an array": lambda: lambda nbytes: own(nbytes)[nbytes - 8 :],
    "a pool": lambda: lambda nbytes: tools.DeviceMemoryPool().allocate(8),
    "an object with nbytes": lambda: lambda nbytes: SizedMemory(nbytes=8),
    "an object with size": lambda: lambda nbytes: SizedMemory(size=8),
    "an object with mem": lambda: lambda nbytes: SizedMemory(mem=SizedMemory(size=8)),
}


def own(nbytes: int) -> PyGPU.GPUArray:
    with PyGPU.using_allocator(None):
        return PyGPU.empty(nbytes, "u1")


def test_recursive_allocator_raises_recursion_error() -> None:
    """Test that an allocator that calls itself raises RecursionError. Earlier defect: the stack overflowed."""
    with (
        pytest.raises(RecursionError, match="using_allocator"),
        PyGPU.using_allocator(lambda nbytes: PyGPU.empty(8, "u1")),
    ):
        PyGPU.zeros(3)
    assert PyGPU.zeros(3).tolist() == [0, 0, 0]


class SizedMemory:
    """Define memory that PyGPU has not allocated. Its attributes report the size of the memory."""

    def __init__(self, **attributes: Any) -> None:
        self.ptr = 1 << 40
        self.__dict__.update(attributes)


@pytest.mark.parametrize("make", ALLOCATORS.values(), ids=ALLOCATORS)
def test_allocator_block_smaller_than_request_raises_value_error(make: Any) -> None:
    """Test that a block is rejected if an allocator returns a smaller block than requested.

    Earlier defect: arrays wrote beyond the end of such blocks.
    """
    gc.collect()  # Release the objects that other tests have dropped.
    before = PyGPU.memory_statistics()["bytes"]
    with pytest.raises(ValueError, match=r"for 800 bytes: 800 bytes are needed .* has (8|9)"):
        PyGPU.GPUArray((100,), "f8", allocator=make())
    with pytest.raises(ValueError, match="800 bytes are needed"), PyGPU.using_allocator(make()):
        PyGPU.zeros(100)
    gc.collect()
    assert PyGPU.memory_statistics()["bytes"] == before


def test_size_reported_by_memory_object_limits_array() -> None:
    """Test that an array is limited to the size that the object with its memory reports."""
    for memory in [SizedMemory(nbytes=8), SizedMemory(size=8), SizedMemory(mem=SizedMemory(size=8))]:
        with pytest.raises(ValueError, match="has 8"):
            PyGPU.GPUArray((2,), "f8", gpudata=memory)


def test_pool_memory_is_not_reused_while_array_uses_its_address() -> None:
    """Test that pool memory is not reused while an array uses its address.

    An array over the address of pool memory owns a reference to that memory.
    """
    pool = tools.DeviceMemoryPool()
    memory = pool.allocate(800)
    a = PyGPU.GPUArray((100,), "f8", gpudata=int(memory))
    a.fill(1)
    memory.free()
    b = PyGPU.GPUArray((100,), "f8", allocator=pool.allocate)
    b.fill(2)
    assert (a.get() == 1).all()
    address = b.ptr
    del a, b
    gc.collect()
    assert int(pool.allocate(800)) == address


def test_dlpack_consumer_keeps_pool_memory_of_array_alive() -> None:
    """Test that pool memory stays allocated after the array in it is dropped, as long as a DLPack consumer uses the
    memory."""
    pool = tools.DeviceMemoryPool()
    a = PyGPU.GPUArray((100,), "f8", gpudata=pool.allocate(800))
    a.fill(1)
    capsule = a.__dlpack__()
    del a
    gc.collect()
    assert pool.held_blocks == 0
    shared = PyGPU.from_dlpack(capsule)
    assert (shared.get() == 1).all()
    del shared, capsule
    gc.collect()
    assert pool.held_blocks == 1


# Tests of copies by raw address.


def allocated(nbytes: int) -> tuple[int, Callable[[], Any], Any]:
    address, status = PyGPU.cudaMalloc(nbytes)
    assert status.as_int() == 0
    return address, lambda: PyGPU.cudaFree(address), None


def by_driver(nbytes: int) -> tuple[int, Callable[[], Any], Any]:
    memory = driver.mem_alloc(nbytes)
    return int(memory), memory.free, memory


def pinned(nbytes: int) -> tuple[int, Callable[[], Any], Any]:
    address = _core.host_allocate(nbytes)
    return address, lambda: _core.host_free(address), None


KINDS_OF_MEMORY = {"cudaMalloc": allocated, "mem_alloc": by_driver, "pinned": pinned}


@pytest.mark.parametrize("nbytes", [16, 70_000, 3 << 20])
@pytest.mark.parametrize("make", KINDS_OF_MEMORY.values(), ids=KINDS_OF_MEMORY)
def test_raw_access_beyond_registered_block_returns_error(make: Any, nbytes: int) -> None:
    """Test that a raw access beyond a known block returns an error.

    Earlier defect: on the CPU the process crashed, or no error was raised.
    """
    address, free, _ = make(nbytes)
    host = np.zeros(nbytes + 1, "u1")
    assert PyGPU.cudaMemcpy(address, host, nbytes).as_int() == 0
    for where, count in [(address, nbytes + 1), (address + nbytes - 1, 2), (address + 1, nbytes)]:
        assert PyGPU.cudaMemset(where, 1, count).as_int() == INVALID_VALUE
        assert PyGPU.cudaMemcpy(where, host, min(count, host.size)).as_int() == INVALID_VALUE
        assert PyGPU.cudaMemcpy(host, where, count).as_int() == INVALID_VALUE
    assert PyGPU.cudaMemcpy(host, address, nbytes).as_int() == 0
    assert not host.any()
    free()


@pytest.mark.sampled(on="cuda")
@pytest.mark.provokes_findings
@pytest.mark.parametrize(
    ("nbytes", "make"),
    [(16, allocated), (16, by_driver), (70_000, by_driver), (3 << 20, allocated), (200 << 20, by_driver)],
)
def test_use_of_freed_memory_raises_error(make: Any, nbytes: int) -> None:
    """Test that the use of freed memory raises an error.

    Earlier defect: on the CPU the process crashed, or no error was raised.
    """
    address, free, _ = make(nbytes)
    host = np.zeros(16, "u1")
    free()
    held = [np.ones(nbytes, "u1") for _ in range(3)]
    for where in (address, address + nbytes - 16):
        assert PyGPU.cudaMemset(where, 7, 16).as_int() != 0
        assert PyGPU.cudaMemcpy(host, where, 16).as_int() != 0
        assert PyGPU.cudaMemcpy(where, host, 16).as_int() != 0
    assert all(ones.all() for ones in held)


@cpu_only
def test_every_entry_point_rejects_freed_memory() -> None:
    """Test that every entry point rejects freed memory, also after the address of an array has escaped."""
    a = PyGPU.zeros(100)
    address = a.ptr
    del a
    assert PyGPU.cudaMemset(address, 0, 8).as_int() == INVALID_VALUE
    for use in (
        lambda: PyGPU.GPUArray((1,), "f8", gpudata=address),
        lambda: driver.memset_d8(address, 0, 8),
        lambda: driver.memcpy_htod(address, b"12345678"),
        lambda: driver.memcpy_dtoh(bytearray(8), address),
        lambda: driver.memcpy_dtod(PyGPU.zeros(1), address, 8),
    ):
        with pytest.raises(PyGPU.CudaError, match="freed"):
            use()
    PyGPU.trim_memory()


@pytest.mark.parametrize("make", [allocated, by_driver], ids=["cudaMalloc", "mem_alloc"])
def test_array_is_valid_after_explicit_free_of_its_address(make: Any) -> None:
    """Test that the memory of an array remains valid after the user frees it explicitly."""
    address, free, _ = make(80)
    a = PyGPU.GPUArray((10,), "f8", gpudata=address)
    a.fill(4)
    free()
    assert PyGPU.cudaMemset(address, 0, 8).as_int() == INVALID_VALUE
    assert a.tolist() == [4] * 10


@cpu_only
def test_memory_reused_by_c_library_is_not_rejected_as_freed() -> None:
    """Test that memory is accepted after its address was freed, if the C library has reused the address for a new
    block."""
    for nbytes in (16, 1000, 100_000, 2 << 20):
        for _ in range(50):
            _, free, _ = allocated(nbytes)
            free()
            host = np.zeros(nbytes, "u1")
            assert PyGPU.cudaMemset(host.ctypes.data, 1, nbytes).as_int() == 0
            assert host.all()


@cpu_only
def test_freed_block_records_are_bounded_and_released() -> None:
    """Test that the number of recorded freed blocks is bounded.

    To recognize freed addresses, PyGPU keeps records of the freed blocks. The records cost little memory and can be
    disabled; `trim_memory` releases the blocks.
    """
    for _ in range(2000):
        _, free, _ = allocated(50_000)
        free()
    assert PyGPU.memory_statistics()["host_cache_bytes"] > 0
    PyGPU.trim_memory()
    assert PyGPU.memory_statistics()["host_cache_bytes"] == 0


@gpu_only
def test_copy_from_memory_that_host_cannot_reach_is_rejected() -> None:
    """Test that a copy which the host cannot execute is rejected.

    An earlier version had this defect: for copy kind 0 (host to host) the host accessed a device address.
    """
    a, host = PyGPU.zeros(8, "u1"), np.ones(8, "u1")
    assert PyGPU.cudaMemcpy(a.ptr, host, 8, PyGPU.cudaMemcpyHostToHost).as_int() == INVALID_VALUE
    assert PyGPU.cudaMemcpy(host, a.ptr, 8, PyGPU.cudaMemcpyHostToHost).as_int() == INVALID_VALUE
    assert a.tolist() == [0] * 8
