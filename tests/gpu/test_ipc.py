"""Test memory and events shared between processes, managed memory, and pitched memory."""

from __future__ import annotations

import subprocess
import sys

import numpy
import pytest

import PyGPU
from gpu import support
from PyGPU._pycuda.driver import host_memory as _driver_host_memory
from PyGPU._pycuda.driver import memory as _driver_memory

support.require_gpu()


CONSUMER = """
import sys, numpy
from PyGPU._pycuda.driver.copies import memcpy_dtoh, memcpy_htod
from PyGPU._pycuda.driver.memory import IPCMemoryHandle, mem_get_address_range

memory = IPCMemoryHandle(bytearray.fromhex(sys.argv[1]))
values = numpy.empty(1000, "f4")
memcpy_dtoh(values, memory)
assert mem_get_address_range(memory)[1] >= values.nbytes
memcpy_htod(memory, 2 * values)
memory.close()
print("ended")
"""


@pytest.mark.starts_processes
def test_memory_opened_by_ipc_handle_is_readable_and_writable():
    values = numpy.arange(1000, dtype=numpy.float32)
    memory = _driver_memory.to_device(values)
    handle = _driver_memory.mem_get_ipc_handle(memory)
    result = subprocess.run(
        [sys.executable, "-c", CONSUMER, handle.hex()], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.stdout.strip() == "ended", result.stderr
    assert numpy.array_equal(_driver_memory.from_device_like(memory, values), 2 * values)


WAITER = """
import sys, PyGPU
event = PyGPU.Event.from_ipc_handle(bytearray.fromhex(sys.argv[1]))
event.synchronize()
assert event.query()
print("ended")
"""


@pytest.mark.starts_processes
def test_event_opened_by_ipc_handle_can_be_waited_for():
    event = PyGPU.Event(timing=False, interprocess=True).record()
    command = [sys.executable, "-c", WAITER, event.ipc_handle().hex()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.stdout.strip() == "ended", result.stderr


def test_ipc_handle_of_pool_memory_raises_error_naming_mem_alloc():
    array = PyGPU.zeros(1000)
    with pytest.raises(PyGPU.CudaError, match="mem_alloc"):
        _driver_memory.mem_get_ipc_handle(array.ptr)


def test_managed_memory_written_by_device_is_readable_by_host():
    values = _driver_host_memory.managed_zeros(1000, "f4")
    PyGPU.GPUArray(1000, "f4", gpudata=values.base).fill(7)
    PyGPU.synchronize()
    assert numpy.array_equal(values, numpy.full(1000, 7, "f4"))


def test_mem_alloc_pitch_returns_aligned_pitch():
    _, pitch = _driver_memory.mem_alloc_pitch(100, 10, 4)
    assert pitch >= 100
    assert pitch % 32 == 0
