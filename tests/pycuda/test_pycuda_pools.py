"""Test PyCUDA's memory pools."""

from __future__ import annotations

import gc
import io

import numpy
import pytest

import PyGPU
from PyGPU._pycuda.driver.copies import memcpy_htod
from PyGPU._pycuda.driver.memory import from_device_like
from PyGPU._pycuda.tools.pools import (
    DebugMemoryPool,
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
    bitlog2,
)

VALUES = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)


def figures(pool):
    return pool.active_blocks, pool.held_blocks, pool.active_bytes, pool.managed_bytes


def test_bitlog2_returns_index_of_highest_bit():
    assert [bitlog2(n) for n in (0, 1, 2, 3, 4, 1023, 1024, 1 << 40)] == [0, 0, 1, 1, 2, 9, 10, 40]


@pytest.mark.parametrize("exponent", range(0, 44, 3))
def test_pool_bin_for_request_has_blocks_that_are_large_enough(exponent):
    pool = DeviceMemoryPool()
    for size in {0, 1, (1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1, 3 << exponent}:
        bin = pool.bin_number(size)
        assert pool.alloc_size(bin) >= size
        assert pool.bin_number(pool.alloc_size(bin)) == bin
        assert pool.alloc_size(bin) <= max(size + size // 16 + 1, 1)
    with pytest.raises(ValueError, match="no number of bytes"):
        pool.bin_number(-1)


def test_pool_reuses_freed_block():
    pool = DeviceMemoryPool()
    memory = pool.allocate(1000)
    assert isinstance(memory, PooledDeviceAllocation)
    assert (len(memory), int(memory)) == (1000, memory.__index__())
    managed = pool.alloc_size(pool.bin_number(1000))
    assert figures(pool) == (1, 0, 1000, managed)
    address = int(memory)
    memory.free()
    assert figures(pool) == (0, 1, 0, managed)
    again = pool.allocate(1001)
    assert int(again) == address
    assert figures(pool) == (1, 0, 1001, managed)
    del again
    gc.collect()
    assert figures(pool) == (0, 1, 0, managed)
    pool.free_held()
    assert figures(pool) == (0, 0, 0, 0)


def test_freed_pooled_memory_rejects_further_use():
    memory = DeviceMemoryPool().allocate(10)
    memory.free()
    for use in (memory.free, lambda: int(memory), lambda: memory.as_buffer(1)):
        with pytest.raises(PyGPU.CudaError, match="freed already"):
            use()


def test_stop_holding_releases_cached_blocks_immediately():
    pool = DeviceMemoryPool()
    first, second = pool.allocate(100), pool.allocate(100)
    first.free()
    pool.stop_holding()
    assert pool.held_blocks == 0
    second.free()
    assert figures(pool) == (0, 0, 0, 0)


def test_pooled_memory_is_usable_as_address():
    pool = DeviceMemoryPool()
    memory = pool.allocate(VALUES.nbytes)
    memcpy_htod(memory, VALUES)
    assert numpy.array_equal(from_device_like(memory, VALUES), VALUES)
    array = PyGPU.GPUArray(VALUES.shape, VALUES.dtype, gpudata=memory)
    assert numpy.array_equal(array.get(), VALUES)
    del memory
    gc.collect()
    assert pool.active_blocks == 1
    del array
    gc.collect()
    assert pool.active_blocks == 0


def test_pool_is_usable_as_allocator_of_array():
    pool = DeviceMemoryPool()
    array = PyGPU.GPUArray(VALUES.shape, VALUES.dtype, allocator=pool.allocate)
    array.set(VALUES)
    assert pool.active_blocks == 1
    address = array.ptr
    assert numpy.array_equal(array.get(), VALUES)
    del array
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    assert PyGPU.zeros(24, numpy.float32, allocator=pool.allocate).ptr == address


def test_pool_allocates_block_of_zero_bytes():
    pool = DeviceMemoryPool()
    memory = pool.allocate(0)
    assert (len(memory), bool(memory), pool.active_blocks) == (0, True, 1)


def test_blocks_held_by_pool_are_released_when_memory_runs_out():
    pool = DeviceMemoryPool()
    for size in (1000, 100_000):
        pool.allocate(size).free()
    room, allocate, tries = 500, pool._allocate, []

    def scarce(nbytes):
        tries.append(pool.held_blocks)
        if pool.managed_bytes + nbytes > room + 1100:
            raise PyGPU.OutOfMemoryError("no room")
        return allocate(nbytes)

    pool._allocate = scarce
    memory = pool.allocate(500)
    # If memory runs out, the pool first collects garbage, and then releases its largest block.
    assert tries == [2, 2, 1]
    memory.free()
    with pytest.raises(MemoryError):
        pool.allocate(1 << 20)
    assert pool.held_blocks == 0


def test_debug_pool_logs_allocations(monkeypatch, capsys):
    log = io.StringIO()
    pool = DebugMemoryPool(interactive=False, logfile=log)
    memory = pool.allocate(1234)
    assert "1234" in log.getvalue()
    assert len(memory) == 1234
    prompts = []
    monkeypatch.setattr("builtins.input", prompts.append)
    DebugMemoryPool().allocate(77)
    assert "77" in capsys.readouterr().out
    assert len(prompts) == 1


def test_page_locked_pool_returns_ndarrays():
    pool = PageLockedMemoryPool(PageLockedAllocator(flags=1))
    array = pool.allocate((3, 4), numpy.float32, "F")
    assert isinstance(array.base, PooledHostAllocation)
    assert (array.shape, array.flags.f_contiguous, len(array.base)) == ((3, 4), True, 48)
    array[:] = 3
    address = array.ctypes.data
    view = array[1:]
    del array
    gc.collect()
    assert pool.active_blocks == 1
    del view
    gc.collect()
    assert (pool.active_blocks, pool.held_blocks) == (0, 1)
    assert pool.allocate((12,), numpy.float32).ctypes.data == address
    pool.free_held()
    with pytest.raises(TypeError):
        pool.allocate(3, numpy.float32)


def test_page_locked_array_stays_allocated_during_copy():
    pool, stream = PageLockedMemoryPool(), PyGPU.Stream()
    array = pool.allocate((1 << 20,), numpy.uint8)
    array[:] = 5
    gpu = PyGPU.empty(1 << 20, numpy.uint8)
    gpu.set_async(array, stream)
    del array
    other = pool.allocate((1 << 20,), numpy.uint8)
    other[:] = 9
    stream.synchronize()
    assert gpu.get().max() == 5
