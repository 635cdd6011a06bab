"""Test the `cuda*` calls of the runtime: the effects of valid calls, and the statuses of invalid calls."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import PyGPU
from PyGPU import _core, runtime

HOST_TO_DEVICE = runtime.cudaMemcpyHostToDevice
DEVICE_TO_HOST = runtime.cudaMemcpyDeviceToHost


@pytest.fixture(autouse=True)
def _no_error_is_left() -> None:
    runtime.cudaGetLastError()


@pytest.fixture
def memory() -> Iterator[int]:
    """Yield the address of 64 bytes of device memory."""
    address, status = runtime.cudaMalloc(64)
    assert status == 0
    yield address
    assert runtime.cudaFree(address) == 0


def content(address: int, nbytes: int = 64) -> bytes:
    result = numpy.empty(nbytes, numpy.uint8)
    assert runtime.cudaMemcpy(result, address, nbytes, DEVICE_TO_HOST) == 0
    return result.tobytes()


# Tests of devices.


def test_device_count_and_current_device_are_reported() -> None:
    count, status = runtime.cudaGetDeviceCount()
    assert status == 0
    assert count >= 1
    device, status = runtime.cudaGetDevice()
    assert status == 0
    assert 0 <= device < count
    assert runtime.cudaSetDevice(device) == 0


def test_device_calls_without_devices_return_error_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "device_count", lambda: 0)
    assert runtime.cudaGetDeviceCount() == (0, 100)
    assert runtime.cudaSetDevice(0) == 100


@pytest.mark.parametrize("device", [-1, 99, 2**40, 2**70])
def test_call_for_missing_device_returns_invalid_device(device: int) -> None:
    current = runtime.cudaGetDevice()[0]
    assert runtime.cudaSetDevice(device) == 101
    assert runtime.cudaGetDevice() == (current, 0)
    assert runtime.cudaDeviceCanAccessPeer(0, device) == (False, 101)
    assert runtime.cudaDeviceCanAccessPeer(device, 0) == (False, 101)
    assert runtime.cudaDeviceEnablePeerAccess(device) == 101
    assert runtime.cudaDeviceProp(device).last_status() == 101


def test_device_functions_reject_device_that_is_no_integer() -> None:
    for call in (runtime.cudaSetDevice, runtime.cudaDeviceProp, runtime.cudaDeviceEnablePeerAccess):
        with pytest.raises(TypeError):
            call("0")


def test_device_is_not_its_own_peer() -> None:
    assert runtime.cudaDeviceCanAccessPeer(0, 0) == (False, 0)
    assert runtime.cudaDeviceEnablePeerAccess(runtime.cudaGetDevice()[0]) == 101
    assert runtime.cudaDeviceEnablePeerAccess(0, 1) == 1


def test_driver_version_is_reported() -> None:
    version, status = runtime.cudaDriverGetVersion()
    assert status == 0
    assert version == 0 if _core.backend_name() == "cpu" else version > 0


def test_device_synchronize_succeeds() -> None:
    assert runtime.cudaDeviceSynchronize() == 0


def test_device_reset_calls_reset_function_of_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    # Replace the backend's function, because a real reset would destroy the arrays of all other tests.
    called: list[bool] = []
    monkeypatch.setattr(_core, "reset_device", lambda: called.append(True))
    assert runtime.cudaDeviceReset() == 0
    assert called


def test_mem_get_info_returns_pair_of_sizes_and_status() -> None:
    (free, total), status = runtime.cudaMemGetInfo()
    assert status == 0
    assert 0 < free <= total


def test_device_prop_call_returns_same_values_as_device_properties() -> None:
    found = runtime.cudaDeviceProp(0)
    expected = _core.device_properties(0)
    assert found.last_status() == 0
    assert found.name() == expected["name"]
    assert found.get()["total_memory"] == expected["total_memory"]
    found.get().clear()
    assert found.get()


# Tests of streams and events.


def test_stream_has_handle_and_cuda_stream_protocol() -> None:
    stream = runtime.cudaStream_t()
    assert stream.last_status() == 0
    assert stream.stream is not None
    assert stream.get() == stream.handle == int(stream) == stream.stream.handle
    assert stream.__cuda_stream__() == (0, stream.handle)


@pytest.mark.parametrize("flags", [runtime.cudaStreamDefault, runtime.cudaStreamNonBlocking])
def test_stream_synchronize_and_query_succeed(flags: int) -> None:
    stream = runtime.cudaStream_t(flags)
    assert stream.last_status() == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    assert runtime.cudaStreamQuery(stream) == 0


class Foreign:
    """Imitate a stream of another library."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle


def test_stream_synchronize_accepts_every_type_of_stream() -> None:
    own = runtime.cudaStream_t()
    for stream in (None, 0, numpy.int64(0), own, own.stream, own.handle, Foreign(own.handle), Foreign(0)):
        assert runtime.cudaStreamSynchronize(stream) == 0


@pytest.mark.parametrize("wrong", ["0", 1.0, True, object()])
def test_stream_parameters_reject_objects_that_are_no_streams(wrong: Any, memory: int) -> None:
    event = runtime.cudaEvent_t()
    for call in (
        lambda: runtime.cudaStreamSynchronize(wrong),
        lambda: runtime.cudaStreamQuery(wrong),
        lambda: runtime.cudaStreamWaitEvent(wrong, event),
        lambda: runtime.cudaEventRecord(event, wrong),
        lambda: runtime.cudaMemsetAsync(memory, 0, 64, wrong),
        lambda: runtime.cudaMemcpyAsync(memory, memory, 0, 3, wrong),
    ):
        with pytest.raises(TypeError, match="expected a stream"):
            call()


def test_stream_whose_creation_failed_is_not_used_as_default_stream() -> None:
    stream = runtime.cudaStream_t(8)
    assert stream.last_status() == 1
    assert stream.handle == 0
    assert runtime.cudaStreamSynchronize(stream) == 400
    assert runtime.cudaStreamQuery(stream) == 400
    assert runtime.cudaEventRecord(runtime.cudaEvent_t(), stream) == 400
    with pytest.raises(RuntimeError):
        stream.__cuda_stream__()


def test_stream_query_of_unfinished_work_returns_not_ready() -> None:
    class Busy(_core.Stream):  # type: ignore[misc,unused-ignore]
        def query(self) -> bool:
            return False

    try:
        busy = Busy()
    except TypeError:
        pytest.skip("Stream is final")
    assert runtime.cudaStreamQuery(busy) == 600


def test_events_measure_time_between_records() -> None:
    start, end = runtime.cudaEvent_t(), runtime.cudaEvent_t(runtime.cudaEventBlockingSync)
    stream = runtime.cudaStream_t()
    assert runtime.cudaEventRecord(start, stream) == 0
    assert runtime.cudaEventRecord(end, stream) == 0
    assert runtime.cudaEventSynchronize(end) == 0
    assert runtime.cudaEventQuery(end) == 0
    milliseconds, status = runtime.cudaEventElapsedTime(start, end)
    assert status == 0
    assert 0 <= milliseconds < 10_000


def test_event_without_timing_has_no_elapsed_time() -> None:
    event = runtime.cudaEvent_t(runtime.cudaEventDisableTiming)
    assert runtime.cudaEventRecord(event) == 0
    assert runtime.cudaEventSynchronize(event) == 0
    assert runtime.cudaEventElapsedTime(event, event) == (0.0, 400)


def test_unrecorded_event_is_complete_and_has_no_time() -> None:
    event = runtime.cudaEvent_t()
    assert runtime.cudaEventQuery(event) == 0
    assert runtime.cudaEventSynchronize(event) == 0
    assert runtime.cudaEventElapsedTime(event, event) == (0.0, 400)


def test_stream_wait_event_accepts_recorded_event() -> None:
    event = runtime.cudaEvent_t()
    assert runtime.cudaEventRecord(event) == 0
    assert runtime.cudaStreamWaitEvent(runtime.cudaStream_t(), event) == 0
    assert runtime.cudaStreamWaitEvent(None, event, 0) == 0
    assert runtime.cudaStreamWaitEvent(None, event, 7) == 1


@pytest.mark.parametrize("flags", [8, -1, runtime.cudaEventInterprocess])
def test_creation_of_event_with_wrong_flags_returns_status(flags: int) -> None:
    event = runtime.cudaEvent_t(flags)
    assert event.last_status() == 1
    assert event.handle == 0
    assert runtime.cudaEventRecord(event) == 400
    assert runtime.cudaEventQuery(event) == 400
    assert runtime.cudaEventSynchronize(event) == 400
    assert runtime.cudaEventElapsedTime(event, event) == (0.0, 400)
    assert runtime.cudaStreamWaitEvent(None, event) == 400


@pytest.mark.parametrize("wrong", [None, 0, "event"])
def test_event_functions_reject_objects_that_are_no_events(wrong: Any) -> None:
    for call in (runtime.cudaEventRecord, runtime.cudaEventSynchronize, runtime.cudaEventQuery):
        with pytest.raises(TypeError, match="expected an event"):
            call(wrong)


# Tests of device memory.


def test_values_are_unchanged_after_memcpy_to_device_and_back(memory: int) -> None:
    source = numpy.arange(64, dtype=numpy.uint8)
    assert runtime.cudaMemcpy(memory, source.ctypes.data, 64, HOST_TO_DEVICE) == 0
    assert content(memory) == source.tobytes()


@pytest.mark.parametrize("wrap", [int, numpy.uint64, ctypes.c_void_p])
def test_memcpy_accepts_several_address_types(memory: int, wrap: Any) -> None:
    source = numpy.arange(64, dtype=numpy.uint8)
    assert runtime.cudaMemcpy(wrap(memory), wrap(source.ctypes.data), 64, HOST_TO_DEVICE) == 0
    assert content(memory) == source.tobytes()


def test_memcpy_device_to_device_copies_values(memory: int) -> None:
    other, status = runtime.cudaMalloc(64)
    assert status == 0
    assert runtime.cudaMemset(memory, 0x5A, 64) == 0
    assert runtime.cudaMemcpy(other, memory, 64, runtime.cudaMemcpyDeviceToDevice) == 0
    assert content(other) == b"\x5a" * 64
    assert runtime.cudaFree(other) == 0


def test_memcpy_host_to_host_copies_values() -> None:
    source, result = numpy.arange(5.0), numpy.zeros(5)
    assert runtime.cudaMemcpy(result, source, source.nbytes, runtime.cudaMemcpyHostToHost) == 0
    assert (result == source).all()


def test_memcpy_finds_direction_by_addresses(memory: int) -> None:
    source = numpy.arange(64, dtype=numpy.uint8)
    assert runtime.cudaMemcpy(memory, source, 64) == 0
    assert content(memory) == source.tobytes()


def test_memcpy_async_runs_in_stream_order(memory: int) -> None:
    source, result = numpy.arange(64, dtype=numpy.uint8), numpy.zeros(64, numpy.uint8)
    stream = runtime.cudaStream_t(runtime.cudaStreamNonBlocking)
    assert runtime.cudaMemsetAsync(memory, 1, 64, stream) == 0
    assert runtime.cudaMemcpyAsync(memory, source, 32, HOST_TO_DEVICE, stream) == 0
    assert runtime.cudaMemcpyAsync(result, memory, 64, DEVICE_TO_HOST, stream) == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    assert result.tolist() == [*range(32), *[1] * 32]


@pytest.mark.parametrize(("value", "byte"), [(0, 0), (0xA5, 0xA5), (-1, 0xFF), (0x1234, 0x34)])
def test_memset_uses_lowest_byte_of_value(memory: int, value: int, byte: int) -> None:
    assert runtime.cudaMemset(memory, value, 64) == 0
    assert content(memory) == bytes([byte]) * 64


@pytest.mark.parametrize("kind", [-1, 5, 99])
def test_memcpy_with_unknown_direction_returns_error_21(memory: int, kind: int) -> None:
    assert runtime.cudaMemcpy(memory, memory, 8, kind) == 21
    assert runtime.cudaMemcpyAsync(memory, memory, 8, kind) == 21


def test_memcpy_at_null_address_fails_unless_size_is_zero(memory: int) -> None:
    assert runtime.cudaMemcpy(0, memory, 8, 3) == 1
    assert runtime.cudaMemcpy(memory, 0, 8, 3) == 1
    assert runtime.cudaMemset(0, 0, 8) == 1
    assert runtime.cudaMemcpy(0, 0, 0, 3) == 0
    assert runtime.cudaMemset(0, 0, 0) == 0


def test_memcpy_rejects_ndarray_that_is_short_strided_or_read_only(memory: int) -> None:
    short, gaps, constant = numpy.zeros(4, numpy.uint8), numpy.zeros((8, 8), numpy.uint8)[:, ::2], numpy.zeros(64)
    constant.flags.writeable = False
    for wrong in (short, gaps, constant):
        with pytest.raises(ValueError, match=r"do not fit|not contiguous|read-only"):
            runtime.cudaMemcpy(wrong, memory, 32, DEVICE_TO_HOST)
    assert runtime.cudaMemcpy(memory, constant, 64, HOST_TO_DEVICE) == 0


def test_memcpy_checks_length_of_pointer_wrapper(memory: int) -> None:
    pointer = PyGPU.ptr_wrapper_int32()
    pointer.create(4)
    assert runtime.cudaMemcpy(pointer, memory, 16, DEVICE_TO_HOST) == 0
    with pytest.raises(ValueError, match="do not fit"):
        runtime.cudaMemcpy(pointer, memory, 17, DEVICE_TO_HOST)


@pytest.mark.parametrize("wrong", ["0", 1.0, None, True, [0]])
def test_address_parameters_reject_objects_without_address(wrong: Any) -> None:
    for call in (
        lambda: runtime.cudaFree(wrong),
        lambda: runtime.cudaFreeHost(wrong),
        lambda: runtime.cudaHostUnregister(wrong),
        lambda: runtime.cudaHostRegister(wrong, 1),
        lambda: runtime.cudaMemset(wrong, 0, 1),
        lambda: runtime.cudaMemcpy(wrong, 0, 1),
        lambda: runtime.cudaMemcpy(0, wrong, 1),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("wrong", [-1, 1 << 64])
def test_free_and_memset_reject_address_beyond_64_bits(wrong: int) -> None:
    with pytest.raises(ValueError, match="not an address"):
        runtime.cudaFree(wrong)
    with pytest.raises(ValueError, match="not an address"):
        runtime.cudaMemset(wrong, 0, 0)


def test_memset_rejects_gpu_array_and_error_names_ptr() -> None:
    array = PyGPU.to_gpu(numpy.arange(3))
    with pytest.raises(TypeError, match=r"\.ptr"):
        runtime.cudaMemset(array, 0, 8)  # type: ignore[arg-type]
    assert runtime.cudaMemset(array.ptr, 0, 8) == 0


@pytest.mark.parametrize("allocate", [runtime.cudaMalloc, runtime.cudaMallocHost, runtime.cudaHostAlloc])
def test_malloc_of_impossible_size_returns_status_or_raises(allocate: Any) -> None:
    assert allocate(0) == (0, 0)
    assert allocate(1 << 60) == (0, 2)
    for wrong in (-1, 1 << 63):
        with pytest.raises(ValueError, match="number of bytes"):
            allocate(wrong)
    with pytest.raises(TypeError):
        allocate("8")


@pytest.mark.parametrize("free", [runtime.cudaFree, runtime.cudaFreeHost])
def test_cuda_free_of_unknown_address_returns_invalid_value(free: Any) -> None:
    assert free(0) == 0
    assert free(0x10) == 1
    assert runtime.cudaGetLastError() == 1


def test_second_cuda_free_of_address_returns_invalid_value() -> None:
    address, status = runtime.cudaMalloc(32)
    assert status == 0
    assert runtime.cudaFree(address) == 0
    assert runtime.cudaFree(address) == 1


def test_cuda_free_rejects_pointer_of_allocator() -> None:
    allocator = PyGPU.DeviceAllocator_int16()
    assert allocator.allocate(4) == 0
    with pytest.raises(TypeError):
        runtime.cudaFree(allocator.ptr())


# Tests of pinned host memory.


@pytest.mark.parametrize("flags", range(8))
def test_pinned_memory_is_accessible_from_host(flags: int, memory: int) -> None:
    address, status = runtime.cudaHostAlloc(64, flags)
    assert status == 0
    ctypes.memset(address, 0x77, 64)
    assert runtime.cudaMemcpy(memory, address, 64, HOST_TO_DEVICE) == 0
    assert content(memory) == b"\x77" * 64
    assert runtime.cudaFreeHost(address) == 0


@pytest.mark.parametrize("flags", [8, -1])
def test_host_memory_call_with_unknown_flags_returns_invalid_value(flags: int) -> None:
    array = numpy.zeros(4096, numpy.uint8)
    assert runtime.cudaHostAlloc(64, flags) == (0, 1)
    assert runtime.cudaHostRegister(array, array.nbytes, 16) == 1


def test_second_unregister_of_host_memory_fails() -> None:
    array = numpy.zeros(1 << 16, numpy.uint8)
    assert runtime.cudaHostRegister(array, array.nbytes, runtime.cudaHostRegisterPortable) == 0
    assert runtime.cudaHostUnregister(array.ctypes.data) == 0
    assert runtime.cudaHostUnregister(array.ctypes.data) != 0


def test_invalid_registration_of_host_memory_returns_status() -> None:
    array = numpy.zeros(1 << 16, numpy.uint8)
    assert runtime.cudaHostRegister(array, 0) == 1
    assert runtime.cudaHostRegister(0, 64) == 1
    assert runtime.cudaHostRegister(array, array.nbytes, runtime.cudaHostRegisterIoMemory) == 801
    with pytest.raises(ValueError, match="do not fit"):
        runtime.cudaHostRegister(array, array.nbytes + 1)


# Tests of the module `PyGPU.runtime`.


def test_version_numbers_match_package() -> None:
    version = f"{runtime.major_version}.{runtime.minor_version}.{runtime.release_version}"
    assert _core.__version__.split("-")[0] == version


def test_use_hip_is_true_only_on_hip_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    assert runtime.cuda_enabled is True
    for name in ("cpu", "cuda", "hip"):
        monkeypatch.setattr(_core, "backend_name", lambda name=name: name)
        assert runtime.use_hip is (name == "hip")


def test_module_runtime_rejects_unknown_name() -> None:
    with pytest.raises(AttributeError):
        runtime.cudaNoSuchThing  # type: ignore[attr-defined] # noqa: B018


def test_every_public_name_of_module_runtime_exists() -> None:
    assert [name for name in runtime.__all__ if not hasattr(runtime, name)] == []
    assert len(set(runtime.__all__)) == len(runtime.__all__)


def test_import_of_cuda_names_opens_no_library() -> None:
    program = (
        "from PyGPU.backend import *\n"
        "import PyGPU.allocators\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libcuda', 'libamdhip64', 'libnvidia-ml', 'libcudart') if name in maps])\n"
    )
    if not sys.platform.startswith("linux"):
        pytest.skip("needs /proc")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
