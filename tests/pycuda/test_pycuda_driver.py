"""Test PyCUDA's module `driver`: errors, devices, contexts, streams, events and modules."""

from __future__ import annotations

import builtins
import contextlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import compile as compile_source

ON_CPU = PyGPU.backend_name() == "cpu"
ONE = "__global__ void one(int *x) { *x = 1; } __device__ int counter[3];"


def test_driver_errors_are_subclasses_of_pygpu_errors():
    for name in ("MemoryError", "LaunchError", "RuntimeError", "LogicError", "CompileError"):
        assert issubclass(getattr(drv, name), drv.Error), name
    for kind in (drv.MemoryError, drv.LaunchError, drv.RuntimeError, drv.LogicError):
        assert issubclass(kind, PyGPU.CudaError)
    assert drv.CompileError is PyGPU.CompileError
    assert drv.MemoryError is PyGPU.OutOfMemoryError
    assert issubclass(drv.MemoryError, builtins.MemoryError)
    for kind in (PyGPU.NotSupportedError, PyGPU.BackendUnavailableError, PyGPU.CudaError):
        assert issubclass(kind, drv.Error)
        assert issubclass(kind, builtins.RuntimeError)


@pytest.mark.provokes_errors
def test_invalid_driver_call_raises_logic_error():
    with pytest.raises(drv.LogicError) as raised:
        PyGPU.Event().elapsed_time(PyGPU.Event())
    assert raised.value.code not in (2, 999)


def test_driver_error_can_be_pickled():
    for kind in (drv.LogicError, drv.LaunchError, drv.RuntimeError, drv.Error):
        assert type(pickle.loads(pickle.dumps(kind("text")))) is kind


def test_driver_versions_are_reported():
    drv.init()
    drv.init(0)
    assert len(drv.get_version()) == 3
    assert drv.get_driver_version() // 1000 >= 12


def test_device_is_found_by_index_or_pci_bus_id():
    device = drv.Device(0)
    assert drv.Device.count() >= 1
    assert drv.Device(device.pci_bus_id()) == device
    assert hash(drv.Device(np.int64(0))) == hash(device)
    assert device != 0
    assert pickle.loads(pickle.dumps(device)) == device
    for wrong in (1000, -1, "ffff:ff:1f.0"):
        with pytest.raises(drv.LogicError):
            drv.Device(wrong)


def test_device_reports_name_memory_and_capability():
    device = drv.Device(0)
    assert isinstance(device.name(), str)
    assert device.total_memory() > 0
    assert len(device.compute_capability()) == 2
    assert not device.can_access_peer(device)


def test_device_attributes_are_read_by_number_or_lower_case_name():
    device = drv.Device(0)
    known = device.get_attributes()
    assert known[drv.device_attribute.WARP_SIZE] == device.warp_size > 0
    assert known[drv.device_attribute.MAX_THREADS_PER_BLOCK] == device.max_threads_per_block > 0
    assert device.get_attribute(drv.device_attribute.COMPUTE_MODE).name == "DEFAULT"
    assert "warp_size" in dir(device)
    for wrong in ("no_such_thing", "WARP_SIZE"):
        with pytest.raises(AttributeError):
            getattr(device, wrong)


def test_members_of_enumerations_are_integers_with_names():
    assert drv.device_attribute.WARP_SIZE == 10
    assert drv.device_attribute(10).name == "WARP_SIZE"
    assert drv.func_cache.PREFER_L1.name == "PREFER_L1"
    assert getattr(drv.array3d_flags, "2DARRAY") == 1


@pytest.fixture
def empty_stack():
    """Remove the contexts that an earlier test left on the stack, such as the context of `autoinit`."""
    with contextlib.suppress(drv.LogicError):
        while True:
            drv.Context.pop()


@pytest.mark.usefixtures("empty_stack")
def test_context_can_be_pushed_and_popped():
    context = drv.Device(0).make_context()
    assert drv.Context.get_device() == drv.Device(0)
    assert drv.Context.get_current() is context
    context.push()
    context.synchronize()
    drv.Context.pop()
    context.pop()
    with pytest.raises(drv.LogicError, match="pushed no context"):
        drv.Context.pop()


@pytest.mark.parametrize("module", ["context", "device"])
def test_pickled_context_is_restored_under_old_and_new_module_name(module: str):
    context = drv.Context.get_current()
    # Pickle protocol 0 stores the module's name as text. The test replaces this name by `context`, which was the
    # module's name in PyGPU 0.1.
    text = pickle.dumps(context, protocol=0).replace(b"driver.device\nContext", f"driver.{module}\nContext".encode())
    assert f"driver.{module}\nContext".encode() in text
    assert pickle.loads(text) == context


def test_detached_context_cannot_be_pushed():
    below = drv.Device(0).make_context()
    above = drv.Device(0).make_context(drv.ctx_flags.SCHED_AUTO)
    above.detach()
    assert drv.Context.get_current() is below
    for use in (above.push, above.detach):
        with pytest.raises(drv.LogicError, match="detached"):
            use()
    below.detach()


def test_retained_primary_context_is_not_current():
    context = drv.Device(0).retain_primary_context()
    with pytest.raises(drv.LogicError):
        drv.Context.pop()
    context.push()
    context.pop()
    assert (context.handle != 0) == (PyGPU.backend_name() == "cuda")
    assert context.get_api_version() > 0


def test_context_stack_is_separate_for_each_thread():
    context = drv.Device(0).make_context()
    failures = []

    def elsewhere() -> None:
        try:
            drv.Context.pop()
        except drv.LogicError as error:
            failures.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    context.pop()
    assert len(failures) == 1


@pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")
def test_context_pop_restores_previous_device():
    first, second = drv.Device(0).make_context(), drv.Device(1).make_context()
    assert drv.Context.get_device() == drv.Device(1)
    second.pop()
    assert drv.Context.get_device() == drv.Device(0)
    first.pop()


@pytest.mark.starts_processes
def test_process_exits_cleanly_with_contexts_on_stack():
    program = "import PyGPU.autoinit, PyGPU.driver as drv; drv.Device(0).make_context(); drv.Stream(); print('done')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"


@pytest.mark.parametrize("name", ["autoinit", "autoprimaryctx"])
@pytest.mark.starts_processes
def test_import_of_autoinit_creates_context(name):
    program = f"""
import PyGPU.{name} as auto, PyGPU.driver as drv
assert auto.device == drv.Context.get_device() and drv.Context.get_current() is auto.context
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_limits_of_context_are_readable_or_raise_not_supported():
    try:
        before = drv.Context.get_limit(drv.limit.STACK_SIZE)
    except PyGPU.NotSupportedError:
        return
    drv.Context.set_limit(drv.limit.STACK_SIZE, before)
    preference = drv.Context.get_cache_config()
    drv.Context.set_cache_config(preference)


def test_streams_and_events_have_pycuda_methods():
    stream, event = drv.Stream(), drv.Event(drv.event_flags.BLOCKING_SYNC)
    assert event.record(stream) is event
    assert event.synchronize() is event
    assert event.query() is True
    other = drv.Stream(1)
    other.wait_for_event(event)
    other.synchronize()
    assert other.is_done()
    assert isinstance(stream.handle, int)
    end = drv.Event().record()
    end.synchronize()
    assert end.time_since(event) == event.time_till(end)
    assert drv.Event(drv.event_flags.DISABLE_TIMING).record().synchronize().query()


def test_pycuda_stream_is_accepted_by_pygpu():
    stream = drv.Stream()
    array = PyGPU.to_gpu_async(np.arange(3), stream=stream)
    assert array.get(stream=stream).tolist() == [0, 1, 2]
    with stream:
        assert PyGPU.current_stream() == stream


@pytest.mark.provokes_errors
def test_streams_and_events_reject_wrong_flags_and_handles():
    for make in (lambda: drv.Stream(2), lambda: drv.Event(8)):
        with pytest.raises(drv.LogicError):
            make()
    # The error states that the backend does not support shared events, or that the handle is invalid.
    with pytest.raises(drv.Error):
        drv.Event.from_ipc_handle(bytearray(64))


def test_module_loads_from_memory_and_file(tmp_path):
    image = compile_source(ONE)
    path = tmp_path / "one.image"
    path.write_bytes(image)
    messages = []
    for module in (
        drv.module_from_buffer(image, message_handler=lambda *said: messages.append(said)),
        drv.module_from_buffer(bytearray(image), [(drv.jit_option.MAX_REGISTERS, 32)]),
        drv.module_from_file(str(path)),
    ):
        out = np.zeros(1, np.int32)
        module.get_function("one")(drv.Out(out), block=(1, 1, 1), grid=(1, 1))
        assert out[0] == 1
        assert module.get_global("counter")[1] == 12
    assert messages[0][0] is True


@pytest.mark.provokes_errors
def test_missing_module_member_raises_logic_error():
    module = drv.module_from_buffer(compile_source(ONE))
    for ask in (module.get_function, module.get_global, module.get_texref, module.get_surfref):
        with pytest.raises(drv.LogicError, match="nothing"):
            ask("nothing")


@pytest.mark.provokes_errors
def test_invalid_image_raises_logic_error():
    messages = []
    with pytest.raises(drv.LogicError):
        drv.module_from_buffer(b"no image at all", message_handler=lambda *said: messages.append(said))
    assert messages[0][0] is False


def test_profiler_starts_and_stops_and_opengl_is_absent():
    drv.start_profiler()
    drv.stop_profiler()
    assert drv.have_gl_ext() is False
    with pytest.raises(PyGPU.NotSupportedError, match="nsys"):
        drv.initialize_profiler("", "", drv.profiler_output_mode.CSV)
