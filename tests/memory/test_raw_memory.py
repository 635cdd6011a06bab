"""Test functions that use memory by raw address, memory statistics, and process exit."""

import ctypes
import gc
import subprocess
import sys

import numpy as np
import pytest

import PyGPU
from PyGPU import _core
from support import at_once, print_each

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")
two_devices = pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")
KINDS = ["host_to_host", "host_to_device", "device_to_host", "device_to_device", "default"]

NO_NUMBERS = [None, 1.0, "1", True, b"\x01", object()]
OUT_OF_RANGE = [-1, 2**64, -(2**200)]


def bytes_at(address: int, count: int) -> np.ndarray:
    """Return the bytes at an address."""
    values = np.empty(count, np.uint8)
    _core.raw_copy(values.ctypes.data, address, count)
    return values


@pytest.mark.parametrize("nbytes", [1, 7, 4096, np.int64(3)])
def test_memory_is_allocated_filled_copied_and_freed(nbytes: int) -> None:
    address = _core.raw_allocate(nbytes)
    assert address != 0
    _core.raw_fill(address, 0xA5, nbytes)
    assert (bytes_at(address, int(nbytes)) == 0xA5).all()
    _core.raw_free(address)


@pytest.mark.parametrize("allocate", [_core.raw_allocate, _core.host_allocate])
def test_allocation_of_zero_bytes_needs_no_memory(allocate) -> None:
    assert allocate(0) == 0


@pytest.mark.parametrize("free", [_core.raw_free, _core.host_free])
def test_free_of_address_zero_does_nothing(free) -> None:
    assert free(0) is None


@pytest.mark.parametrize(
    ("allocate", "free"), [(_core.raw_allocate, _core.raw_free), (_core.host_allocate, _core.host_free)]
)
def test_second_free_of_same_address_raises_cuda_error(allocate, free) -> None:
    address = allocate(64)
    free(address)
    with pytest.raises(PyGPU.CudaError, match=hex(address)) as caught:
        free(address)
    assert caught.value.code == 1
    assert caught.value.operation.startswith("cudaFree")


def test_free_of_unknown_address_raises_cuda_error() -> None:
    device, host = _core.raw_allocate(64), _core.host_allocate(64)
    values = np.zeros(8)
    for free, address in (
        (_core.raw_free, values.ctypes.data),
        (_core.raw_free, device + 1),
        (_core.raw_free, host),
        (_core.host_free, device),
        (_core.raw_free, 2**64 - 1),
    ):
        with pytest.raises(PyGPU.CudaError) as caught:
            free(address)
        assert caught.value.code == 1
    _core.raw_free(device)
    _core.host_free(host)


def test_raw_free_of_array_memory_raises_cuda_error() -> None:
    array = PyGPU.zeros(8)
    with pytest.raises(PyGPU.CudaError):
        _core.raw_free(array.ptr)
    assert (array.get() == 0).all()


@pytest.mark.parametrize(
    "call",
    [
        _core.raw_allocate,
        _core.raw_free,
        _core.host_allocate,
        _core.host_free,
        _core.host_unregister,
        lambda argument: _core.host_register(argument, 8),
        lambda argument: _core.host_register(8, argument),
        lambda argument: _core.raw_copy(argument, 8, 1),
        lambda argument: _core.raw_copy(8, argument, 1),
        lambda argument: _core.raw_copy(8, 8, argument),
        lambda argument: _core.raw_fill(argument, 0, 1),
        lambda argument: _core.raw_fill(8, argument, 1),
        lambda argument: _core.raw_fill(8, 0, argument),
        _core.error_name,
        _core.error_text,
        PyGPU.set_memory_release_threshold,
    ],
)
def test_raw_memory_functions_reject_non_integers(call) -> None:
    for argument in print_each(NO_NUMBERS):
        with pytest.raises(TypeError, match="is an int, not"):
            call(argument)


@pytest.mark.parametrize(
    "call",
    [
        _core.raw_allocate,
        _core.raw_free,
        _core.host_allocate,
        _core.host_free,
        _core.host_unregister,
        lambda argument: _core.host_register(argument, 8),
        lambda argument: _core.host_register(8, argument),
        lambda argument: _core.raw_copy(argument, 8, 1),
        lambda argument: _core.raw_copy(8, argument, 1),
        lambda argument: _core.raw_copy(8, 8, argument),
        lambda argument: _core.raw_fill(argument, 0, 1),
        lambda argument: _core.raw_fill(8, argument, 1),
        lambda argument: _core.raw_fill(8, 0, argument),
        _core.error_name,
        _core.error_text,
        PyGPU.set_memory_release_threshold,
        PyGPU.trim_memory,
    ],
)
def test_raw_memory_functions_reject_impossible_address_or_size(call) -> None:
    for argument in print_each(OUT_OF_RANGE):
        with pytest.raises(ValueError, match=r"negative|bits|0 to 255"):
            call(argument)


def test_too_large_allocation_raises_memory_error() -> None:
    gc.collect()  # Destroy objects of earlier tests, before the statistics are compared.
    before = PyGPU.memory_statistics()["bytes"]
    for allocate in (_core.raw_allocate, _core.host_allocate):
        with pytest.raises(MemoryError):
            allocate(2**62)
    assert PyGPU.memory_statistics()["bytes"] == before


def test_memory_is_allocated_on_requested_device() -> None:
    address = _core.raw_allocate(16, "cpu")
    ctypes.memset(address, 7, 16)
    assert ctypes.string_at(address, 16) == b"\x07" * 16
    _core.raw_free(address)
    with pytest.raises(ValueError, match="device 63"):
        _core.raw_allocate(16, 63)


@pytest.mark.parametrize("flags", [{}, {"portable": True}, {"mapped": True}, {"write_combined": True}])
def test_pinned_memory_is_readable_and_writable_by_host(flags: dict) -> None:
    address = _core.host_allocate(16, **flags)
    ctypes.memset(address, 9, 16)
    assert ctypes.string_at(address, 16) == b"\x09" * 16
    _core.host_free(address)


@pytest.mark.parametrize("call", [_core.host_allocate, lambda size, **flags: _core.host_register(4096, size, **flags)])
def test_host_memory_functions_reject_flag_that_is_no_bool(call) -> None:
    with pytest.raises(TypeError):
        call(16, portable=1)


def page_aligned(nbytes: int) -> np.ndarray:
    """Return host memory that begins at a page boundary."""
    block = np.zeros(nbytes + 4096, np.uint8)
    first = -block.ctypes.data % 4096
    return block[first : first + nbytes]


def test_host_memory_is_registered_and_unregistered() -> None:
    block = page_aligned(8192)
    address = block.ctypes.data
    _core.host_register(address, block.nbytes, portable=True)
    with pytest.raises(PyGPU.CudaError) as caught:
        _core.host_register(address, block.nbytes)
    assert caught.value.code == 712
    _core.host_unregister(address)
    with pytest.raises(PyGPU.CudaError) as caught:
        _core.host_unregister(address)
    assert caught.value.code == 713
    _core.host_register(address, block.nbytes)
    _core.host_unregister(address)


@pytest.mark.parametrize(("address", "nbytes"), [(0, 8), (4096, 0), (2**64 - 4, 8)])
def test_host_register_rejects_address_without_memory(address: int, nbytes: int) -> None:
    with pytest.raises(ValueError, match="no memory to pin"):
        _core.host_register(address, nbytes)


@pytest.mark.parametrize("stream", [None, 0, "own"])
@pytest.mark.parametrize("explicit", [False, True])
def test_bytes_are_unchanged_after_copy_to_device_and_back(stream: object, explicit: bool) -> None:
    if stream == "own":
        stream = PyGPU.Stream(non_blocking=True)
    source, result = np.random.default_rng(1).integers(0, 256, 1000, np.uint8), np.zeros(1000, np.uint8)
    first, second = _core.raw_allocate(1000), _core.raw_allocate(1000)
    for to, origin, kind in (
        (first, source.ctypes.data, "host_to_device"),
        (second, first, "device_to_device"),
        (result.ctypes.data, second, "device_to_host"),
    ):
        _core.raw_copy(to, origin, 1000, kind if explicit else "default", stream)
    PyGPU.synchronize()
    assert (result == source).all()
    _core.raw_free(first)
    _core.raw_free(second)


@pytest.mark.parametrize("stream", [None, 0, "own"])
@pytest.mark.parametrize("kind", ["host_to_host", "default"])
def test_ranges_of_copy_within_host_memory_may_overlap(kind: str, stream: object) -> None:
    if stream == "own":
        stream = PyGPU.Stream()
    values = np.arange(100, dtype=np.uint8)
    _core.raw_copy(values.ctypes.data + 10, values.ctypes.data, 90, kind, stream)
    assert (values[10:] == np.arange(90)).all()


def test_pinned_copies_follow_stream_order() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    source, result = PyGPU.zeros_pinned(1000, np.uint8), PyGPU.zeros_pinned(1000, np.uint8)
    source[:] = np.arange(1000) % 251
    address = _core.raw_allocate(1000)
    _core.raw_copy(address, source.ctypes.data, 1000, stream=stream)
    _core.raw_copy(result.ctypes.data, address, 1000, stream=stream)
    stream.synchronize()
    assert (result == source).all()
    _core.raw_free(address)


def test_host_copy_on_stream_waits_for_earlier_work_on_stream() -> None:
    stream = PyGPU.Stream(non_blocking=True)
    landing, result = PyGPU.zeros_pinned(1 << 20, np.uint8), np.zeros(1 << 20, np.uint8)
    address = _core.raw_allocate(landing.nbytes)
    _core.raw_fill(address, 3, landing.nbytes, stream)
    _core.raw_copy(landing.ctypes.data, address, landing.nbytes, "device_to_host", stream)
    _core.raw_copy(result.ctypes.data, landing.ctypes.data, landing.nbytes, "host_to_host", stream)
    assert (result == 3).all()
    _core.raw_free(address)


@pytest.mark.parametrize("kind", ["", "HOST_TO_HOST", "host", "default "])
def test_raw_copy_error_for_unknown_kind_lists_known_kinds(kind: str) -> None:
    values = np.zeros(8, np.uint8)
    with pytest.raises(ValueError, match="'device_to_device'"):
        _core.raw_copy(values.ctypes.data, values.ctypes.data, 8, kind)


@pytest.mark.parametrize("kind", [0, b"default", object()])
def test_raw_copy_rejects_kind_that_is_no_text(kind: object) -> None:
    with pytest.raises(TypeError):
        _core.raw_copy(8, 8, 8, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_copy_of_bytes_at_address_zero_raises(kind: str) -> None:
    values = np.zeros(8, np.uint8)
    for to, origin in ((0, values.ctypes.data), (values.ctypes.data, 0)):
        with pytest.raises(ValueError, match="cannot hold 8 bytes"):
            _core.raw_copy(to, origin, 8, kind)
    with pytest.raises(ValueError, match="cannot hold 8 bytes"):
        _core.raw_fill(0, 0, 8)
    with pytest.raises(ValueError, match="cannot hold"):
        _core.raw_fill(2**64 - 4, 0, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_zero_bytes_are_copied_between_null_addresses(kind: str) -> None:
    assert _core.raw_copy(0, 0, 0, kind) is None
    assert _core.raw_fill(0, 0, 0) is None


@pytest.mark.parametrize("value", [-1, 256, 2**40])
def test_raw_fill_rejects_value_larger_than_one_byte(value: int) -> None:
    with pytest.raises(ValueError, match="0 to 255"):
        _core.raw_fill(4096, value, 4)


@gpu_only
@pytest.mark.provokes_findings
def test_gpu_driver_rejects_host_address_for_device_copy_and_fill() -> None:
    values = np.zeros(64, np.uint8)
    with pytest.raises(PyGPU.CudaError) as caught:
        _core.raw_copy(values.ctypes.data, values.ctypes.data, 64, "device_to_device")
    assert caught.value.code == 1
    with pytest.raises(PyGPU.CudaError):
        _core.raw_fill(values.ctypes.data, 1, 64)


@two_devices
@pytest.mark.parametrize("with_stream", [False, True])
@pytest.mark.parametrize("kind", ["default", "device_to_device"])
def test_bytes_are_copied_between_devices(kind: str, with_stream: bool) -> None:
    source, target = _core.raw_allocate(256, 0), _core.raw_allocate(256, 1)
    stream = PyGPU.Stream(device=0) if with_stream else None
    _core.raw_fill(source, 77, 256)
    _core.raw_copy(target, source, 256, kind, stream)
    PyGPU.synchronize(0)
    assert (bytes_at(target, 256) == 77).all()
    with pytest.raises(ValueError, match="runs on a stream of"):
        _core.raw_copy(target, source, 256, kind, PyGPU.Stream(device=1))
    _core.raw_free(source)
    _core.raw_free(target)


def test_error_codes_have_names_and_messages() -> None:
    assert "invalid" in _core.error_name(1).lower()
    assert "invalid argument" in _core.error_text(1)
    assert isinstance(_core.error_name(2**32 - 1), str)
    with pytest.raises(ValueError, match="no driver's"):
        _core.error_name(2**32)


def test_many_threads_allocate_and_free() -> None:
    def work(value: int) -> None:
        for size in range(1, 60):
            address = _core.raw_allocate(size)
            _core.raw_fill(address, value, size)
            assert (bytes_at(address, size) == value).all()
            _core.raw_free(address)

    at_once(4, work)


def test_memory_statistics_count_live_memory() -> None:
    before = PyGPU.memory_statistics()
    assert set(before) == {
        "bytes", "peak", "count", "pool_reserved", "pool_reserved_peak", "pool_used", "pool_used_peak",
        "recycled_bytes", "pinned_bytes", "host_cache_bytes",
    }  # fmt: skip
    address = _core.raw_allocate(1 << 20)
    during = PyGPU.memory_statistics(PyGPU.Device())
    _core.raw_free(address)
    after = PyGPU.memory_statistics()
    assert during["bytes"] == before["bytes"] + (1 << 20)
    assert during["count"] == before["count"] + 1
    assert during["peak"] >= during["bytes"]
    assert after["bytes"] == before["bytes"]
    assert after["count"] == before["count"]


def test_memory_release_threshold_is_value_that_was_set() -> None:
    before = PyGPU.memory_release_threshold()
    for threshold in (0, 2**20, 2**64 - 1):
        PyGPU.set_memory_release_threshold(threshold, 0)
        assert PyGPU.memory_release_threshold(0) == threshold
    PyGPU.set_memory_release_threshold(before)


def test_trim_memory_releases_unused_memory() -> None:
    _core.raw_free(_core.raw_allocate(1 << 24))
    PyGPU.synchronize()
    PyGPU.trim_memory()
    statistics = PyGPU.memory_statistics()
    assert statistics["pool_reserved"] >= statistics["pool_used"]
    assert PyGPU.trim_memory(1 << 20, "cpu") is None
    with pytest.raises(TypeError):
        PyGPU.trim_memory(0.5)


EXIT = """
import atexit, PyGPU
from PyGPU import _core
kept = [PyGPU.Stream(), PyGPU.Event().record(), PyGPU.zeros(10), PyGPU.zeros_pinned(10), _core.raw_allocate(10)]
kept.append(PyGPU.Stream.from_handle(kept[0].handle, owner=kept[0]))
atexit.register(kept.clear)
class Late:
    def __del__(self):
        PyGPU.synchronize()
late = Late()
late.cycle = late
print("ok")
"""


def test_process_with_live_memory_exits_without_error() -> None:
    done = subprocess.run([sys.executable, "-c", EXIT], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
