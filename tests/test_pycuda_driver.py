"""PyCUDA's driver: exceptions, devices, contexts, streams, events, enumerations."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import PyGPU
from PyGPU import _core
from PyGPU import driver as drv

BACKEND = PyGPU.backend_name()


@pytest.fixture(autouse=True)
def _no_contexts() -> Iterator[None]:
    """Begin with an empty stack: an example that was run before may have left a context there."""
    found = []
    while (context := drv.Context.get_current()) is not None:
        found.append(context)
        context.pop()
    yield
    for context in reversed(found):
        context.push()


def test_the_driver_is_opened_as_often_as_one_likes():
    drv.init()
    drv.init(0)
    with pytest.raises(drv.LogicError, match="flags"):
        drv.init(1)


def test_versions_are_those_that_programs_compare():
    assert len(drv.get_version()) == 3
    assert drv.get_version() >= (4, 0)
    assert drv.get_driver_version() >= 12000


def test_the_exceptions_are_a_family_and_the_cores_own():
    for kind in (drv.MemoryError, drv.LaunchError, drv.RuntimeError, drv.LogicError):
        assert issubclass(kind, drv.Error)
        assert issubclass(kind, PyGPU.CudaError)
    assert issubclass(drv.CompileError, drv.Error)
    assert drv.CompileError is PyGPU.CompileError
    assert drv.MemoryError is PyGPU.OutOfMemoryError
    assert issubclass(drv.MemoryError, MemoryError)
    assert issubclass(drv.Error, RuntimeError)
    assert drv.LogicError.__module__ == "PyGPU.driver"
    for kind in (PyGPU.NotSupportedError, PyGPU.BackendUnavailableError, PyGPU.ForkError):
        assert issubclass(kind, drv.Error)


@pytest.mark.provokes_errors
def test_what_the_core_raises_is_of_the_class_of_its_code():
    memory = drv.mem_alloc(16)
    memory.free()
    with pytest.raises(drv.LogicError) as raised:
        memory.free()
    assert raised.value.code == 1
    assert isinstance(raised.value, PyGPU.CudaError)
    with pytest.raises(drv.MemoryError):
        drv.mem_alloc(1 << 60)


def test_a_device_tells_what_it_is():
    device = drv.Device(0)
    assert drv.Device.count() == PyGPU.device_count() >= 1
    assert isinstance(device.name(), str)
    assert device.total_memory() > 1 << 20
    major, minor = device.compute_capability()
    assert isinstance(major, int)
    assert isinstance(minor, int)
    assert re.fullmatch(r"[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.0", device.pci_bus_id())


def test_a_device_is_found_by_its_place_on_the_bus():
    device = drv.Device(0)
    assert drv.Device(device.pci_bus_id()) == device
    assert hash(drv.Device(device.pci_bus_id().lower())) == hash(device)
    assert device != "device"
    for wrong in ("FFFF:FF:1F.0", "nowhere", 1000, -1):
        with pytest.raises(drv.LogicError):
            drv.Device(wrong)


def test_attributes_are_asked_by_number_and_by_name():
    device = drv.Device(0)
    attribute = drv.device_attribute
    assert device.get_attribute(attribute.WARP_SIZE) == device.warp_size >= 1
    assert device.get_attribute(attribute.MAX_THREADS_PER_BLOCK) == device.max_threads_per_block >= 1
    assert device.max_block_dim_x >= 1
    assert device.max_grid_dim_z >= 1
    assert device.max_shared_memory_per_block == device.shared_memory_per_block >= 1024
    assert isinstance(device.compute_mode, drv.compute_mode)
    assert (device.compute_capability_major, device.compute_capability_minor) == device.compute_capability()
    every = device.get_attributes()
    assert every[attribute.WARP_SIZE] == device.warp_size
    assert set(every) <= set(attribute)
    with pytest.raises(AttributeError, match="no_such_thing"):
        device.no_such_thing  # noqa: B018
    with pytest.raises(AttributeError):
        device.WARP_SIZE  # noqa: B018
    assert "warp_size" in dir(device)


@pytest.mark.provokes_errors
def test_an_attribute_that_no_driver_has_is_refused():
    with pytest.raises(drv.Error):
        drv.Device(0).get_attribute(99999)


def test_a_device_is_no_peer_of_itself():
    assert drv.Device(0).can_access_peer(drv.Device(0)) is False


def test_contexts_are_a_stack():
    assert drv.Context.get_current() is None
    first = drv.Device(0).make_context()
    second = drv.Device(0).make_context(drv.ctx_flags.SCHED_AUTO)
    assert drv.Context.get_current() is second
    assert second.get_device() == drv.Device(0) == drv.Context.get_device()
    second.pop()
    assert drv.Context.get_current() is first
    second.push()
    drv.Context.pop()
    drv.Context.pop()
    assert drv.Context.get_current() is None
    with pytest.raises(drv.LogicError, match="no context") as raised:
        drv.Context.pop()
    assert raised.value.code == 201


def test_a_retained_context_is_not_current():
    context = drv.Device(0).retain_primary_context()
    assert drv.Context.get_current() is None
    context.push()
    assert drv.Context.get_current() is context
    context.pop()
    context.detach()


def test_a_detached_context_is_over_and_that_below_it_becomes_current():
    below, above = drv.Device(0).make_context(), drv.Device(0).make_context()
    memory = PyGPU.zeros(4)
    above.detach()
    assert drv.Context.get_current() is below
    assert memory.get().tolist() == [0, 0, 0, 0]  # the primary context is everybody's
    for call in (above.push, above.detach):
        with pytest.raises(drv.LogicError, match="detached"):
            call()
    assert "detached" in repr(above)
    drv.Context.attach().detach()
    below.pop()
    below.detach()


def test_each_thread_has_a_stack_of_its_own():
    context = drv.Device(0).make_context()
    found = []

    def look() -> None:
        found.append(drv.Context.get_current())
        context.push()
        found.append(drv.Context.get_current())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [None, context]
    context.pop()


def test_contexts_of_two_devices_change_which_is_current():
    if drv.Device.count() < 2:
        pytest.skip("there is one device")
    outside = PyGPU.current_device()
    first, second = drv.Device(0).make_context(), drv.Device(1).make_context()
    assert PyGPU.current_device() == 1
    second.pop()
    assert PyGPU.current_device() == 0
    first.pop()
    assert PyGPU.current_device() == outside


def test_a_context_that_is_left_at_exit_harms_nobody():
    program = "import PyGPU.driver as d; d.Device(0).make_context(); d.Device(0).make_context(); print('done')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")


def test_a_context_answers_what_programs_ask():
    context = drv.Device(0).make_context()
    drv.Context.synchronize()
    context.synchronize()
    drv.Context.set_shared_config(drv.shared_config.FOUR_BYTE_BANK_SIZE)
    assert isinstance(drv.Context.get_shared_config(), drv.shared_config)
    drv.Context.set_cache_config(drv.func_cache.PREFER_NONE)
    assert isinstance(drv.Context.get_cache_config(), drv.func_cache)
    assert isinstance(context.handle, int)
    assert (context.handle != 0) == (BACKEND == "cuda")
    context.pop()


def test_limits_are_set_where_a_driver_has_them():
    try:
        before = drv.Context.get_limit(drv.limit.STACK_SIZE)
    except PyGPU.NotSupportedError:
        with pytest.raises(PyGPU.NotSupportedError):
            drv.Context.set_limit(drv.limit.STACK_SIZE, 4096)
        return
    drv.Context.set_limit(drv.limit.STACK_SIZE, 4096)
    assert drv.Context.get_limit(drv.limit.STACK_SIZE) >= 4096
    drv.Context.set_limit(drv.limit.STACK_SIZE, before)
    with pytest.raises(ValueError, match="no limit"):
        drv.Context.get_limit(99)


def test_a_stream_has_pycudas_names():
    stream = drv.Stream()
    assert isinstance(stream, PyGPU.Stream)
    stream.synchronize()
    assert stream.is_done() is True
    assert isinstance(stream.handle, int)
    stream.wait_for_event(drv.Event().record(stream))
    drv.Stream(1).synchronize()
    drv.Stream(flags=0).synchronize()
    with pytest.raises(ValueError, match="0x4"):
        drv.Stream(4)


def test_an_event_has_pycudas_names():
    start, end = drv.Event(), drv.Event(drv.event_flags.BLOCKING_SYNC)
    assert isinstance(start, PyGPU.Event)
    assert start.record() is start
    a = PyGPU.zeros(1000)
    a.fill(1)
    stream = drv.Stream()
    assert end.record(stream) is end
    assert end.synchronize() is end
    assert end.query() is True
    assert end.time_since(start) == start.time_till(end) >= 0
    assert isinstance(start.handle, int)
    with pytest.raises(ValueError, match="0x10"):
        drv.Event(16)


def test_an_event_is_recorded_on_the_default_stream_whatever_is_current():
    stream = drv.Stream(1)
    with stream:
        event = drv.Event().record()
    event.synchronize()
    assert event.query()


@pytest.mark.provokes_errors
def test_events_are_shared_where_a_driver_can():
    flags = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING
    try:
        handle = drv.Event(flags).ipc_handle()
    except PyGPU.NotSupportedError:
        return
    except drv.Error:
        pytest.skip("the machine's processes share nothing")
    assert len(handle) == 64


def test_a_handle_of_an_event_has_64_bytes():
    with pytest.raises(ValueError, match="64 bytes"):
        drv.Event.from_ipc_handle(bytearray(3))


def test_enumerations_are_numbers_with_names():
    assert drv.func_cache.PREFER_L1 == 2
    assert int(drv.device_attribute.WARP_SIZE) == 10
    assert drv.device_attribute.WARP_SIZE.name == "WARP_SIZE"
    assert drv.event_flags.DISABLE_TIMING | drv.event_flags.INTERPROCESS == 6
    assert getattr(drv.array3d_flags, "2DARRAY") == drv.array3d_flags.ARRAY3D_2DARRAY == 1
    assert drv.TRSF_READ_AS_INTEGER == 1


def test_profilers_are_called_and_graphics_are_not_there():
    if BACKEND != "cuda" or drv.Device(0).name().startswith("NVIDIA"):
        drv.start_profiler()
        drv.stop_profiler()
    with pytest.raises(PyGPU.NotSupportedError, match="nsys"):
        drv.initialize_profiler("", "", drv.profiler_output_mode.CSV)
    assert drv.have_gl_ext() is False


def test_peers_are_ended_only_where_they_began():
    first = drv.Device(0).retain_primary_context()
    with pytest.raises(drv.LogicError, match="flags"):
        drv.Context.enable_peer_access(first, 1)
    with pytest.raises(drv.LogicError, match="flags"):
        drv.Context.disable_peer_access(first, 1)
    drv.Context.enable_peer_access(first)  # one's own memory is always there


def test_pycudas_program_runs_as_it_is():
    program = """
import PyGPU.autoinit
import PyGPU.driver as drv
import numpy
assert PyGPU.autoinit.context is drv.Context.get_current()
assert PyGPU.autoinit.device == drv.Context.get_device()
import PyGPU.autoprimaryctx
assert PyGPU.autoprimaryctx.context is PyGPU.autoinit.context
a = numpy.arange(4)
print(drv.from_device_like(drv.to_device(a), a).tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "[0, 1, 2, 3]\n", "")


def test_a_star_import_brings_the_names():
    namespace: dict[str, object] = {}
    exec("from PyGPU.driver import *", namespace)
    for name in ("mem_alloc", "memcpy_htod", "Device", "Context", "Stream", "Event", "In", "Out", "LogicError"):
        assert name in namespace
    assert namespace["RuntimeError"] is _core.DriverRuntimeError
