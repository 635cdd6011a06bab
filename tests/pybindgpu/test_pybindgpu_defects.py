"""Test that PyGPU's implementation of PybindGPU's interface does not have the defects of PybindGPU.

The defects are numbered: a comment in a test has the number of the tested defect. These defects are not tested in
this file:

- defects of GPUArray (1, 3, 4, 5, 7, 18, 23, 29, 30), which the tests of GPUArray cover;
- defects of NVML (26, 27), which test_nvml.py covers;
- defect 28, except for its part about streams, because its other parts concern the native module;
- defect 31, which concerned the build.
"""

from __future__ import annotations

import array
import gc
import sys
import weakref
from typing import Any

import numpy
import pytest

import PyGPU
import PyGPU as gpuarray
from pybindgpu_helpers import device_content, typed
from PyGPU import _core, allocators
from PyGPU.gpuarray import UnsupportedDataType


@pytest.fixture
def freed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which PyGPU appends the address of each freed block of device or pinned memory."""
    gc.collect()
    addresses: list[int] = []
    for name in ("raw_free", "host_free"):
        real = getattr(_core, name)

        def free(address: int, real: Any = real) -> None:
            addresses.append(address)
            real(address)

        monkeypatch.setattr(_core, name, free)
    return addresses


def test_set_val_copies_element_and_wrong_index_sets_last_status(  # Covers PybindGPU's defect 2.
    capfd: pytest.CaptureFixture[str],
) -> None:
    array = PyGPU.DeviceArray_int64(numpy.array([1, 2, 3]))
    array.set_val(0, 9)
    assert array.last_status() == 1
    array.to_device()
    array.set_val(2, 45)
    assert array.last_status() == 0
    for index in (3, -1, 2**70):
        array.set_val(index, 46)
        assert array.last_status() == 1
    assert device_content(array.device_data(), 3, "int64") == [1, 2, 45]
    assert capfd.readouterr() == ("", "")
    for wrong, error in (("x", ValueError), (1j, TypeError), ([1, 2], (TypeError, ValueError)), (2**70, OverflowError)):
        with pytest.raises(error):
            array.set_val(0, wrong)
    with pytest.raises(TypeError):
        array.set_val(0.5, 1)
    assert device_content(array.device_data(), 3, "int64") == [1, 2, 45]


@pytest.mark.parametrize("spelling", ["float32", "f4", numpy.float32, numpy.dtype("f4")])
def test_allocator_accepts_every_dtype_spelling_of_numpy(spelling: Any) -> None:  # Covers PybindGPU's defect 6.
    assert allocators.HostAllocator((2,), spelling).get().dtype == numpy.float32
    assert allocators.HostAllocator((2,), float).get().dtype == numpy.float64
    for wrong in ("bool", "float16", ">f4", "no such", numpy.dtype("V3")):
        with pytest.raises(UnsupportedDataType):
            allocators.HostAllocator((2,), wrong)


def test_status_before_first_call_is_success() -> None:  # Covers PybindGPU's defect 8.
    assert PyGPU.DeviceArray_int16(2).last_status() == 0
    assert PyGPU.cudaDeviceProp(0).last_status() == 0
    assert PyGPU.cudaStream_t().last_status() == 0
    assert PyGPU.cudaEvent_t().last_status() == 0
    assert int(PyGPU.DeviceArray_int16(2).device_data()) == 0


def test_pci_bus_device_and_domain_are_separate_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # Covers PybindGPU's defect 9.
    known = {"pci_bus": 0x65, "pci_device": 3, "pci_domain": 2}
    monkeypatch.setattr(_core, "device_properties", lambda index: known)
    found = PyGPU.cudaDeviceProp(0)
    assert (found.pciBusID(), found.pciDeviceID(), found.pciDomainID()) == (0x65, 3, 2)


def test_device_uuid_is_32_hexadecimal_digits(monkeypatch: pytest.MonkeyPatch) -> None:  # Covers PybindGPU's defect 10.
    assert len(PyGPU.cudaDeviceProp(0).uuid()) == 32
    monkeypatch.setattr(_core, "device_properties", lambda index: {"uuid": bytes(range(0xF0, 0x100))})
    assert PyGPU.cudaDeviceProp(0).uuid() == "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"


def test_array_sizes_have_64_bits_and_overflow_raises_value_error() -> None:  # Covers PybindGPU's defect 11.
    array = PyGPU.DeviceArray_int64(0, 0, [65536, 65536])
    assert (array.size(), array.nbytes()) == (2**32, 2**35)
    assert array.strides() == [65536 * 8, 8]
    for shape in ([2**40, 2**40], [2**60], [2**70], [0, 2**40, 2**40]):
        with pytest.raises(ValueError, match="overflows"):
            PyGPU.DeviceArray_int64(0, 0, shape)
        with pytest.raises(ValueError, match="overflows"):
            allocators.PagelockedAllocator(shape, "int64")
    with pytest.raises(ValueError, match="negative"):
        PyGPU.DeviceArray_int64([-1])
    assert PyGPU.DeviceAllocator_int64().allocate(2**62) == 2
    with pytest.raises(ValueError, match="negative"):
        PyGPU.DeviceAllocator_int64().allocate(-1)
    with pytest.raises((ValueError, MemoryError)):
        PyGPU.HostAllocator_int64().allocate(2**62)


def test_second_destroy_of_pointer_does_nothing_and_array_stays_valid() -> None:  # Covers PybindGPU's defect 12.
    pointer = PyGPU.ptr_wrapper_int64()
    pointer.destroy()
    pointer.create(3)
    array = PyGPU.DeviceArray_int64(pointer, [3])
    numpy.asarray(array)[:] = [7, 8, 9]
    for _ in range(2):
        pointer.destroy()
        assert (int(pointer), pointer.is_safe()) == (0, False)
    assert numpy.asarray(array).tolist() == [7, 8, 9]
    pointer.create(1)
    pointer.create(2)
    with pytest.raises(ValueError, match="negative"):
        pointer.create(-1)
    assert pointer.is_safe()


def test_device_memory_is_marked_unsafe_and_borrowed_memory_is_kept_alive() -> None:  # Covers PybindGPU's defect 13.
    allocator = PyGPU.DeviceAllocator_int64()
    assert allocator.allocate(3) == 0
    pointer = allocator.ptr()
    assert not pointer.is_safe()
    pointer.destroy()
    assert int(pointer) == int(allocator.ptr()) != 0
    with pytest.raises(ValueError, match="device memory"):
        PyGPU.DeviceArray_int64(pointer, [3])
    pinned = PyGPU.PagelockedAllocator_int64()
    assert pinned.allocate(3) == 0
    borrowed = pinned.ptr()
    assert borrowed.is_safe()
    borrowed.destroy()
    assert int(borrowed) == int(pinned.ptr())


def test_array_keeps_borrowed_memory_alive(freed: list[int]) -> None:  # Covers PybindGPU's defect 14.
    source = numpy.arange(3.0)
    array = PyGPU.DeviceArray_float64(source)
    seen = weakref.ref(source)
    del source
    gc.collect()
    assert seen() is not None

    array.to_device()
    host, device = array.host_data(), array.device_data()
    view = numpy.asarray(array)
    del array
    gc.collect()
    assert device_content(device, 3) == [0, 1, 2]
    assert view.tolist() == [0, 1, 2]
    del view
    gc.collect()
    assert seen() is not None
    del host
    gc.collect()
    assert seen() is None
    address = int(device)
    assert address not in freed
    del device
    gc.collect()
    assert address in freed


def test_array_view_keeps_pinned_memory_alive(freed: list[int]) -> None:  # Covers PybindGPU's defect 14.
    allocator = PyGPU.PagelockedAllocator_float64()
    assert allocator.allocate(4) == 0
    address = int(allocator.ptr())
    view = numpy.asarray(PyGPU.DeviceArray_float64(allocator.ptr(), [4]))[1:]
    del allocator
    gc.collect()
    view[:] = 1
    assert address not in freed
    del view
    gc.collect()
    assert address in freed


def test_view_keeps_high_level_allocator_alive(freed: list[int]) -> None:  # Covers PybindGPU's defect 14.
    allocator = allocators.PagelockedAllocator((2, 2), "float32")
    address = allocator.host_ptr()
    view = allocator.get()
    del allocator
    gc.collect()
    assert address not in freed
    del view
    gc.collect()
    assert address in freed


@pytest.mark.parametrize("kind", ["HostAllocator", "DeviceAllocator", "PagelockedAllocator"])
def test_reallocation_leaves_old_memory_valid_while_pointer_refers_to_it(
    kind: str, freed: list[int]
) -> None:  # Covers PybindGPU's defect 15.
    allocator = typed(kind)()
    allocator.allocate(3)
    first = allocator.ptr()
    address = int(first)
    allocator.allocate(5)
    assert int(allocator.ptr()) != address
    assert address not in freed
    del first
    gc.collect()
    assert (address in freed) == (kind != "HostAllocator")


@pytest.mark.parametrize("kind", ["DeviceAllocator", "PagelockedAllocator"])
def test_failed_allocation_leaves_previous_block_allocated(
    kind: str, freed: list[int]
) -> None:  # Covers PybindGPU's defect 16.
    allocator = typed(kind)()
    assert allocator.allocate(1 << 57) == 2
    assert int(allocator.ptr()) == 0
    assert allocator.allocate(3) == 0
    address = int(allocator.ptr())
    assert allocator.allocate(1 << 57) == 2
    assert int(allocator.ptr()) == address
    assert address not in freed
    del allocator
    gc.collect()
    assert freed.count(address) == 1


def test_array_has_no_device_memory_after_failed_allocation(
    freed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:  # Covers PybindGPU's defect 16.
    def fail(nbytes: int) -> int:
        raise MemoryError

    array = PyGPU.DeviceArray_float64([3])
    monkeypatch.setattr(_core, "raw_allocate", fail)
    for call in (array.allocate, array.to_device):
        call()
        assert array.last_status() == 2
        assert not array.allocated()
        assert int(array.device_data()) == 0
    del array
    assert 0 not in freed


def test_failed_free_prints_nothing_and_sets_last_error(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:  # Covers PybindGPU's defect 16.
    def fail(address: int) -> None:
        raise _core.NotSupportedError("cannot")

    allocator = PyGPU.DeviceAllocator_int16()
    assert allocator.allocate(3) == 0
    PyGPU.cudaGetLastError()
    free, address = _core.raw_free, int(allocator.ptr())
    monkeypatch.setattr(_core, "raw_free", fail)
    del allocator
    gc.collect()
    free(address)
    assert PyGPU.cudaGetLastError() == 801
    assert capfd.readouterr() == ("", "")


def test_device_array_checks_buffer_and_copies_noncontiguous_buffer() -> None:  # Covers PybindGPU's defect 17.
    for wrong in (
        numpy.zeros(4, "f4"),
        numpy.zeros(4, ">f8"),
        numpy.zeros(4, "i8"),
        b"12345678",
        array.array("f", [1]),
        numpy.float32(1),
    ):
        with pytest.raises(TypeError, match="dtype"):
            PyGPU.DeviceArray_float64(wrong)

    gaps = numpy.arange(8.0)[::2]
    copied = PyGPU.DeviceArray_float64(gaps)
    assert (copied.shape(), copied.strides()) == ([4], [8])
    copied.to_device()
    assert device_content(copied.device_data(), 4) == [0, 2, 4, 6]
    reverse = PyGPU.DeviceArray_float64(numpy.arange(3.0)[::-1])
    assert numpy.asarray(reverse).tolist() == [2, 1, 0]

    fortran = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
    aliased = PyGPU.DeviceArray_float64(fortran)
    assert aliased.strides() == list(fortran.strides)
    assert int(aliased.host_data()) == fortran.ctypes.data


def test_read_only_buffer_of_device_array_is_never_written() -> None:  # Covers PybindGPU's defect 17.
    source = numpy.arange(3.0)
    source.flags.writeable = False
    constant = PyGPU.DeviceArray_float64(source)
    constant.to_device()
    assert constant.last_status() == 0
    constant.set_val(0, 5)
    constant.to_host()
    assert constant.last_status() == 1
    assert source.tolist() == [0, 1, 2]
    assert not numpy.asarray(constant).flags.writeable
    pointer = constant.host_data()
    assert not numpy.asarray(PyGPU.DeviceArray_float64(pointer, [3])).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        PyGPU.cudaMemcpy(pointer, constant.device_data(), 24, PyGPU.cudaMemcpyDeviceToHost)
    assert numpy.asarray(PyGPU.DeviceArray_float64(array.array("d", [1.0]))).flags.writeable


@pytest.mark.skipif(sys.version_info < (3, 12), reason="classes give out buffers from Python 3.12 on")
def test_buffer_protocol_exports_host_memory_of_array() -> None:
    source = numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3))
    view = memoryview(PyGPU.DeviceArray_float64(source))  # type: ignore[arg-type,unused-ignore]
    assert (view.shape, view.strides, view.format) == ((2, 3), (8, 16), "d")
    assert not view.readonly
    assert numpy.asarray(view).ctypes.data == source.ctypes.data
    source.flags.writeable = False
    assert memoryview(PyGPU.DeviceArray_float64(source)).readonly  # type: ignore[arg-type,unused-ignore]


def test_to_device_allocates_missing_device_memory_but_to_host_fails() -> None:  # Covers PybindGPU's defect 19.
    array = PyGPU.DeviceArray_float64([3])
    numpy.asarray(array)[:] = [1, 2, 3]
    array.to_host()
    assert array.last_status() == 1
    assert numpy.asarray(array).tolist() == [1, 2, 3]
    array.to_device()
    assert array.last_status() == 0
    assert array.allocated()
    assert device_content(array.device_data(), 3) == [1, 2, 3]


def test_allocate_call_does_not_replace_borrowed_device_memory() -> None:  # Covers PybindGPU's defect 20.
    allocator = PyGPU.DeviceAllocator_float64()
    assert allocator.allocate(3) == 0
    host = numpy.arange(3.0)
    array = PyGPU.DeviceArray_float64(host.ctypes.data, allocator.ptr(), [3])
    assert not array.allocated()
    array.allocate()
    assert array.last_status() == 0
    assert not array.allocated()
    array.to_device()
    assert int(array.device_data()) == int(allocator.ptr())
    assert device_content(allocator.ptr(), 3) == [0, 1, 2]
    address, status = PyGPU.cudaMalloc(24)
    assert status == 0
    raw = PyGPU.DeviceArray_float64(host.ctypes.data, address, [3])
    raw.allocate()
    raw.to_device()
    assert device_content(address, 3) == [0, 1, 2]
    del raw
    assert PyGPU.cudaFree(address) == 0


@pytest.mark.parametrize("kind", [allocators.HostAllocator, allocators.PagelockedAllocator])
def test_memory_of_host_allocator_becomes_host_memory_of_array(kind: Any) -> None:  # Covers PybindGPU's defect 21.
    allocator = kind((2, 3), "int32")
    host = allocator.get()
    host[:] = numpy.arange(6).reshape(2, 3)
    assert allocator.host_ptr() == int(allocator.ptr()) == host.ctypes.data == allocator.host_data.ctypes.data
    assert numpy.asarray(allocator).ctypes.data == host.ctypes.data
    assert (allocator._shape, allocator._dtype, allocator._size) == ((2, 3), numpy.int32, 6)
    mine = gpuarray.GPUArray(allocator=allocator)
    assert mine.ptr != 0
    mine.to_device()
    host[:] = 0
    mine.to_host()
    assert host.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert kind([], "int32").get().shape == ()
    assert kind((0, 3), "int32").get().shape == (0, 3)
    assert kind(4, "int32").get().shape == (4,)


def test_pinned_memory_is_not_used_as_device_memory() -> None:  # Covers PybindGPU's defect 22.
    pinned = allocators.PagelockedAllocator((3,), "float64")
    pinned.get()[:] = [1, 2, 3]
    described = allocators.Allocator(pinned)
    assert described.ptr() not in (0, pinned.host_ptr())
    assert described.host_ptr() == pinned.host_ptr()
    mine = gpuarray.GPUArray(allocator=described)
    assert mine.ptr == described.ptr()
    mine.to_device()
    assert device_content(described.ptr(), 3) == [1, 2, 3]


def test_allocator_accepts_array_of_other_library() -> None:
    class Memory:
        ptr, status = PyGPU.cudaMalloc(24)

    class Other:
        data, shape, dtype, strides = Memory, (3,), numpy.dtype("i8"), (8,)

    described = allocators.Allocator(Other())
    assert (described.ptr(), described._shape, described._dtype) == (Memory.ptr, (3,), numpy.int64)
    assert described.strides == (8,)
    assert described.host_data is None
    assert described.host_ptr() == described.host_data.ctypes.data  # type: ignore[unreachable,unused-ignore]
    mine = gpuarray.GPUArray(allocator=described)
    mine.set_val(1, 5)
    assert device_content(Memory.ptr, 3, "int64")[1] == 5
    del mine
    assert PyGPU.cudaFree(Memory.ptr) == 0
    for wrong in (numpy.zeros(3), [1, 2], None, 7):
        with pytest.raises(TypeError):
            allocators.Allocator(wrong)


def test_allocator_rejects_host_data_that_does_not_fit() -> None:
    first = gpuarray.to_gpu(numpy.zeros((2, 3)))
    host = numpy.zeros((2, 3))
    assert allocators.Allocator(first, host).host_data is host
    assert allocators.Allocator(first, host_data=host).host_ptr() == host.ctypes.data
    for wrong, error in (
        (numpy.zeros((3, 2)), ValueError),
        (numpy.zeros((2, 6))[:, ::2], ValueError),
        (numpy.zeros((2, 3), "f4"), TypeError),
        ([1], TypeError),
    ):
        with pytest.raises(error):
            allocators.Allocator(first, wrong)  # type: ignore[arg-type]


def test_get_method_of_stream_event_and_device_returns_handle_as_int() -> None:  # Covers PybindGPU's defect 24.
    for made in (PyGPU.cudaStream_t(), PyGPU.cudaEvent_t(), PyGPU.nvmlDevice(0)):
        assert isinstance(made.get(), int)
        assert int(made) == made.get()


def test_status_equals_integer_error_number() -> None:  # Covers PybindGPU's defect 25.
    status = PyGPU.cudaSetDevice(-1)
    assert status == 101
    assert status != 0
    assert status == PyGPU.cudaError_t(101)
    assert status


def test_device_array_copies_accept_stream() -> None:  # Covers PybindGPU's defect 28.
    stream = PyGPU.cudaStream_t(PyGPU.cudaStreamNonBlocking)
    source = numpy.arange(4.0)
    array = PyGPU.DeviceArray_float64(source)
    array.to_device(stream=stream)
    assert array.last_status() == 0
    source[:] = 0
    array.to_host(stream=stream.stream)
    assert source.tolist() == [0, 1, 2, 3]
    other = numpy.arange(4.0) + 10
    array.set(other.ctypes.data, stream=stream.handle)
    assert device_content(array.device_data(), 4) == [10, 11, 12, 13]
    array.to_device(PyGPU.cudaStream_t(77))
    assert array.last_status() == 400
    with pytest.raises(TypeError, match="stream"):
        array.to_device("stream")


def test_device_array_accepts_numpy_integer_as_length() -> None:  # Covers PybindGPU's defect 32.
    assert PyGPU.DeviceArray_int64(numpy.int64(3)).shape() == [3]
    assert PyGPU.DeviceArray_float64(numpy.uint8(3)).shape() == [3]
    assert PyGPU.DeviceArray_float64([numpy.int32(2), numpy.int64(3)]).shape() == [2, 3]
    scalar = PyGPU.DeviceArray_float64(numpy.float64(2.5))
    assert (scalar.shape(), numpy.asarray(scalar).item()) == ([], 2.5)


@pytest.mark.parametrize("order", [0, 1])
def test_device_array_without_axes_or_elements_can_be_copied(
    order: int, freed: list[int]
) -> None:  # Covers PybindGPU's defect 33.
    point = PyGPU.DeviceArray_float64([], order)
    assert (point.shape(), point.size(), point.nbytes(), point.strides()) == ([], 1, 8, [])
    numpy.asarray(point)[...] = 7
    point.to_device()
    assert device_content(point.device_data(), 1) == [7]

    nothing = PyGPU.DeviceArray_float64([0, 3], order)
    assert (nothing.shape(), nothing.size(), nothing.nbytes()) == ([0, 3], 0, 0)
    for call in (nothing.allocate, nothing.to_device, nothing.to_host):
        call()
        assert nothing.last_status() == 0
    assert int(nothing.device_data()) == int(nothing.host_data()) == 0
    assert numpy.asarray(nothing).shape == (0, 3)
    nothing.set_val(0, 1)
    assert nothing.last_status() == 1
    for kind in ("HostAllocator", "DeviceAllocator", "PagelockedAllocator"):
        allocator = typed(kind)()
        assert not allocator.allocate(0)
        assert int(allocator.ptr()) == 0
        assert PyGPU.DeviceArray_float64(int(allocator.ptr()), 0, [0]).size() == 0
    del allocator, nothing
    gc.collect()
    assert 0 not in freed
