"""Test the devices, streams, events and graphs of `cupy.cuda`."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import PyGPU.cupy.cuda as cuda
from PyGPU import _core


@pytest.fixture(autouse=True)
def _default_stream_afterwards() -> Iterator[None]:
    yield
    cuda.Stream.null.use()


def test_device_has_attributes_of_cupy() -> None:
    assert cuda.Device is PyGPU.Device
    device = cuda.Device(0)
    major, minor = device.properties["compute_capability"]
    assert device.compute_capability == f"{major}{minor}" == cuda.device.get_compute_capability()
    assert device.attributes["MaxThreadsPerBlock"] == device.properties["max_threads_per_block"]
    assert all(type(value) is int for value in device.attributes.values())
    assert device.mem_info == device.memory_info()
    assert device.use() is device
    assert int(device) == device.id == cuda.get_device_id() == 0
    assert device <= device
    assert not device < device
    with pytest.raises(TypeError):
        device < 0  # type: ignore[operator]  # noqa: B015


def test_device_is_found_by_pci_address() -> None:
    device = cuda.Device(0)
    assert len(device.pci_bus_id) == len("0000:00:00.0")
    assert cuda.Device.from_pci_bus_id(device.pci_bus_id.lower()) == device
    for text, status in (("no address", 1), ("ffff:ff:ff.f", 101)):
        with pytest.raises(cuda.runtime.CUDARuntimeError) as raised:
            cuda.Device.from_pci_bus_id(text)
        assert raised.value.status == status


def test_device_of_memory_pointer_is_reported() -> None:
    a = PyGPU.zeros(3)
    assert cuda.device.from_pointer(a.ptr) == a.device


def test_get_current_stream_returns_stream_object_made_current() -> None:
    assert cuda.get_current_stream() is cuda.Stream.null
    stream, other = cuda.Stream(non_blocking=True), cuda.Stream()
    with stream as entered:
        assert entered is stream
        assert cuda.get_current_stream() is stream
        assert PyGPU.current_stream() == stream
        with other:
            assert cuda.get_current_stream(0) is other
        assert cuda.get_current_stream() is stream
        a = PyGPU.arange(5) * 2
    assert cuda.get_current_stream() is cuda.Stream.null
    np.testing.assert_array_equal(a.get(), np.arange(5) * 2)
    with PyGPU.Stream() as native:
        current = cuda.get_current_stream()
        assert isinstance(current, cuda.Stream)
        assert current == native
        assert current.ptr == native.handle


def test_stream_selected_by_method_use_is_restored_after_with_block() -> None:
    first, second, third = cuda.Stream(), cuda.Stream(), cuda.Stream()
    assert first.use() is first
    assert cuda.get_current_stream() is first
    with second:
        assert cuda.get_current_stream() is second
        third.use()
        assert cuda.get_current_stream() is third
        with first:
            assert cuda.get_current_stream() is first
        # As in CuPy, a call of `use` inside a `with` block is undone at the end of the block.
        assert cuda.get_current_stream() is second
    assert cuda.get_current_stream() is cuda.Stream.null
    handle = cuda.Stream().use().ptr
    assert cuda.get_current_stream().ptr == handle


def test_stream_selected_by_method_use_is_separate_for_each_thread() -> None:
    stream = cuda.Stream().use()
    found: list[object] = []

    def run() -> None:
        found.append(cuda.get_current_stream())
        found.append(cuda.Stream().use() is cuda.get_current_stream())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [cuda.Stream.null, True]
    assert cuda.get_current_stream() is stream


def test_stream_null_and_ptds_equal_streams_from_constructor_flags() -> None:
    null, ptds = cuda.Stream.null, cuda.Stream.ptds
    assert cuda.Stream(True) == cuda.Stream(null=True) == null != ptds == cuda.Stream(ptds=True)
    assert (null.ptr, ptds.ptr, null.device_id) == (0, 2, -1)
    assert hash(cuda.Stream(null=True)) == hash(null)
    assert null != cuda.Stream() != cuda.Stream()


def test_stream_attributes_report_requested_flags_and_priority() -> None:
    has_priorities = PyGPU.backend_name() != "cpu"
    stream, other = cuda.Stream(non_blocking=True, priority=-1), cuda.Stream(priority=0)
    assert (stream.is_non_blocking, stream.priority, stream.device_id) == (True, -1 if has_priorities else 0, 0)
    assert (other.is_non_blocking, other.priority) == (False, 0)
    external = cuda.Stream.from_external(stream)
    assert (external.is_non_blocking, external.priority) == (True, stream.priority)
    lowest = PyGPU.Stream(priority=-1000).priority
    assert -1000 < lowest <= stream.priority
    for default in (cuda.Stream.null, cuda.Stream.ptds, PyGPU.default_stream()):
        assert (default.is_non_blocking, default.priority) == (False, 0)


def test_stream_of_another_device_cannot_become_current_stream() -> None:
    if PyGPU.device_count() < 2:
        pytest.skip("needs two devices")
    with cuda.Device(0):
        stream = cuda.Stream()
    with cuda.Device(1):
        with pytest.raises(RuntimeError, match="created on device 0, and device 1 is current"), stream:
            pass
        with pytest.raises(RuntimeError, match="created on device 0, and device 1 is current"):
            stream.use()
        assert cuda.get_current_stream() == cuda.Stream.null


def test_external_stream_object_has_same_handle_as_original_stream() -> None:
    class Foreign:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def __cuda_stream__(self) -> Any:
            return self.answer

    stream = cuda.Stream()
    foreign = Foreign((0, stream.ptr))
    external = cuda.Stream.from_external(foreign)
    assert external == stream
    assert external._foreign_stream_ref is foreign
    with external:
        assert cuda.get_current_stream() == stream
        a = PyGPU.ones(3) + 1
    external.synchronize()
    assert a.tolist() == [2.0] * 3
    with pytest.warns(DeprecationWarning, match="Stream.from_external"):
        assert cuda.ExternalStream(stream.ptr) == stream
    for answer in (123, (0,), ("x", 0), (0, "x"), (1, 0)):
        with pytest.raises(TypeError, match="__cuda_stream__"):
            cuda.Stream.from_external(Foreign(answer))
    with pytest.raises(TypeError, match="does not implement"):
        cuda.Stream.from_external(object())


def test_launched_host_functions_run_in_stream_order() -> None:
    stream = cuda.Stream()
    results: list[object] = []
    stream.add_callback(lambda given, status, arg: results.append((given is stream, status, arg)), "first")
    stream.launch_host_func(results.append, "second")
    stream.synchronize()
    assert results == [(True, 0, "first"), "second"]
    assert stream.done


def test_events_measure_time_and_order_streams() -> None:
    start, end = cuda.Event(), cuda.Event(block=True)
    first, second = cuda.Stream(), cuda.Stream()
    start.record(first)
    assert first.record(end) is end
    second.wait_event(end)
    end.synchronize()
    assert start.done
    assert end.done
    assert cuda.get_elapsed_time(start, end) >= 0
    assert isinstance(first.record(), cuda.Event)
    assert isinstance(end, PyGPU.Event)
    with pytest.raises(ValueError, match="timing=False"):
        cuda.Event(interprocess=True)


def test_captured_graph_repeats_work_at_each_launch() -> None:
    stream = cuda.Stream(non_blocking=True)
    a = PyGPU.zeros(3)
    PyGPU.synchronize()
    calls: list[int] = []
    with stream:
        stream.begin_capture(cuda.runtime.streamCaptureModeThreadLocal)
        assert stream.is_capturing() is True
        a += 1
        stream.launch_host_func(calls.append, 1)
        graph = stream.end_capture()
    assert isinstance(graph, cuda.Graph)
    assert not stream.is_capturing()
    graph.upload(stream)
    for _ in range(3):
        graph.launch(stream)
    stream.synchronize()
    assert a.tolist() == [3.0] * 3
    assert calls == [1, 1, 1]


def test_begin_capture_rejects_default_stream_and_unknown_modes() -> None:
    with pytest.raises(RuntimeError, match="default"):
        cuda.Stream.null.begin_capture()
    with pytest.raises(ValueError, match="capture mode 3"):
        cuda.Stream().begin_capture(3)


def _status(call: Any) -> int:
    """Call a function that must fail, and return the status code of the error."""
    with pytest.raises(cuda.runtime.CUDARuntimeError) as raised:
        call()
    return raised.value.status


@pytest.mark.parametrize("wait", ["synchronize", "done"])
def test_wait_in_capture_raises_error_and_invalidates_capture(wait: str) -> None:
    stream = cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        if wait == "done":
            assert stream.done is False
        else:
            assert _status(stream.synchronize) == 900
        assert _status(stream.end_capture) == 901
    assert not stream.is_capturing()
    stream.synchronize()
    assert stream.done is True


def test_end_of_capture_on_other_stream_raises_error() -> None:
    first, second, event = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True), cuda.Event()
    assert _status(second.end_capture) == 401
    first.begin_capture()
    assert _status(first.begin_capture) != 0
    first.record(event)
    second.wait_event(event)
    assert _status(second.end_capture) == 903
    assert _status(first.end_capture) == 901
    assert not first.is_capturing()
    assert not second.is_capturing()


def test_query_of_default_stream_raises_while_blocking_stream_captures() -> None:
    stream, free = cuda.Stream(), cuda.Stream(non_blocking=True)
    free.begin_capture()
    assert cuda.Stream.null.is_capturing() is False
    stream.begin_capture()
    assert _status(cuda.Stream.null.is_capturing) == 906
    stream.end_capture()
    assert cuda.Stream.null.is_capturing() is False
    free.end_capture()


def test_default_stream_has_handle_zero_in_cuda_stream_protocol() -> None:
    stream = cuda.Stream()
    assert cuda.Stream.null.__cuda_stream__() == (0, 0)
    assert stream.__cuda_stream__() == (0, stream.ptr)
    assert cuda.Stream.from_external(cuda.Stream.null) == cuda.Stream.null


def test_streams_of_cupy_are_accepted_as_streams_of_pygpu() -> None:
    stream = cuda.Stream()
    a = PyGPU.to_gpu(np.arange(4.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(a.get(stream=stream), np.arange(4.0))
    assert isinstance(stream, _core.Stream)
    assert repr(stream) == f"<Stream {stream.ptr} (device 0)>"
