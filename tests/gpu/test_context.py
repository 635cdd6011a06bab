"""Test driver contexts: PyGPU uses only a device's primary context, and restores the previously current context."""

from __future__ import annotations

import ctypes
import threading

import pytest

import PyGPU
from gpu import support

support.require_cuda()

PRELUDE = """
import ctypes
library = ctypes.CDLL("libcuda.so.1")
assert library.cuInit(0) == 0
count = ctypes.c_int()
assert library.cuDeviceGetCount(ctypes.byref(count)) == 0
def active():
    result = []
    for device in range(count.value):
        flags, state = ctypes.c_uint(), ctypes.c_int()
        assert library.cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(state)) == 0
        result.append(state.value)
    return result
def current():
    context = ctypes.c_void_p()
    assert library.cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value
def primary(device=0):
    context = ctypes.c_void_p()
    assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    return context.value
"""


def run(body: str) -> str:
    """Run a script that begins with PRELUDE, and check that it terminates normally."""
    return support.ended_well(support.run_script(PRELUDE + body))


@pytest.mark.starts_processes
def test_calls_that_need_no_device_create_no_context() -> None:
    script = "assert not any(active())\n"
    for code in [
        "import PyGPU",
        "PyGPU.backend_name()",
        "PyGPU.device_count()",
        "PyGPU.Device('cuda:0')",
        "PyGPU.empty((0, 3), device='cpu').__dlpack_device__()",
        "PyGPU.zeros(3, device='cpu').get()",
    ]:
        script += f"{code}\nassert not any(active()), ({code!r}, active())\n"
    assert run(script + "print('ended')\n") == "ended"


@pytest.mark.starts_processes
def test_import_of_pygpu_opens_no_driver() -> None:
    script = """
        import PyGPU
        with open("/proc/self/maps") as maps:
            assert "libcuda.so" not in maps.read()
        print("ended")
    """
    assert support.ended_well(support.run_script(script)) == "ended"


@pytest.mark.starts_processes
def test_array_creates_only_primary_context_of_its_device() -> None:
    body = """
import PyGPU
array = PyGPU.zeros(3)
assert array.__dlpack_device__() == (2, 0)
assert active() == [1] + [0] * (count.value - 1), active()
assert current() in (None, primary())
assert array.tolist() == [0, 0, 0]
print("ended")
"""
    assert run(body) == "ended"


@pytest.mark.starts_processes
@pytest.mark.skipif(not hasattr(support.driver(), "cuCtxCreate_v2"), reason="this driver has primary contexts only")
def test_context_of_another_library_stays_current() -> None:
    # Like a program that uses PyCUDA, the script makes a second context of the device current.
    body = """
import PyGPU
context = ctypes.c_void_p()
assert library.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
assert current() == context.value
array = PyGPU.zeros(3)
assert current() == context.value
array[0] = 5
with PyGPU.Stream():
    assert array.copy().tolist() == [5, 0, 0]
PyGPU.synchronize()
del array
assert current() == context.value
print("ended")
"""
    assert run(body) == "ended"


def test_after_pygpu_call_thread_has_primary_context_or_none() -> None:
    seen: list[tuple[int, int]] = []

    def work() -> None:
        before = support.current_context()
        array = PyGPU.full(5, 2)
        assert array.tolist() == [2] * 5
        seen.append((before, support.current_context()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before, after = seen[0]
    assert before == 0
    primary = ctypes.c_void_p()
    assert support.driver().cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0) == 0
    support.driver().cuDevicePrimaryCtxRelease_v2(0)
    assert after in (0, primary.value)


def test_with_device_restores_current_device_and_context() -> None:
    before = PyGPU.current_device()
    # Make a context current first: if no context is current before the `with` block, the context of device 0 stays
    # current after it.
    PyGPU.set_device(before)
    context = support.current_context()
    with PyGPU.Device(0):
        PyGPU.zeros(3)
    assert PyGPU.current_device() == before
    assert support.current_context() == context


@pytest.mark.starts_processes
def test_pygpu_and_torch_have_same_current_device() -> None:
    script = """
        import PyGPU, torch
        for device in range(PyGPU.device_count()):
            torch.cuda.set_device(device)
            torch.zeros(1, device="cuda")
            assert PyGPU.current_device() == device
            assert PyGPU.zeros(3).device.index == device
            assert torch.cuda.current_device() == device
        for device in reversed(range(PyGPU.device_count())):
            PyGPU.set_device(device)
            assert torch.cuda.current_device() == device
            assert torch.zeros(3, device="cuda").device.index == device
        print("ended")
    """
    pytest.importorskip("torch")
    assert support.ended_well(support.run_script(script, timeout=100)) == "ended"


@pytest.mark.starts_processes
def test_array_on_device_0_creates_no_context_on_other_devices() -> None:
    script = """
        import os, pynvml
        import PyGPU
        array = PyGPU.zeros(1000)
        pynvml.nvmlInit()
        used = PyGPU.Device(0).uuid
        for number in range(pynvml.nvmlDeviceGetCount()):
            device = pynvml.nvmlDeviceGetHandleByIndex(number)
            uuid = pynvml.nvmlDeviceGetUUID(device)
            uuid = uuid.decode() if isinstance(uuid, bytes) else uuid
            try:
                pids = {process.pid for process in pynvml.nvmlDeviceGetComputeRunningProcesses(device)}
            except pynvml.NVMLError:
                continue
            if uuid != used:
                assert os.getpid() not in pids, uuid
        print("ended")
    """
    pytest.importorskip("pynvml")
    assert support.ended_well(support.run_script(script)) == "ended"
