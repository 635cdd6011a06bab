"""Test streams: creation, import from other libraries, waits, and `with` blocks, which set the current stream."""

import gc
import threading
import weakref

import numpy as np
import pytest

import PyGPU
from PyGPU import _core
from support import at_once

BACKEND = PyGPU.backend_name()
two_devices = pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")


class Foreign:
    """Imitate a stream object of another library."""

    def __init__(self, pair: object) -> None:
        self.pair = pair

    def __cuda_stream__(self) -> object:
        return self.pair


class Deprecated:
    """Imitate a stream object with the stream protocol of older versions of libraries."""

    def __init__(self, pair: object) -> None:
        self.__cuda_stream__ = pair


def test_new_stream_is_idle_and_differs_from_default_stream() -> None:
    stream = PyGPU.Stream()
    assert stream.query() is True
    assert stream.synchronize() is None
    assert not stream.is_default
    assert stream.handle > 2
    assert stream.device == PyGPU.Device()


@pytest.mark.parametrize(
    "arguments", [{"non_blocking": True}, {"priority": -1}, {"priority": np.int32(5)}, {"device": 0}]
)
def test_streams_can_be_created_with_flags_priority_and_device(arguments: dict) -> None:
    PyGPU.Stream(**arguments).synchronize()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"non_blocking": 1}, TypeError),
        ({"priority": 0.5}, TypeError),
        ({"priority": True}, TypeError),
        ({"priority": 2**31}, ValueError),
        ({"priority": -(2**80)}, ValueError),
        ({"device": 99}, ValueError),
        ({"device": 0.0}, TypeError),
        ({"flags": 1}, TypeError),
    ],
)
def test_failed_stream_creation_raises_error_with_reason(arguments: dict, error: type) -> None:
    with pytest.raises(error):
        PyGPU.Stream(**arguments)


def test_default_stream_has_handle_zero() -> None:
    stream = PyGPU.default_stream()
    assert stream.is_default
    assert stream.handle == 0
    assert "default" in repr(stream)


@pytest.mark.parametrize("handle", [0, 1, np.int64(1)])
def test_zero_and_one_are_handles_of_legacy_default_stream(handle: object) -> None:
    assert PyGPU.Stream.from_handle(handle) == PyGPU.default_stream()


def test_handle_two_is_per_thread_default_stream() -> None:
    stream = PyGPU.Stream.from_handle(2)
    assert stream.handle == 2
    assert not stream.is_default
    assert stream.__cuda_stream__() == (0, 2)
    stream.record().synchronize()
    stream.synchronize()


def test_from_handle_with_handle_of_stream_returns_equal_stream() -> None:
    stream = PyGPU.Stream()
    again = PyGPU.Stream.from_handle(stream.handle, owner=stream)
    assert again == stream
    assert hash(again) == hash(stream)
    assert again.device == stream.device
    assert PyGPU.Stream.from_handle(stream.handle, device=stream.device) == stream
    assert PyGPU.Stream() != stream
    assert stream != stream.handle


@two_devices
def test_from_handle_detects_device_of_stream() -> None:
    stream = PyGPU.Stream(device=1)
    assert PyGPU.Stream.from_handle(stream.handle).device == PyGPU.Device(1)
    with pytest.raises(ValueError, match="stream of"):
        PyGPU.Stream.from_handle(stream.handle, device=0)


@pytest.mark.parametrize(
    ("handle", "error"),
    [(-1, ValueError), (2**64, ValueError), (True, TypeError), (1.0, TypeError), ("1", TypeError), (None, TypeError)],
)
def test_from_handle_rejects_values_that_are_no_handles(handle: object, error: type) -> None:
    with pytest.raises(error):
        PyGPU.Stream.from_handle(handle)


def test_owner_of_imported_stream_is_kept_alive_by_stream() -> None:
    class Owner:
        pass

    inner = PyGPU.Stream()
    owner = Owner()
    alive = weakref.ref(owner)
    stream = PyGPU.Stream.from_handle(inner.handle, owner=owner)
    del owner
    gc.collect()
    assert alive() is not None
    del stream
    gc.collect()
    assert alive() is None


def test_cuda_stream_protocol_returns_version_0_and_nonzero_handle_on_cuda() -> None:
    stream = PyGPU.Stream()
    assert stream.__cuda_stream__() == (0, stream.handle)
    assert PyGPU.default_stream().__cuda_stream__() == (0, 1 if BACKEND == "cuda" else 0)


@pytest.mark.parametrize("kind", [Foreign, Deprecated])
def test_object_with_cuda_stream_protocol_is_accepted_as_stream(kind: type) -> None:
    stream = PyGPU.Stream()
    event = PyGPU.Event()
    assert event.record(kind((0, stream.handle))) is event
    event.synchronize()
    PyGPU.Stream().wait_stream(kind((0, stream.handle)))
    PyGPU.Stream().wait_stream(kind((0, 0)))


def test_cuda_stream_protocol_precedes_integer_value_of_object() -> None:
    class Both(int):
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, 0)

    PyGPU.Event().record(Both(-5)).synchronize()


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (Foreign((1, 0)), ValueError),
        (Foreign((-1, 0)), ValueError),
        (Foreign((0, -7)), ValueError),
        (Foreign((0, 2**70)), ValueError),
        (Foreign((0,)), TypeError),
        (Foreign((0, 0, 0)), TypeError),
        (Foreign([0, 0]), TypeError),
        (Foreign(0), TypeError),
        (Foreign(None), TypeError),
        (Foreign((0, None)), TypeError),
        (Foreign((False, 0)), TypeError),
        (Foreign(("0", 0)), TypeError),
        (Deprecated(0), TypeError),
        (Deprecated((1, 0)), ValueError),
        (-1, ValueError),
        (2**64, ValueError),
        (True, TypeError),
        (0.0, TypeError),
        ("0", TypeError),
        ((0, 0), TypeError),
        (object(), TypeError),
    ],
)
def test_stream_parameters_reject_objects_that_are_no_streams(stream: object, error: type) -> None:
    block = np.zeros(4, np.uint8)
    for call in (
        PyGPU.Event().record,
        PyGPU.Stream().wait_stream,
        lambda stream: _core.raw_fill(block.ctypes.data, 1, 4, stream),
        lambda stream: _core.raw_copy(block.ctypes.data, block.ctypes.data, 4, "host_to_host", stream),
    ):
        with pytest.raises(error):
            call(stream)
    assert not block.any()


def test_error_of_cuda_stream_protocol_is_raised() -> None:
    class Broken:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        PyGPU.Event().record(Broken())


@two_devices
def test_event_record_rejects_stream_of_another_device() -> None:
    with pytest.raises(ValueError, match="the stream is of"):
        PyGPU.Event(device=0).record(PyGPU.Stream(device=1))


def test_stream_waits_for_events_and_other_streams() -> None:
    first, second = PyGPU.Stream(), PyGPU.Stream(non_blocking=True)
    event = first.record()
    assert second.wait_event(event) is None
    assert second.wait_stream(first) is None
    second.wait_stream(PyGPU.default_stream())
    second.wait_stream(second)
    second.wait_stream(1)
    second.wait_event(PyGPU.Event())
    second.synchronize()


@two_devices
def test_stream_waits_for_stream_of_another_device() -> None:
    PyGPU.Stream(device=0).wait_stream(PyGPU.Stream(device=1))
    PyGPU.Stream(device=0).wait_event(PyGPU.Stream(device=1).record())


@gpu_only
def test_streams_of_two_drivers_cannot_wait_for_each_other() -> None:
    host, device = PyGPU.Stream(device="cpu"), PyGPU.Stream()
    for one, other in ((host, device), (device, host)):
        with pytest.raises(ValueError, match="different drivers"):
            one.wait_stream(other)
        with pytest.raises(ValueError, match="different drivers"):
            one.wait_event(other.record())


@pytest.mark.parametrize("event", [None, 0, object()])
def test_stream_wait_and_record_reject_objects_that_are_no_events(event: object) -> None:
    with pytest.raises(TypeError):
        PyGPU.Stream().wait_event(event)
    if event is not None:
        with pytest.raises(TypeError):
            PyGPU.Stream().record(event)


def test_stream_record_returns_given_or_new_event() -> None:
    stream, event = PyGPU.Stream(), PyGPU.Event()
    assert stream.record(event) is event
    start, end = stream.record(), stream.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0


def test_with_block_makes_stream_current_and_restores_previous_stream() -> None:
    outer, inner = PyGPU.Stream(), PyGPU.Stream()
    assert PyGPU.current_stream().is_default
    with outer as entered:
        assert entered is outer
        assert PyGPU.current_stream() == outer
        with inner, outer:
            assert PyGPU.current_stream() == outer
        with inner:
            assert PyGPU.current_stream() == inner
        assert PyGPU.current_stream(PyGPU.Device()) == outer
    assert PyGPU.current_stream() == PyGPU.default_stream()


def test_default_stream_can_be_current_inside_block_of_another_stream() -> None:
    with PyGPU.Stream(), PyGPU.default_stream():
        assert PyGPU.current_stream().is_default


def test_with_block_restores_previous_stream_after_exception() -> None:
    with pytest.raises(KeyError), PyGPU.Stream():
        raise KeyError
    assert PyGPU.current_stream().is_default


def test_stream_is_current_in_its_thread_only() -> None:
    seen = []
    with PyGPU.Stream() as stream:
        thread = threading.Thread(target=lambda: seen.append(PyGPU.current_stream()))
        thread.start()
        thread.join()
        assert seen == [PyGPU.default_stream()]
        assert PyGPU.current_stream() == stream


def test_exit_of_stream_without_enter_raises() -> None:
    with pytest.raises(RuntimeError, match="not entered"):
        PyGPU.Stream().__exit__(None, None, None)


@two_devices
def test_current_stream_is_separate_for_each_device() -> None:
    with PyGPU.Stream(device=0) as first, PyGPU.Stream(device=1) as second:
        assert PyGPU.current_stream(0) == first
        assert PyGPU.current_stream(1) == second


def test_streams_support_weak_references_and_subclassing() -> None:
    class Mine(PyGPU.Stream):
        pass

    stream = Mine(non_blocking=True)
    assert weakref.ref(stream)() is stream
    PyGPU.Event().record(stream).synchronize()


def test_many_threads_create_and_drop_streams() -> None:
    def work(_: int) -> None:
        for _ in range(50):
            with PyGPU.Stream() as stream:
                stream.record().synchronize()

    at_once(4, work)
