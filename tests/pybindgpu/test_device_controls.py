"""Test the `cuda*` calls for device controls, such as streams and memory advice, on every backend: unsupported calls
return an error status."""

from __future__ import annotations

import ctypes
import pickle
import subprocess
import sys
from collections.abc import Iterator

import numpy
import pytest

import PyGPU
import simulated_driver
from PyGPU import runtime

ON_CPU = PyGPU.backend_name() == "cpu"
two_devices = pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")


@pytest.fixture(autouse=True)
def _no_error_is_left() -> None:
    runtime.cudaGetLastError()


@pytest.fixture
def stream() -> Iterator[runtime.cudaStream_t]:
    made, status = runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking)
    assert status == 0
    yield made
    assert runtime.cudaStreamSynchronize(made) == 0


@pytest.fixture
def managed() -> Iterator[int]:
    """Yield the address of 4096 bytes of managed memory."""
    address, status = runtime.cudaMallocManaged(4096)
    assert status == 0
    yield address
    assert runtime.cudaDeviceSynchronize() == 0
    assert runtime.cudaFree(address) == 0


def moves_pages() -> bool:
    return runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrConcurrentManagedAccess, 0)[0] == 1


# Tests of streams and events.


def test_created_stream_is_usable_until_destroyed() -> None:
    for stream, status in (
        runtime.cudaStreamCreate(),
        runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking),
        runtime.cudaStreamCreateWithPriority(runtime.cudaStreamDefault, -1),
    ):
        assert status == 0
        assert stream.handle != 0
        assert runtime.cudaStreamSynchronize(stream) == 0
        assert runtime.cudaStreamDestroy(stream) == 0
        assert stream.handle == 0
        assert runtime.cudaStreamDestroy(stream) == 400
        assert runtime.cudaStreamSynchronize(stream) == 400
        with pytest.raises(RuntimeError, match="destroyed"):
            stream.__cuda_stream__()


def test_stream_with_unknown_flags_returns_status() -> None:
    stream, status = runtime.cudaStreamCreateWithFlags(99)
    assert status == 1
    assert runtime.cudaGetLastError() == 1
    assert stream.handle == 0
    assert runtime.cudaStreamDestroy(stream) == 400


def test_stream_destroy_rejects_streams_of_other_libraries() -> None:
    assert runtime.cudaStreamDestroy(0) == 400
    assert runtime.cudaStreamDestroy(None) == 400
    own = PyGPU.Stream()
    assert runtime.cudaStreamDestroy(own) == 400
    own.synchronize()
    with pytest.raises(TypeError):
        runtime.cudaStreamDestroy("stream")


def test_work_on_destroyed_stream_completes() -> None:
    array = PyGPU.zeros(1000, "u1")
    stream, _ = runtime.cudaStreamCreate()
    assert runtime.cudaMemsetAsync(array.ptr, 7, 1000, stream) == 0
    assert runtime.cudaStreamDestroy(stream) == 0
    assert runtime.cudaDeviceSynchronize() == 0
    assert (array.get() == 7).all()


def test_created_event_is_usable_until_destroyed() -> None:
    for event, status in (
        runtime.cudaEventCreate(),
        runtime.cudaEventCreateWithFlags(runtime.cudaEventDisableTiming),
    ):
        assert status == 0
        assert runtime.cudaEventRecord(event) == 0
        assert runtime.cudaEventSynchronize(event) == 0
        assert runtime.cudaEventDestroy(event) == 0
        assert event.handle == 0
        assert runtime.cudaEventDestroy(event) == 400
        assert runtime.cudaEventRecord(event) == 400
    assert runtime.cudaEventCreateWithFlags(64)[1] == 1
    assert runtime.cudaEventDestroy(PyGPU.Event()) == 400
    with pytest.raises(TypeError):
        runtime.cudaEventDestroy(3)


# Tests of stream-ordered memory, which `cudaMallocAsync` allocates in the order of a stream.


def test_malloc_async_and_free_async_run_in_stream_order(stream: runtime.cudaStream_t) -> None:
    result = PyGPU.empty_pinned(64, "u1")
    for value in range(20):
        address, status = runtime.cudaMallocAsync(64, stream)
        assert status == 0
        assert address != 0
        assert runtime.cudaMemsetAsync(address, value, 64, stream) == 0
        assert runtime.cudaMemcpyAsync(result, address, 64, runtime.cudaMemcpyDeviceToHost, stream) == 0
        assert runtime.cudaFreeAsync(address, stream) == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    assert (result == 19).all()


def test_memory_freed_on_other_stream_is_reused_only_after_its_last_use(
    late: None, stream: runtime.cudaStream_t
) -> None:
    other, _ = runtime.cudaStreamCreateWithFlags(runtime.cudaStreamNonBlocking)
    ready, _ = runtime.cudaEventCreate()
    result = PyGPU.empty_pinned(4096, "u1")
    for value in range(5):
        address, _ = runtime.cudaMallocAsync(4096, stream)
        runtime.cudaMemsetAsync(address, value, 4096, stream)
        runtime.cudaEventRecord(ready, stream)
        runtime.cudaStreamWaitEvent(other, ready)
        runtime.cudaMemcpyAsync(result, address, 4096, runtime.cudaMemcpyDeviceToHost, other)
        assert runtime.cudaFreeAsync(address, other) == 0
        # This allocation probably reuses the freed memory on `stream`, which has not waited for the copy on `other`.
        again, _ = runtime.cudaMallocAsync(4096, stream)
        runtime.cudaMemsetAsync(again, 99, 4096, stream)
        assert runtime.cudaFreeAsync(again, stream) == 0
        assert runtime.cudaStreamSynchronize(other) == 0
        assert (result == value).all()


def test_stream_ordered_memory_can_be_freed_by_cuda_free(stream: runtime.cudaStream_t) -> None:
    address, _ = runtime.cudaMallocAsync(64, stream)
    assert runtime.cudaMemsetAsync(address, 1, 64, stream) == 0
    assert runtime.cudaFree(address) == 0
    assert runtime.cudaFree(address) == 1


def test_free_async_rejects_memory_not_from_malloc_async(stream: runtime.cudaStream_t) -> None:
    address, _ = runtime.cudaMalloc(64)
    assert runtime.cudaFreeAsync(address, stream) == 1
    assert runtime.cudaFree(address) == 0
    assert runtime.cudaFreeAsync(0, stream) == 0
    assert runtime.cudaFreeAsync(12345, stream) == 1
    assert runtime.cudaMallocAsync(0, stream) == (0, 0)
    for call in (lambda: runtime.cudaMallocAsync(-1), lambda: runtime.cudaFreeAsync(-1)):
        with pytest.raises(ValueError, match="-1"):
            call()
    with pytest.raises(TypeError):
        runtime.cudaMallocAsync(64, "stream")


def test_malloc_beyond_device_memory_returns_error_2(stream: runtime.cudaStream_t) -> None:
    for call in (runtime.cudaMallocAsync, lambda size, _: runtime.cudaMallocManaged(size)):
        assert call(1 << 60, stream) == (0, 2)


def test_malloc_async_during_capture_is_not_supported() -> None:
    graph = PyGPU.Graph()
    with graph:
        assert runtime.cudaMallocAsync(64, PyGPU.current_stream()) == (0, 801)


# Tests of managed memory.


def test_managed_memory_is_accessible_from_host_and_device(managed: int) -> None:
    on_host = numpy.ctypeslib.as_array((ctypes.c_uint8 * 4096).from_address(managed))
    on_host[:] = 3
    assert runtime.cudaPointerGetAttributes(managed)[0] == runtime.cudaPointerAttributes(
        runtime.cudaMemoryTypeManaged, 0, managed, managed
    )
    assert runtime.cudaMemset(managed, 5, 16) == 0
    assert runtime.cudaDeviceSynchronize() == 0
    assert on_host[:20].tolist() == [5] * 16 + [3] * 4


def test_managed_memory_attributes_are_reported_on_every_backend() -> None:
    names = runtime.cudaDeviceAttr
    for attribute in (
        names.cudaDevAttrManagedMemory,
        names.cudaDevAttrConcurrentManagedAccess,
        names.cudaDevAttrPageableMemoryAccess,
        names.cudaDevAttrDirectManagedMemAccessFromHost,
        names.cudaDevAttrUnifiedAddressing,
    ):
        value, status = runtime.cudaDeviceGetAttribute(attribute, 0)
        assert (status, value in (0, 1)) == (0, True)
    assert runtime.cudaDeviceGetAttribute(names.cudaDevAttrManagedMemory, 0)[0] == 1


@pytest.mark.provokes_findings
def test_prefetch_of_managed_memory_returns_status(managed: int, stream: runtime.cudaStream_t) -> None:
    expected = 0 if ON_CPU or moves_pages() or simulated_driver.driver() is not None else 101
    for place in (0, runtime.cudaCpuDeviceId):
        assert runtime.cudaMemPrefetchAsync(managed, 4096, place, stream) == expected
        assert runtime.cudaMemPrefetchAsync(managed, 4096, place) == expected
    assert runtime.cudaMemPrefetchAsync(managed, 4096, 99) == 101
    assert runtime.cudaMemPrefetchAsync(managed, 4096, -3) == 101
    plain, _ = runtime.cudaMalloc(64)
    assert runtime.cudaMemPrefetchAsync(plain, 64, 0) == 1
    assert runtime.cudaFree(plain) == 0


@pytest.mark.provokes_findings
def test_advice_on_managed_memory_returns_status(managed: int) -> None:
    expected = 0 if ON_CPU or moves_pages() or simulated_driver.driver() is not None else 101
    assert runtime.cudaMemAdvise(managed, 4096, runtime.cudaMemAdviseSetReadMostly, 0) == 0
    assert runtime.cudaMemAdvise(managed, 4096, runtime.cudaMemAdviseUnsetReadMostly, 0) == 0
    for advice in (runtime.cudaMemAdviseSetPreferredLocation, runtime.cudaMemAdviseSetAccessedBy):
        assert runtime.cudaMemAdvise(managed, 4096, advice, 0) == expected
        assert runtime.cudaMemAdvise(managed, 4096, advice + 1, 0) == expected
    assert runtime.cudaMemAdvise(managed, 4096, runtime.cudaMemAdviseSetPreferredLocation, -1) == 0
    for advice in (0, 7, -1):
        assert runtime.cudaMemAdvise(managed, 4096, advice, 0) == 1
    assert runtime.cudaMemAdvise(managed, 4096, runtime.cudaMemAdviseSetAccessedBy, 99) == 101
    plain, _ = runtime.cudaMalloc(64)
    assert runtime.cudaMemAdvise(plain, 64, runtime.cudaMemAdviseSetReadMostly, 0) == 1
    assert runtime.cudaFree(plain) == 0


def test_managed_array_accepts_prefetch_and_advice() -> None:
    array = PyGPU.driver.managed_zeros(1000, "f4")
    array.base.prefetch("host")
    array.base.prefetch(-1)
    array[:] = 2
    for place in (None, 0, PyGPU.Device(0)):
        array.base.prefetch(place, PyGPU.Stream())
    array.base.advise("read_mostly")
    array.base.advise("preferred_location", "host")
    array.base.advise("no_preferred_location")
    PyGPU.synchronize()
    assert array.sum() == 2000
    with pytest.raises(ValueError, match="'read_mostly'"):
        array.base.advise("mostly")
    with pytest.raises(ValueError, match="'host'"):
        array.base.prefetch("here")
    with pytest.raises(PyGPU.CudaError):
        array.base.prefetch(99)


def test_malloc_managed_rejects_wrong_flags_and_size() -> None:
    assert runtime.cudaMallocManaged(64, 9) == (0, 1)
    assert runtime.cudaMallocManaged(0) == (0, 0)
    address, status = runtime.cudaMallocManaged(64, runtime.cudaMemAttachHost)
    assert status == 0
    assert runtime.cudaFree(address) == 0


# Tests of 2D copies, and of copies between devices.


@pytest.mark.parametrize("asynchronous", [False, True])
def test_values_are_unchanged_after_memcpy_2d_to_device_and_back(
    asynchronous: bool, stream: runtime.cudaStream_t
) -> None:
    source = PyGPU.empty_pinned((5, 12), "u1")
    source[:] = numpy.arange(60).reshape(5, 12)
    memory, _ = runtime.cudaMalloc(5 * 32)
    other, _ = runtime.cudaMalloc(5 * 16)
    result = PyGPU.zeros_pinned((5, 9), "u1")

    def copy(*arguments: object) -> runtime.cudaError_t:
        if asynchronous:
            return runtime.cudaMemcpy2DAsync(*arguments, stream)  # type: ignore[arg-type]
        return runtime.cudaMemcpy2D(*arguments)  # type: ignore[arg-type]

    assert copy(memory, 32, source, 12, 7, 5, runtime.cudaMemcpyHostToDevice) == 0
    assert copy(other, 16, memory, 32, 7, 5, runtime.cudaMemcpyDeviceToDevice) == 0
    assert copy(result, 9, other, 16, 7, 5, runtime.cudaMemcpyDefault) == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    expected = numpy.zeros((5, 9), "u1")
    expected[:, :7] = source[:, :7]
    assert numpy.array_equal(result, expected)
    assert runtime.cudaFree(memory) == runtime.cudaFree(other) == 0


def test_memcpy_2d_rejects_wrong_pitch_and_bounds() -> None:
    host = numpy.zeros((4, 8), "u1")
    memory, _ = runtime.cudaMalloc(32)
    assert runtime.cudaMemcpy2D(memory, 4, host, 8, 5, 4) == 12
    assert runtime.cudaMemcpy2D(memory, 8, host, 4, 5, 4) == 12
    assert runtime.cudaMemcpy2D(memory, 8, host, 8, 8, 4, 9) == 21
    assert runtime.cudaMemcpy2D(0, 8, host, 8, 8, 4) == 1
    assert runtime.cudaMemcpy2D(memory, 9, host, 8, 8, 4) == 1, "beyond the end of the block"
    assert runtime.cudaMemcpy2D(memory, 8, host, 8, 0, 4) == 0
    assert runtime.cudaMemcpy2D(memory, 8, host, 8, 8, 0) == 0
    with pytest.raises(ValueError, match="do not fit"):
        runtime.cudaMemcpy2D(memory, 8, host, 9, 8, 4)
    host.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        runtime.cudaMemcpy2D(host, 8, memory, 8, 8, 4)
    assert runtime.cudaFree(memory) == 0


def test_memcpy_2d_copies_within_host(stream: runtime.cudaStream_t) -> None:
    source, result = numpy.arange(12, dtype="u1").reshape(3, 4), numpy.zeros((3, 2), "u1")
    assert runtime.cudaMemcpy2D(result, 2, source, 4, 2, 3, runtime.cudaMemcpyHostToHost) == 0
    assert result.tolist() == [[0, 1], [4, 5], [8, 9]]
    assert runtime.cudaMemcpy2DAsync(result, 2, source[:, 1:].copy(), 3, 2, 3, stream=stream) == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    assert result.tolist() == [[1, 2], [5, 6], [9, 10]]


def test_peer_copy_within_one_device_copies_values(stream: runtime.cudaStream_t) -> None:
    source, result = PyGPU.arange(16, dtype="u1"), PyGPU.zeros(16, "u1")
    assert runtime.cudaMemcpyPeer(result.ptr, 0, source.ptr, 0, 16) == 0
    assert result.tolist() == list(range(16))
    result.fill(0)
    assert runtime.cudaDeviceSynchronize() == 0
    assert runtime.cudaMemcpyPeerAsync(result.ptr, 0, source.ptr, 0, 16, stream) == 0
    assert runtime.cudaStreamSynchronize(stream) == 0
    assert result.tolist() == list(range(16))
    assert runtime.cudaMemcpyPeer(result.ptr, 99, source.ptr, 0, 16) == 101
    assert runtime.cudaMemcpyPeer(result.ptr, 0, source.ptr, -1, 16) == 101
    assert runtime.cudaMemcpyPeer(result.ptr, 0, 0, 0, 16) == 1
    assert runtime.cudaMemcpyPeer(0, 0, 0, 0, 0) == 0


@two_devices
def test_peer_copy_between_devices_copies_values() -> None:
    source = PyGPU.arange(1000, device=0)
    result = PyGPU.zeros(1000, source.dtype, device=1)
    PyGPU.synchronize(1)
    assert runtime.cudaMemcpyPeer(result.ptr, 1, source.ptr, 0, source.nbytes) == 0
    assert result.tolist() == source.tolist()
    assert runtime.cudaMemcpyPeer(result.ptr, 0, source.ptr, 0, source.nbytes) == 1, "that memory is of device 1"
    result.fill(0)
    PyGPU.synchronize(1)
    stream = PyGPU.Stream(device=0)
    assert runtime.cudaMemcpyPeerAsync(result.ptr, 1, source.ptr, 0, source.nbytes, stream) == 0
    stream.synchronize()
    assert result.tolist() == source.tolist()
    assert runtime.cudaMemcpy2D(result.ptr, 16, source.ptr, 16, 8, 4) == 801


# Tests of memory and events that processes share.

CONSUMER = """
import pickle, sys, numpy, PyGPU
handle = pickle.loads(bytes.fromhex(sys.argv[1]))
address, status = PyGPU.cudaIpcOpenMemHandle(handle)
assert status == 0, status
values = numpy.empty(16, "u1")
assert PyGPU.cudaMemcpy(values, address, 16) == 0
assert PyGPU.cudaMemset(address, 9, 16) == 0
assert PyGPU.cudaDeviceSynchronize() == 0
assert PyGPU.cudaIpcCloseMemHandle(address) == 0
print(values.tolist())
"""


@pytest.mark.starts_processes
def test_memory_is_shared_with_other_process() -> None:
    values = numpy.arange(16, dtype="u1")
    address, _ = runtime.cudaMalloc(16)
    assert runtime.cudaMemcpy(address, values, 16) == 0
    handle, status = runtime.cudaIpcGetMemHandle(address)
    assert len(handle) == 64
    if ON_CPU:
        assert status == 801
        assert handle == bytes(64)
    elif simulated_driver.driver() is None:
        assert status == 0
        command = [sys.executable, "-c", CONSUMER, pickle.dumps(handle).hex()]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert result.stdout.strip() == str(values.tolist()), result.stderr
        assert runtime.cudaMemcpy(values, address, 16) == 0
        assert (values == 9).all()
    else:  # On a simulated device, the process that created a handle can also open the handle.
        assert status == 0
        opened, status = runtime.cudaIpcOpenMemHandle(handle)
        assert status == 0
        assert runtime.cudaMemset(opened, 9, 16) == 0
        assert runtime.cudaMemcpy(values, address, 16) == 0
        assert (values == 9).all()
        assert runtime.cudaIpcCloseMemHandle(opened) == 0
        assert runtime.cudaIpcCloseMemHandle(opened) == 1
    assert runtime.cudaFree(address) == 0


@pytest.mark.provokes_findings
def test_invalid_ipc_memory_handle_returns_status() -> None:
    stream, _ = runtime.cudaStreamCreate()
    address, _ = runtime.cudaMallocAsync(64, stream)
    handle, status = runtime.cudaIpcGetMemHandle(address)
    assert handle == bytes(64)
    assert status == (801 if ON_CPU else 1)
    assert runtime.cudaFreeAsync(address, stream) == 0
    opened, status = runtime.cudaIpcOpenMemHandle(bytes(64))
    assert opened == 0
    assert status != 0
    assert runtime.cudaIpcOpenMemHandle(bytes(64), 0) == (0, 1)
    assert runtime.cudaIpcCloseMemHandle(0) == 1
    with pytest.raises(ValueError, match="64 bytes, not 3"):
        runtime.cudaIpcOpenMemHandle(b"abc")


@pytest.mark.provokes_findings
def test_ipc_event_calls_return_status() -> None:
    event, made = runtime.cudaEventCreateWithFlags(runtime.cudaEventInterprocess | runtime.cudaEventDisableTiming)
    handle, status = runtime.cudaIpcGetEventHandle(event)
    assert len(handle) == 64
    assert (made, status) == ((801, 400) if ON_CPU else (0, 0))
    opened, status = runtime.cudaIpcOpenEventHandle(bytes(64))
    assert status != 0
    assert opened.handle == 0
    assert runtime.cudaEventRecord(opened) == 400


# Tests of attributes.


def test_device_attributes_equal_fields_of_device_properties() -> None:
    attribute = runtime.cudaDeviceAttr
    known = PyGPU.device_properties(0)
    for number, name in (
        (attribute.cudaDevAttrWarpSize, "warp_size"),
        (attribute.cudaDevAttrMaxThreadsPerBlock, "max_threads_per_block"),
        (attribute.cudaDevAttrMultiProcessorCount, "multiprocessor_count"),
    ):
        assert runtime.cudaDeviceGetAttribute(number, 0) == (known[name], 0)
    assert runtime.cudaDeviceGetAttribute(attribute.cudaDevAttrWarpSize, 99) == (0, 101)
    assert runtime.cudaDeviceGetAttribute(0, 0) == (0, 1)
    value, status = runtime.cudaDeviceGetAttribute(1_000_000, 0)
    assert (value, bool(status)) == (0, True)
    with pytest.raises(TypeError):
        runtime.cudaDeviceGetAttribute("warp", 0)


def test_device_attribute_numbers_equal_those_of_pycuda_driver() -> None:
    drivers = {
        name.replace("_", "").lower(): number for name, number in PyGPU.driver.device_attribute.__members__.items()
    }
    mine = {
        name.removeprefix("cudaDevAttr").lower(): number for name, number in runtime.cudaDeviceAttr.__members__.items()
    }
    same = drivers.keys() & mine.keys()
    assert len(same) > 30
    assert {name: mine[name] for name in same} == {name: drivers[name] for name in same}


def test_pointer_attributes_report_memory_type() -> None:
    plain, _ = runtime.cudaMalloc(64)
    pinned, _ = runtime.cudaMallocHost(64)
    array = PyGPU.zeros(4)
    unregistered = (runtime.cudaMemoryTypeUnregistered, runtime.cudaInvalidDeviceId)

    def type_of(address: object) -> tuple[int, int]:
        found, status = runtime.cudaPointerGetAttributes(address)  # type: ignore[arg-type]
        assert status == 0
        return found.type, found.device

    assert type_of(plain) == type_of(plain + 63) == type_of(array.ptr) == (runtime.cudaMemoryTypeDevice, 0)
    assert runtime.cudaPointerGetAttributes(plain)[0].devicePointer == plain
    assert runtime.cudaPointerGetAttributes(plain)[0].hostPointer == 0
    assert type_of(pinned) == (runtime.cudaMemoryTypeHost, 0)
    assert runtime.cudaPointerGetAttributes(pinned)[0].hostPointer == pinned
    assert type_of(numpy.zeros(3)) == type_of(0) == unregistered
    assert runtime.cudaFree(plain) == runtime.cudaFreeHost(pinned) == 0
    assert type_of(plain) == unregistered
    with pytest.raises(TypeError):
        runtime.cudaPointerGetAttributes("address")


def test_function_attributes_equal_attributes_of_kernel() -> None:
    kernel = PyGPU.Kernel("__global__ void one(int *x) { *x = 1; }")
    for func in (kernel, PyGPU.driver.Function(kernel)):
        found, status = runtime.cudaFuncGetAttributes(func)
        assert status == 0
        assert found.maxThreadsPerBlock > 0
        assert found.sharedSizeBytes == 0
        assert found.numRegs == kernel.num_regs
    with pytest.raises(TypeError, match="Kernel"):
        runtime.cudaFuncGetAttributes(len)  # type: ignore[arg-type]


def test_use_hip_returns_whether_current_backend_is_hip() -> None:
    assert PyGPU.use_hip is (PyGPU.backend_name() == "hip")
    assert PyGPU.cuda_enabled is True
