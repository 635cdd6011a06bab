"""Test PyCUDA's device and host memory against NumPy."""

from __future__ import annotations

import gc
import weakref

import numpy
import pytest

import PyGPU
from PyGPU import _core
from PyGPU import driver as host
from PyGPU._pycuda.driver import memory as driver
from PyGPU._pycuda.driver.copies import memcpy_dtoh, memcpy_dtoh_async, memcpy_htod
from PyGPU._pycuda.driver.host_allocations import managed_pointer
from PyGPU._pycuda.driver.memory_flags import host_alloc_flags, mem_attach_flags

VALUES = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
CPU = PyGPU.backend_name() == "cpu"


def test_allocation_has_same_values_after_upload_and_download():
    memory = driver.mem_alloc(VALUES.nbytes)
    memcpy_htod(memory, VALUES)
    result = numpy.empty_like(VALUES)
    memcpy_dtoh(result, memory)
    assert numpy.array_equal(result, VALUES)


def test_allocation_converts_to_integer_address():
    memory = driver.mem_alloc(100)
    assert int(memory) == memory.__index__() == memory.ptr != 0
    assert memory.nbytes == 100
    assert hex(memory.ptr) in repr(memory)


def test_freed_allocation_rejects_further_use():
    memory = driver.mem_alloc(100)
    memory.free()
    for use in (memory.free, lambda: int(memory), lambda: memory.as_buffer(1), lambda: memcpy_htod(memory, b"a")):
        with pytest.raises(PyGPU.CudaError, match="freed already") as raised:
            use()
        assert raised.value.code == 1
    assert "freed" in repr(memory)


def test_mem_alloc_rejects_zero_or_negative_size():
    with pytest.raises(PyGPU.CudaError, match="0 bytes"):
        driver.mem_alloc(0)
    with pytest.raises(PyGPU.CudaError, match="0 bytes"):
        driver.mem_alloc_pitch(0, 4, 4)
    with pytest.raises(ValueError, match="negative"):
        driver.mem_alloc(-1)


def test_huge_allocation_raises_memory_error():
    with pytest.raises(MemoryError):
        driver.mem_alloc(1 << 60)


def test_out_of_memory_collects_reference_cycles_and_retries(monkeypatch):
    calls = []
    allocate = _core.allocate_device

    def failing_once(nbytes, device=None):
        calls.append(nbytes)
        if len(calls) == 1:
            raise PyGPU.OutOfMemoryError("no room")
        return allocate(nbytes, device)

    class Node:
        pass

    node = Node()
    node.itself = node
    gone = weakref.ref(node)
    monkeypatch.setattr(_core, "allocate_device", failing_once)
    gc.disable()
    try:
        del node
        assert driver.mem_alloc(16).nbytes == 16
        assert gone() is None
    finally:
        gc.enable()


def test_array_keeps_memory_of_freed_allocation_alive():
    memory = driver.to_device(VALUES)
    array = PyGPU.GPUArray(VALUES.shape, VALUES.dtype, gpudata=memory)
    assert array.ptr == int(memory)
    memory.free()
    assert numpy.array_equal(array.get(), VALUES)


def test_array_rejects_allocation_that_is_too_small():
    with pytest.raises(ValueError, match="block of 8 bytes"):
        PyGPU.GPUArray(3, numpy.float32, gpudata=driver.mem_alloc(8))


def test_mem_alloc_is_usable_as_array_allocator():
    array = PyGPU.GPUArray(VALUES.shape, VALUES.dtype, allocator=driver.mem_alloc)
    array.set(VALUES)
    assert numpy.array_equal(array.get(), VALUES)


def test_rows_of_pitched_allocation_begin_at_multiples_of_pitch():
    memory, pitch = driver.mem_alloc_pitch(100, 5, 4)
    assert pitch >= 100
    assert memory.nbytes == 5 * pitch
    assert CPU or pitch % 64 == 0
    rows = _core.array_at(memory, (5, 25), "f4", (pitch, 4))
    rows.fill(3)
    assert numpy.array_equal(rows.get(), numpy.full((5, 25), 3, "f4"))
    with pytest.raises(ValueError, match="4, 8 or 16"):
        driver.mem_alloc_pitch(100, 5, 3)


def test_to_device_and_from_device_preserve_values_and_memory_order():
    for values in (VALUES, numpy.asfortranarray(VALUES)):
        memory = driver.to_device(values)
        like = driver.from_device_like(memory, values)
        assert numpy.array_equal(like, values)
        assert like.flags.f_contiguous == values.flags.f_contiguous
    back = driver.from_device(driver.to_device(numpy.asfortranarray(VALUES)), VALUES.shape, VALUES.dtype, "F")
    assert numpy.array_equal(back, VALUES)


def test_mem_alloc_like_allocates_as_many_bytes_as_array_argument():
    assert driver.mem_alloc_like(VALUES).nbytes == VALUES.nbytes
    assert driver.mem_alloc_like(PyGPU.zeros(3)).nbytes == 24


def test_mem_get_address_range_returns_block_containing_address():
    memory = driver.mem_alloc(1000)
    assert driver.mem_get_address_range(int(memory) + 999) == (int(memory), 1000)
    assert driver.mem_get_address_range(memory) == (int(memory), 1000)
    if not CPU:
        address = _core.raw_allocate(64)
        assert driver.mem_get_address_range(address)[1] >= 64
        _core.raw_free(address)
    with pytest.raises(PyGPU.CudaError):
        driver.mem_get_address_range(4096)


def test_mem_get_info_returns_free_and_total_bytes():
    free, total = driver.mem_get_info()
    assert 0 < free <= total


class Holder(driver.PointerHolderBase):
    def __init__(self, memory, name):
        super().__init__()
        self.memory = memory
        self.name = name

    def get_pointer(self):
        return int(self.memory)


def test_pointer_holder_object_is_usable_as_address():
    holder = Holder(driver.to_device(VALUES), "name")
    assert int(holder) == holder.__index__() == int(holder.memory)
    assert numpy.array_equal(driver.from_device_like(holder, VALUES), VALUES)
    array = PyGPU.GPUArray(VALUES.shape, VALUES.dtype, gpudata=holder)
    assert numpy.array_equal(array.get(), VALUES)
    with pytest.raises(NotImplementedError, match="get_pointer"):
        int(driver.PointerHolderBase())


def test_as_buffer_returns_buffer_at_address_of_allocation():
    memory = driver.to_device(b"abcdef")
    view = memory.as_buffer(3, 2)
    assert numpy.frombuffer(view, "u1").ctypes.data == int(memory) + 2
    assert len(view) == 3
    if CPU:
        assert bytes(view) == b"cde"
    for size, offset in ((7, 0), (1, 6), (-1, 0), (1, -1)):
        with pytest.raises(ValueError, match=r"not within|negative"):
            memory.as_buffer(size, offset)
    assert len(Holder(memory, "").as_buffer(4)) == 4


def test_ipc_memory_handle_rejects_invalid_bytes_and_flags():
    with pytest.raises(ValueError, match="64 bytes"):
        driver.IPCMemoryHandle(bytearray(3))
    with pytest.raises(ValueError, match="LAZY"):
        driver.IPCMemoryHandle(bytearray(64), 7)
    with pytest.raises((PyGPU.CudaError, PyGPU.NotSupportedError)):
        driver.IPCMemoryHandle(bytearray(64))


@pytest.mark.skipif(CPU, reason="nothing is shared on the CPU")
def test_ipc_handle_is_rejected_for_memory_of_array():
    array = PyGPU.zeros(10)
    with pytest.raises(PyGPU.CudaError, match="mem_alloc"):
        driver.mem_get_ipc_handle(array.ptr)


@pytest.mark.skipif(CPU, reason="nothing is shared on the CPU")
def test_ipc_handle_of_allocation_can_be_opened():
    memory = driver.to_device(VALUES)
    handle = driver.mem_get_ipc_handle(memory)
    assert isinstance(handle, bytearray)
    assert len(handle) == 64
    try:
        opened = driver.IPCMemoryHandle(handle)
    except PyGPU.CudaError:
        return  # A real driver opens the handle only in another process; tests/gpu tests such a process.
    assert numpy.array_equal(driver.from_device_like(opened, VALUES), VALUES)
    opened.close()
    with pytest.raises(PyGPU.CudaError, match="freed already"):
        opened.close()


KINDS = [(host.pagelocked_empty, host.pagelocked_zeros), (host.aligned_empty, host.aligned_zeros)]
KINDS += [(host.managed_empty, host.managed_zeros)]


@pytest.mark.parametrize(("empty", "zeros"), KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_host_memory_functions_return_ordinary_ndarrays(empty, zeros, order):
    array = empty((3, 4), numpy.float32, order)
    assert type(array) is numpy.ndarray
    expected = numpy.empty((3, 4), numpy.float32, order)
    assert (array.shape, array.strides, array.dtype) == (expected.shape, expected.strides, expected.dtype)
    assert not numpy.any(zeros((3, 4), numpy.float32, order))
    record = numpy.dtype([("a", "i4"), ("b", "f8")])
    assert zeros(2, record)["b"].sum() == 0
    assert zeros(0, "f4").shape == (0,)
    with pytest.raises(TypeError, match="Python objects"):
        empty(3, object)
    with pytest.raises(ValueError, match="negative"):
        empty((-1, 2), "f4")


@pytest.mark.parametrize("name", ["pagelocked", "aligned", "managed"])
def test_empty_like_copies_layout_of_contiguous_array(name):
    like = getattr(host, f"{name}_empty_like")
    for values in (VALUES, numpy.asfortranarray(VALUES)):
        array = like(values)
        assert (array.shape, array.strides, array.dtype) == (values.shape, values.strides, values.dtype)
    assert getattr(host, f"{name}_zeros_like")(VALUES).sum() == 0
    with pytest.raises(ValueError, match="not contiguous"):
        like(VALUES[:, ::2])


def test_pagelocked_memory_reports_flags_and_is_freed_once():
    array = host.pagelocked_empty(4, "f4", mem_flags=host_alloc_flags.DEVICEMAP)
    assert isinstance(array.base, host.HostAllocation)
    assert array.base.get_flags() == 2
    assert array.base.get_device_pointer() != 0
    owner = array.base
    del array
    owner.free()
    for use in (owner.free, owner.get_device_pointer):
        with pytest.raises(PyGPU.CudaError, match="freed already"):
            use()
    with pytest.raises(ValueError, match="host_alloc_flags"):
        host.pagelocked_empty(4, "f4", mem_flags=8)


def test_pagelocked_memory_is_freed_with_last_array_that_uses_it():
    array = host.pagelocked_zeros(4, "f4")
    gone = weakref.ref(array.base)
    view = array[1:]
    del array
    assert gone() is not None
    del view
    gc.collect()
    assert gone() is None


def test_async_copy_fills_pagelocked_memory():
    stream = PyGPU.Stream()
    memory, result = driver.to_device(VALUES), host.pagelocked_empty_like(VALUES)
    memcpy_dtoh_async(result, memory, stream)
    stream.synchronize()
    assert numpy.array_equal(result, VALUES)


@pytest.mark.parametrize("alignment", [1, 16, 4096, 1 << 16])
def test_aligned_memory_begins_at_multiple_of_alignment(alignment):
    array = host.aligned_empty((3, 5), "f8", alignment=alignment)
    assert array.ctypes.data % alignment == 0
    array[:] = 1
    array.base.free()
    with pytest.raises(PyGPU.CudaError, match="freed already"):
        array.base.free()


@pytest.mark.parametrize("alignment", [0, -8, 12])
def test_aligned_empty_rejects_alignment_that_is_no_power_of_two(alignment):
    with pytest.raises(ValueError, match="power of two"):
        host.aligned_empty(3, "f8", alignment=alignment)


def test_registered_memory_uses_memory_of_ndarray():
    values = host.aligned_zeros((16, 256), "f4", order="F")
    locked = host.register_host_memory(values)
    assert isinstance(locked.base, host.RegisteredHostMemory)
    assert (locked.ctypes.data, locked.strides) == (values.ctypes.data, values.strides)
    assert locked.base.get_device_pointer() != 0
    locked[:] = 7
    assert values.sum() == 7 * values.size
    if not CPU:
        with pytest.raises(PyGPU.CudaError) as raised:
            host.register_host_memory(values)
        assert raised.value.code == 712
    locked.base.unregister()
    with pytest.raises(PyGPU.CudaError) as raised:
        locked.base.unregister()
    assert raised.value.code == 713


def test_registered_memory_is_unlocked_when_last_array_is_dropped():
    values = host.aligned_zeros(4096, "u1")
    locked = host.register_host_memory(values)
    del locked
    gc.collect()
    host.register_host_memory(values).base.unregister()


def test_registered_memory_of_read_only_ndarray_is_read_only():
    values = host.aligned_zeros(4096, "u1")
    values.flags.writeable = False
    assert not host.register_host_memory(values).flags.writeable
    with pytest.raises(ValueError, match="not contiguous"):
        host.register_host_memory(numpy.zeros((8, 8))[:, ::2])
    with pytest.raises(ValueError, match="no memory"):
        host.register_host_memory(numpy.zeros(0))


def test_managed_memory_has_same_address_on_host_and_device():
    array = host.managed_zeros((3, 4), "f4", mem_flags=mem_attach_flags.GLOBAL)
    owner = array.base
    assert isinstance(owner, host.ManagedAllocation)
    assert owner.get_device_pointer() == int(owner) == array.ctypes.data
    assert managed_pointer(array[1:, 1]) == array[1:, 1].ctypes.data
    assert managed_pointer(numpy.zeros(3)) is None
    device = PyGPU.GPUArray((3, 4), "f4", gpudata=owner)
    device.fill(5)
    PyGPU.synchronize()
    assert numpy.array_equal(array, numpy.full((3, 4), 5, "f4"))


def test_managed_memory_can_be_attached_to_stream():
    stream = PyGPU.Stream()
    array = host.managed_empty(16, "f4")
    array.base.attach(mem_attach_flags.SINGLE, stream)
    array.base.attach(mem_attach_flags.HOST)
    array.base.attach(mem_attach_flags.GLOBAL, stream)
    stream.synchronize()
    with pytest.raises(ValueError, match="mem_flags"):
        array.base.attach(3)
    owner = array.base
    del array
    owner.free()
    with pytest.raises(PyGPU.CudaError, match="freed already"):
        owner.free()


def test_kernel_accepts_allocation_as_argument():
    try:
        module = PyGPU.Module('extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }')
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(str(error))
    memory = driver.to_device(VALUES)
    module.get_function("twice")[1, VALUES.size](memory)
    assert numpy.array_equal(driver.from_device_like(memory, VALUES), 2 * VALUES)


@pytest.mark.skipif(CPU, reason="nothing is shared on the CPU")
def test_events_are_shared_between_processes_by_ipc_handle():
    event = PyGPU.Event(timing=False, interprocess=True)
    event.record()
    handle = event.ipc_handle()
    assert isinstance(handle, bytearray)
    assert len(handle) == 64
    with pytest.raises(ValueError, match="64 bytes"):
        PyGPU.Event.from_ipc_handle(b"abc")
    try:
        opened = PyGPU.Event.from_ipc_handle(handle)
    except PyGPU.CudaError:
        return  # A real driver opens the handle only in another process.
    opened.synchronize()
    assert opened.query()


@pytest.mark.skipif(not CPU, reason="drivers share")
def test_ipc_error_on_cpu_names_multiprocessing():
    for share in (
        lambda: driver.mem_get_ipc_handle(driver.mem_alloc(8)),
        lambda: PyGPU.Event.from_ipc_handle(bytes(64)),
    ):
        with pytest.raises(PyGPU.NotSupportedError, match="multiprocessing"):
            share()
