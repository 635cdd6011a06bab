"""Test events: recording, waits, and elapsed time."""

import gc
import time
import weakref

import pytest

import PyGPU

BACKEND = PyGPU.backend_name()
two_devices = pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")


def test_unrecorded_event_is_complete() -> None:
    event = PyGPU.Event()
    assert event.query() is True
    assert event.synchronize() is None
    assert event.handle != 0
    assert event.device == PyGPU.Device()


def test_record_method_of_event_returns_same_event() -> None:
    event = PyGPU.Event()
    assert event.record() is event
    assert event.record(None) is event
    assert event.record(PyGPU.Stream()) is event
    assert event.record(stream=1) is event


def test_elapsed_time_is_milliseconds_from_event_to_argument() -> None:
    start, end = PyGPU.Event(), PyGPU.Event()
    start.record().synchronize()
    time.sleep(0.05)
    end.record().synchronize()
    elapsed = start.elapsed_time(end)
    assert isinstance(elapsed, float)
    assert 45 < elapsed < 10_000
    assert end.time_since(start) == elapsed
    assert start.time_till(end) == elapsed
    assert end.elapsed_time(start) == pytest.approx(-elapsed)


def test_second_record_of_event_replaces_first_record() -> None:
    start, end = PyGPU.Event().record(), PyGPU.Event().record()
    end.synchronize()
    first = start.elapsed_time(end)
    time.sleep(0.01)
    end.record().synchronize()
    assert start.elapsed_time(end) > first


def test_event_without_timing_has_no_elapsed_time() -> None:
    start, end = PyGPU.Event(timing=False).record(), PyGPU.Event().record()
    end.synchronize()
    with pytest.raises(PyGPU.CudaError) as caught:
        start.elapsed_time(end)
    assert caught.value.code == 400


def test_unrecorded_events_have_no_elapsed_time() -> None:
    with pytest.raises(PyGPU.CudaError) as caught:
        PyGPU.Event().elapsed_time(PyGPU.Event())
    assert caught.value.code == 400


def test_creation_of_shared_event_rejects_timing() -> None:
    with pytest.raises(ValueError, match="timing=False"):
        PyGPU.Event(interprocess=True)


@pytest.mark.skipif(BACKEND == "cpu", reason="the host shares no events with other processes")
def test_events_can_be_shared_with_other_processes() -> None:
    PyGPU.Event(timing=False, interprocess=True).record().synchronize()


def test_event_with_blocking_sync_can_be_waited_for() -> None:
    PyGPU.Event(blocking_sync=True).record().synchronize()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"timing": 1}, TypeError),
        ({"blocking_sync": None}, TypeError),
        ({"device": 77}, ValueError),
        ({"device": 1.5}, TypeError),
        ({"flags": 0}, TypeError),
    ],
)
def test_failed_event_creation_raises_error_with_reason(arguments: dict, error: type) -> None:
    with pytest.raises(error):
        PyGPU.Event(**arguments)


@pytest.mark.parametrize("other", [None, 0, 1.0, object()])
@pytest.mark.parametrize("method", ["elapsed_time", "time_since", "time_till"])
def test_elapsed_time_rejects_objects_that_are_no_events(method: str, other: object) -> None:
    with pytest.raises(TypeError):
        getattr(PyGPU.Event(), method)(other)


@two_devices
def test_events_of_two_devices_have_no_elapsed_time() -> None:
    first, second = PyGPU.Event(device=0), PyGPU.Event(device=1)
    first.record(), second.record()
    with pytest.raises(ValueError, match="share a clock"):
        first.elapsed_time(second)


@pytest.mark.skipif(BACKEND == "cpu", reason="needs a second driver")
def test_event_rejects_event_or_stream_of_another_driver() -> None:
    host, device = PyGPU.Event(device="cpu"), PyGPU.Event()
    with pytest.raises(ValueError, match="share a clock"):
        host.elapsed_time(device)
    with pytest.raises(ValueError, match="the stream is of"):
        host.record(PyGPU.Stream())


def test_stream_waits_for_event_dropped_after_wait_call() -> None:
    stream = PyGPU.Stream()
    event = PyGPU.default_stream().record()
    stream.wait_event(event)
    alive = weakref.ref(event)
    del event
    gc.collect()
    assert alive() is None
    stream.synchronize()


def test_event_class_may_be_subclassed() -> None:
    class Mine(PyGPU.Event):
        pass

    event = Mine(timing=False)
    assert event.record() is event
    assert PyGPU.Stream().record(event) is event
    assert str(event.device) in repr(event)
