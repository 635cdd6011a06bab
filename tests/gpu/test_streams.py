"""Test hazard tracking with delayed streams: the values must be as if all work ran in program order."""

from __future__ import annotations

import contextlib
import gc
import threading
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, SECONDS, Interface, Producer, no_wait
from installed.numpy_version import since_numpy

support.require_gpu()


@pytest.fixture
def result() -> PyGPU.GPUArray:
    """Return an array of zeros, into which the test's kernels copy the values that they read."""
    array = PyGPU.zeros(COUNT, "float32")
    PyGPU.synchronize()
    return array


def late_write(kernels: Kernels, stream: PyGPU.Stream, array: PyGPU.GPUArray, value: float) -> None:
    """Fill an array on a stream that is busy for `SECONDS`, so that the fill is still pending when the function
    returns."""
    with stream, no_wait():
        kernels.spin(SECONDS, stream.handle)
        array.fill(value)


def has_values(array: PyGPU.GPUArray, value: float) -> bool:
    return bool((array.get() == value).all())


# Tests of the order between PyGPU's own operations.


def test_copy_on_other_stream_waits_for_unfinished_write(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 2)
    with other, no_wait():
        copied = block.copy()
    assert not slow.query(), "the write was not late: this test shows nothing"
    assert has_values(copied, 2)


def test_get_on_default_stream_waits_for_unfinished_write(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 3)
    assert has_values(block, 3)


def test_copy_of_view_waits_for_unfinished_write_to_same_view(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block[: COUNT // 2], 4)
    with other:
        copied = block[: COUNT // 2].copy()
    assert has_values(copied, 4)


def test_write_waits_for_unfinished_read(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    with slow:
        kernels.spin(SECONDS, slow.handle)
        copied = block.copy()
    with other, no_wait():
        block.fill(5)
    assert has_values(copied, 1)
    assert has_values(block, 5)


def test_write_waits_for_unfinished_reads_on_three_streams(kernels: Kernels, block: PyGPU.GPUArray) -> None:
    copies = []
    for delay in (SECONDS, SECONDS / 2, 0.0):
        with PyGPU.Stream(non_blocking=True) as stream:
            kernels.spin(delay, stream.handle)
            copies.append(block.copy())
    block.fill(6)
    assert all(has_values(copied, 1) for copied in copies)
    assert has_values(block, 6)


def test_upload_waits_for_unfinished_read(kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray) -> None:
    with slow:
        kernels.spin(SECONDS, slow.handle)
        copied = block.copy()
    block.set(numpy.full(COUNT, 7, numpy.float32))
    assert has_values(copied, 1)
    assert has_values(block, 7)


# Tests of other libraries' kernels, which use raw addresses; the program records these uses by `record_stream`.


def test_read_waits_for_kernel_write_recorded_by_record_stream(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    kernels.spin(SECONDS, slow.handle)
    kernels.fill(block.ptr, 8, COUNT, slow.handle)
    block.record_stream(slow)
    with other, no_wait():
        copied = block.copy()
    assert has_values(copied, 8)


@pytest.mark.parametrize("as_argument", [lambda stream: stream, lambda stream: stream.handle], ids=["object", "handle"])
def test_memory_is_not_reused_before_recorded_kernel_read_ends(
    kernels: Kernels, slow: PyGPU.Stream, result: PyGPU.GPUArray, as_argument: Any
) -> None:
    values = PyGPU.full(COUNT, 9, "float32")
    PyGPU.synchronize()
    kernels.spin(SECONDS, slow.handle)
    kernels.read(result.ptr, values.ptr, COUNT, slow.handle)
    values.record_stream(as_argument(slow))
    with no_wait():
        del values
        overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(8)]
    result.record_stream(slow)
    assert has_values(result, 9)
    del overwriting


def test_read_waits_for_work_on_stream_that_was_dropped(kernels: Kernels, block: PyGPU.GPUArray) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    late_write(kernels, stream, block, 2)
    del stream
    gc.collect()
    assert has_values(block, 2)


# Tests of the export by DLPack and by the interface dictionary.


@pytest.mark.parametrize("version", [None, (1, 0), (1, 3)])
def test_dlpack_export_makes_consumer_stream_wait_but_not_host(
    kernels: Kernels,
    slow: PyGPU.Stream,
    other: PyGPU.Stream,
    block: PyGPU.GPUArray,
    result: PyGPU.GPUArray,
    version: tuple[int, int] | None,
) -> None:
    late_write(kernels, slow, block, 3)
    with no_wait():
        capsule = block.__dlpack__(stream=other.handle, max_version=version)
        kernels.read(result.ptr, block.ptr, COUNT, other.handle)
    assert not slow.query(), "the write was not late: this test shows nothing"
    other.synchronize()
    assert has_values(result, 3)
    del capsule


DEFAULT_STREAMS = [(None, 0), (0, 0)] if support.on_hip() else [(None, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(("stream", "handle"), DEFAULT_STREAMS)
def test_dlpack_export_to_default_stream_makes_that_stream_wait(
    kernels: Kernels,
    slow: PyGPU.Stream,
    block: PyGPU.GPUArray,
    result: PyGPU.GPUArray,
    stream: int | None,
    handle: int,
) -> None:
    late_write(kernels, slow, block, 4)
    with no_wait():
        capsule = block.__dlpack__(stream=stream)
        kernels.read(result.ptr, block.ptr, COUNT, handle)
    PyGPU.synchronize()
    assert has_values(result, 4)
    del capsule


def test_dlpack_export_with_stream_minus_1_makes_no_stream_wait(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 5)
    with no_wait():
        block.__dlpack__(stream=-1)
    assert other.query()


def test_dlpack_copy_follows_order_of_consumer_stream(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 6)
    with no_wait():
        capsule = block.__dlpack__(stream=other.handle, max_version=(1, 0), copy=True)
    copied = PyGPU.from_dlpack(capsule)
    assert copied.ptr != block.ptr
    other.synchronize()
    assert has_values(copied, 6)


@since_numpy("2.1", "device= of from_dlpack")
def test_dlpack_export_to_host_has_values_of_unfinished_write(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 7)
    assert (numpy.from_dlpack(block, device="cpu") == 7).all()


@pytest.mark.parametrize("stream", [1 if support.on_hip() else -3, -2, "1", 1.0, True])
def test_dlpack_export_rejects_stream_forbidden_by_standard(block: PyGPU.GPUArray, stream: Any) -> None:
    with pytest.raises((ValueError, TypeError, BufferError)):
        block.__dlpack__(stream=stream)


needs_named_streams = pytest.mark.skipif(
    support.on_hip(), reason="the interface has no streams on ROCm: the work is over before it is handed out"
)


@needs_named_streams
def test_cuda_array_interface_has_stream_of_unfinished_write(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray, result: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 8)
    with no_wait():
        named = block.__cuda_array_interface__["stream"]
    assert named not in (None, 0), "the consumer learns that it need not wait"
    with no_wait():
        other.wait_stream(PyGPU.Stream.from_handle(named))
        kernels.read(result.ptr, block.ptr, COUNT, other.handle)
    other.synchronize()
    assert has_values(result, 8)


@needs_named_streams
def test_interface_dictionary_has_stream_of_last_write_not_of_last_read(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray, result: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 9)
    with other:
        copied = block.copy()
    named = block.__cuda_array_interface__["stream"]
    consumer = PyGPU.Stream(non_blocking=True)
    consumer.wait_stream(named)
    kernels.read(result.ptr, block.ptr, COUNT, consumer.handle)
    consumer.synchronize()
    assert has_values(result, 9)
    assert has_values(copied, 9)


def test_interface_stream_handle_is_valid_after_stream_object_is_dropped(kernels: Kernels) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    with stream:
        array = PyGPU.zeros(5, "float32")
    named = array.__cuda_array_interface__["stream"]
    del stream
    gc.collect()
    if named is not None:
        PyGPU.Stream.from_handle(named).synchronize()
    assert array.tolist() == [0] * 5


# Tests of the import by the interface dictionary and by DLPack.


def test_import_waits_on_device_for_stream_in_interface_dictionary(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    kernels.spin(SECONDS, slow.handle)
    kernels.fill(block.ptr, 2, COUNT, slow.handle)
    with no_wait():
        shared = PyGPU.asarray(Interface(block, stream=slow.handle))
    assert shared.ptr == block.ptr
    assert has_values(shared, 2)


def test_dlpack_import_passes_current_stream_to_producer(other: PyGPU.Stream, block: PyGPU.GPUArray) -> None:
    producer = Producer(block)
    shared = PyGPU.from_dlpack(producer)
    assert shared.ptr == block.ptr
    assert producer.requests.get("stream") in (None, 0 if support.on_hip() else 1)
    with other:
        PyGPU.from_dlpack(producer)
    assert producer.requests["stream"] == other.handle
    assert type(producer.requests["stream"]) is int


def test_dlpack_import_waits_for_unfinished_write_of_producer(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 3)
    with other, no_wait():
        shared = PyGPU.from_dlpack(Producer(block))
        copied = shared.copy()
    assert has_values(copied, 3)


def test_memory_released_by_dlpack_consumer_is_not_reused_before_work_ends(
    kernels: Kernels, slow: PyGPU.Stream, result: PyGPU.GPUArray
) -> None:
    values = PyGPU.full(COUNT, 4, "float32")
    PyGPU.synchronize()
    capsule = values.__dlpack__(stream=slow.handle)
    kernels.spin(SECONDS, slow.handle)
    kernels.read(result.ptr, values.ptr, COUNT, slow.handle)
    # A consumer such as PyTorch may delete the capsule while a kernel still reads the memory. On HIP, PyGPU then waits
    # for the device, because HIP has no event that covers all streams.
    with contextlib.nullcontext() if support.on_hip() else no_wait():
        del values, capsule
        gc.collect()
        overwriting = [PyGPU.full(COUNT, -1, "float32") for _ in range(8)]
    slow.synchronize()
    assert has_values(result, 4)
    del overwriting


# Tests of copies from and to the host.


@pytest.mark.parametrize("count", [5, 1000, COUNT])
def test_pageable_memory_changed_after_async_upload_has_no_effect(
    kernels: Kernels, slow: PyGPU.Stream, count: int
) -> None:
    host = numpy.full(count, 5, numpy.float32)
    kernels.spin(SECONDS, slow.handle)
    array = PyGPU.to_gpu_async(host, stream=slow)
    host[:] = -1
    del host
    assert has_values(array, 5)


def test_pinned_memory_dropped_during_async_upload_is_not_reused(kernels: Kernels, slow: PyGPU.Stream) -> None:
    host = PyGPU.empty_pinned(COUNT, "float32")
    host[:] = 6
    with no_wait():
        kernels.spin(SECONDS, slow.handle)
        array = PyGPU.to_gpu_async(host, stream=slow)
        del host
    for _ in range(4):
        PyGPU.empty_pinned(COUNT, "float32")[:] = -1
    assert has_values(array, 6)


def test_async_download_is_complete_after_stream_synchronization(
    kernels: Kernels, slow: PyGPU.Stream, block: PyGPU.GPUArray
) -> None:
    late_write(kernels, slow, block, 7)
    host = PyGPU.empty_pinned(COUNT, "float32")
    with no_wait():
        block.get_async(slow, host)
    slow.synchronize()
    assert (host == 7).all()


# Tests of streams and events.


def test_events_measure_duration_of_kernel(kernels: Kernels, slow: PyGPU.Stream) -> None:
    start, end = PyGPU.Event(), PyGPU.Event()
    start.record(slow)
    kernels.spin(SECONDS, slow.handle)
    end.record(slow)
    assert not end.query()
    assert not slow.query()
    end.synchronize()
    assert end.query()
    assert 0.99 * SECONDS <= start.elapsed_time(end) / 1000 <= 2 * SECONDS


def test_wait_for_event_makes_stream_wait_for_other_stream(
    kernels: Kernels, slow: PyGPU.Stream, other: PyGPU.Stream, block: PyGPU.GPUArray, result: PyGPU.GPUArray
) -> None:
    kernels.spin(SECONDS, slow.handle)
    kernels.fill(block.ptr, 8, COUNT, slow.handle)
    with no_wait():
        other.wait_event(slow.record())
        kernels.read(result.ptr, block.ptr, COUNT, other.handle)
    other.synchronize()
    assert has_values(result, 8)


def test_blocking_and_default_stream_wait_for_each_other(
    kernels: Kernels, block: PyGPU.GPUArray, result: PyGPU.GPUArray
) -> None:
    stream = PyGPU.Stream()
    kernels.spin(SECONDS, stream.handle)
    kernels.fill(block.ptr, 9, COUNT, stream.handle)
    kernels.read(result.ptr, block.ptr, COUNT)
    PyGPU.default_stream().synchronize()
    assert has_values(result, 9)


def test_current_stream_is_separate_for_each_thread(slow: PyGPU.Stream) -> None:
    seen: list[PyGPU.Stream] = []
    with slow:
        thread = threading.Thread(target=lambda: seen.append(PyGPU.current_stream()))
        thread.start()
        thread.join()
        assert PyGPU.current_stream() == slow
    assert seen[0].is_default
    assert PyGPU.current_stream().is_default


def test_threads_with_separate_streams_do_not_change_each_others_values() -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        with PyGPU.Stream(non_blocking=True):
            for turn in range(50):
                array = PyGPU.full(4096, number * 1000 + turn, "int32")
                copied = array[::2].copy()
                del array
                if not (copied.get() == number * 1000 + turn).all():
                    failures.append(f"thread {number}, turn {turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_stream_synchronize_releases_gil(kernels: Kernels, slow: PyGPU.Stream) -> None:
    kernels.spin(SECONDS, slow.handle)
    waiting = threading.Thread(target=slow.synchronize)
    waiting.start()
    turns = 0
    while waiting.is_alive():
        turns += 1
    assert turns > 100, "no Python ran while another thread waited for the device"
