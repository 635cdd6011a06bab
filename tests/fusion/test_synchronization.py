"""Test that calls of streams, events, devices and graphs first launch all operations that were deferred earlier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dlpack_forge
import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, waiting

HOST = np.linspace(-1, 2, 12).reshape(3, 4)


class SyncObjects:
    """Create the streams, events and other objects that the calls in `MARKS` use, before any operation is pending."""

    def __init__(self) -> None:
        self.stream = PyGPU.Stream()
        self.other = PyGPU.Stream(non_blocking=True)
        self.event = PyGPU.Event()
        self.first = PyGPU.Event(timing=True).record()
        self.last = PyGPU.Event(timing=True).record()
        self.device = PyGPU.Device()
        self.entered = PyGPU.Stream()
        self.graph = PyGPU.Graph(self.stream)
        self.target = PyGPU.zeros(3)
        with self.graph:
            self.target.fill(1)
        PyGPU.synchronize()


def inside(place: SyncObjects) -> None:
    with place.stream:
        assert waiting() == 0


def captured(place: SyncObjects) -> None:
    place.stream.begin_capture()
    assert waiting() == 0
    place.stream.end_capture()


MARKS: dict[str, Callable[[SyncObjects], Any]] = {
    "PyGPU.synchronize": lambda _: PyGPU.synchronize(),
    "stream.synchronize": lambda place: place.stream.synchronize(),
    "stream.query": lambda place: place.stream.query(),
    "default_stream.synchronize": lambda _: PyGPU.default_stream().synchronize(),
    "device.synchronize": lambda place: place.device.synchronize(),
    "event.record": lambda place: place.event.record(),
    "event.record of a stream": lambda place: place.event.record(place.other),
    "stream.record": lambda place: place.stream.record(),
    "event.query": lambda place: place.first.query(),
    "event.synchronize": lambda place: place.first.synchronize(),
    "elapsed_time": lambda place: place.first.elapsed_time(place.last),
    "wait_event": lambda place: place.stream.wait_event(place.first),
    "wait_stream": lambda place: place.stream.wait_stream(place.other),
    "with stream": inside,
    "stream.__exit__": lambda place: place.entered.__exit__(None, None, None),
    "with device": lambda place: place.device.__enter__().__exit__(None, None, None),
    "make_current": lambda place: place.device.make_current(),
    "a host function": lambda place: place.stream.launch_host_function(int),
    "a capture": captured,
    "a graph": lambda place: place.graph.launch(),
    "the handle of a stream": lambda place: place.stream.handle,
    "__cuda_stream__": lambda place: place.stream.__cuda_stream__(),
    "memory_statistics": lambda _: PyGPU.memory_statistics(),
    "memory_info": lambda _: PyGPU.memory_info(),
    "trim_memory": lambda _: PyGPU.trim_memory(),
    "start_profiler": lambda _: PyGPU.driver.start_profiler(),
    "Context.synchronize": lambda _: PyGPU.driver.Context.synchronize(),
    "cudaDeviceSynchronize": lambda _: PyGPU.cudaDeviceSynchronize(),
    "set_default_device": lambda _: PyGPU.set_default_device(0),
    "the stream of the exchange table": lambda place: dlpack_forge.work_stream(*place.target.__dlpack_device__()),
    "cudaSetDevice": lambda _: PyGPU.cudaSetDevice(0),
}


@pytest.mark.parametrize("mark", MARKS)
def test_no_operation_is_pending_after_flush_point(mark: str) -> None:
    place = SyncObjects()
    if mark == "stream.__exit__":
        place.entered.__enter__()
    x = PyGPU.to_gpu(HOST)
    kept = x + 1
    assert waiting() == 1
    counted = OperationCounts()
    MARKS[mark](place)
    assert waiting() == 0
    assert set(counted["closed"]) <= {"order", "work", "asked"}
    np.testing.assert_array_equal(kept.get(), HOST + 1)


def test_event_waits_for_operations_deferred_before_event_record() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("the device is made slow")
    x = PyGPU.to_gpu(HOST)
    driver.delay(20_000)
    try:
        kept = x + 1
        event = PyGPU.Event().record()
        assert not event.query()
    finally:
        driver.delay(0)
    event.synchronize()
    np.testing.assert_array_equal(kept.get(), HOST + 1)


def test_deferred_operation_runs_on_stream_that_was_current_at_its_call() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("the device is made slow")
    x = PyGPU.to_gpu(HOST)
    PyGPU.synchronize()
    slow, quick = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    driver.delay(100_000, slow.handle)
    try:
        with slow:
            first = x + 1
        with quick:
            second = x + 2
        assert not slow.query()
        quick.synchronize()
        assert not slow.query()
    finally:
        driver.delay(0)
    np.testing.assert_array_equal(first.get(), HOST + 1)
    np.testing.assert_array_equal(second.get(), HOST + 2)


@pytest.mark.usefixtures("late")
def test_result_deferred_on_one_stream_is_valid_on_other_streams() -> None:
    streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)]
    x, twin = PyGPU.to_gpu(HOST), HOST
    kept = []
    for number in range(30):
        with streams[number % 3]:
            x, twin = x * 0.5 + number, twin * 0.5 + number
            kept.append((x, twin))
    for got, expected in kept:
        np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.usefixtures("late")
def test_write_on_other_stream_waits_for_deferred_reads_of_array() -> None:
    other = PyGPU.Stream(non_blocking=True)
    for number in range(10):
        x = PyGPU.to_gpu(HOST)
        kept = x + number
        with other:
            x.fill(number)
        np.testing.assert_array_equal(kept.get(), HOST + number)
        np.testing.assert_array_equal(x.get(), np.full_like(HOST, number))


def test_graph_contains_only_operations_deferred_during_capture() -> None:
    x, y = PyGPU.to_gpu(HOST), PyGPU.zeros_like(PyGPU.to_gpu(HOST))
    stream = PyGPU.Stream()
    (x + 1) * 2
    warm = x + 1
    with stream:
        PyGPU.multiply(warm, 2, out=y)
    PyGPU.synchronize()
    before = x * 3
    graph = PyGPU.Graph(stream)
    counted = OperationCounts()
    with graph:
        assert waiting() == 0
        PyGPU.add(x, 1, out=y)
        y *= 2
    assert counted["operations"] == 0
    x.fill(5)
    waits = x + 7
    graph.launch()
    assert waiting() == 0
    np.testing.assert_array_equal(y.get(), np.full_like(HOST, 12))
    np.testing.assert_array_equal(before.get(), HOST * 3)
    np.testing.assert_array_equal(waits.get(), np.full_like(HOST, 12))


def test_operation_with_new_result_is_eager_during_capture() -> None:
    x = PyGPU.to_gpu(HOST)
    (x + 1).get()
    stream = PyGPU.Stream()
    graph = PyGPU.Graph(stream)
    counted = OperationCounts()
    with graph:
        y = x + 1
    assert counted["at_once"] == {"place": 1}
    assert waiting() == 0
    x.fill(1)
    graph.launch()
    np.testing.assert_array_equal(y.get(), np.full_like(HOST, 2))


def test_operations_pending_before_capture_are_not_captured() -> None:
    x = PyGPU.to_gpu(HOST)
    stream = PyGPU.Stream(non_blocking=True)
    y = x + 1
    stream.begin_capture()
    assert waiting() == 0
    z = x + 2
    assert waiting() == 0
    graph = stream.end_capture()
    assert graph.num_nodes == 0
    np.testing.assert_array_equal(y.get(), HOST + 1)
    np.testing.assert_array_equal(z.get(), HOST + 2)


def test_operations_on_streams_of_other_libraries_are_not_deferred() -> None:
    own = PyGPU.Stream()
    foreign = PyGPU.Stream.from_handle(own.handle, owner=own)
    x = PyGPU.to_gpu(HOST)
    with foreign:
        counted = OperationCounts()
        kept = x + 1
        assert waiting() == 0
        assert counted["at_once"] == {"place": 1}
    np.testing.assert_array_equal(kept.get(), HOST + 1)


def test_operations_of_two_devices_can_be_pending_together() -> None:
    if PyGPU.device_count() < 2:
        pytest.skip("one device")
    first, second = PyGPU.to_gpu(HOST, device=0), PyGPU.to_gpu(HOST, device=1)
    kept = [first + 1, second + 2, first * 3, second * 4]
    assert waiting() == 4
    expected = [HOST + 1, HOST + 2, HOST * 3, HOST * 4]
    for got, host, index in zip(kept, expected, [0, 1, 0, 1], strict=True):
        np.testing.assert_array_equal(got.get(), host)
        assert got.device.index == index


def test_copy_of_pending_result_to_another_device_has_correct_values() -> None:
    if PyGPU.device_count() < 2:
        pytest.skip("one device")
    x = PyGPU.to_gpu(HOST, device=0)
    y = (x + 1).to_device(1)
    np.testing.assert_array_equal(y.get(), HOST + 1)
    z = PyGPU.zeros(HOST.shape, device=1)
    kept = z + 5
    z[...] = x * 2
    np.testing.assert_array_equal(kept.get(), np.full_like(HOST, 5))
    np.testing.assert_array_equal(z.get(), HOST * 2)
