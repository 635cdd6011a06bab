"""Test `Device`: names, properties, comparison, and `with`, which changes the current device of a thread."""

import copy
import pickle
import re
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import PyGPU
from support import stable_repr

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")
two_devices = pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")

NO_DEVICES = [True, False, 1.0, b"cuda:0", [0], object(), np.float32(0), np.bool_(True)]
MISSING = [-1, 64, 2**40, np.int64(99)]


def test_device_without_arguments_is_current_device() -> None:
    device = PyGPU.Device()
    assert device.index == device.id == PyGPU.current_device()
    assert device.kind == BACKEND
    assert device == PyGPU.Device(None)


@pytest.mark.parametrize("index", [0, np.int32(0), np.uint8(0)])
def test_device_of_integer_belongs_to_default_backend(index: object) -> None:
    assert PyGPU.Device(index) == PyGPU.Device(str(PyGPU.Device(0)))


def test_device_constructed_from_str_of_device_equals_device() -> None:
    device = PyGPU.Device(PyGPU.device_count() - 1)
    assert PyGPU.Device(str(device)) == device
    assert repr(device) == f"Device('{device}')"
    assert eval(repr(device), {"Device": PyGPU.Device}) == device


def test_device_constructor_accepts_device_object() -> None:
    assert PyGPU.Device(PyGPU.Device("cpu")) == PyGPU.Device("cpu")
    assert str(PyGPU.Device("cpu:0")) == "cpu"


def test_devices_are_compared_and_hashed_by_value() -> None:
    assert PyGPU.Device(0) == PyGPU.Device(0)
    assert hash(PyGPU.Device(0)) == hash(PyGPU.Device(0))
    assert {PyGPU.Device(0): 1}[PyGPU.Device(0)] == 1
    assert PyGPU.Device("cpu") != "cpu"
    assert PyGPU.Device(0) != 0
    assert (PyGPU.Device("cpu") == PyGPU.Device(0)) is (BACKEND == "cpu")


def test_devices_are_copied_and_pickled_by_value() -> None:
    device = PyGPU.Device(0)
    for other in (copy.copy(device), copy.deepcopy(device), pickle.loads(pickle.dumps(device))):
        assert other == device


def test_device_supports_weak_references() -> None:
    device = PyGPU.Device(0)
    assert weakref.ref(device)() is device


@pytest.mark.parametrize("device", NO_DEVICES, ids=stable_repr)
@pytest.mark.parametrize(
    "call",
    [PyGPU.Device, PyGPU.set_device, PyGPU.synchronize, PyGPU.reset_device, PyGPU.device_properties, PyGPU.memory_info],
)
def test_device_argument_of_wrong_type_raises_type_error_with_value(call, device) -> None:
    with pytest.raises(TypeError, match=r"the device is .*; expected None, an int, a name"):
        call(device)


@pytest.mark.parametrize("device", MISSING)
@pytest.mark.parametrize("call", [PyGPU.Device, PyGPU.set_device, PyGPU.device_properties, PyGPU.memory_info])
def test_device_number_beyond_count_raises_value_error_with_count(call, device) -> None:
    with pytest.raises(ValueError, match=rf"device {device} does not exist: the {BACKEND} backend has \d+"):
        call(device)


@pytest.mark.parametrize("device", [10**30, -(10**30)])
def test_device_number_beyond_64_bits_raises_value_error(device: int) -> None:
    with pytest.raises(ValueError, match=str(device)):
        PyGPU.Device(device)


@pytest.mark.parametrize("name", ["", "gpu", "cuda0", "cpu:1", "cpu:-1", "cpu:x", "cpu:", "CPU", "cpu:0:0", "cpu "])
def test_unknown_device_name_raises_value_error(name: str) -> None:
    with pytest.raises(ValueError, match=rf"'{name}'|device|no device number"):
        PyGPU.Device(name)


@pytest.mark.parametrize("call", [PyGPU.set_device, PyGPU.device_properties])
def test_functions_that_require_device_reject_none(call) -> None:
    with pytest.raises(TypeError, match="must be named"):
        call(None)


def test_device_properties_have_documented_keys() -> None:
    properties = PyGPU.device_properties(0)
    assert properties == PyGPU.Device(0).properties
    assert set(properties) == {
        "name", "uuid", "pci_domain", "pci_bus", "pci_device", "compute_capability", "architecture", "total_memory",
        "multiprocessor_count", "warp_size", "max_threads_per_block", "l2_cache_size", "clock_rate", "memory_pools",
        "integrated", "async_engine_count",
    }  # fmt: skip
    assert properties["name"] == PyGPU.Device(0).name
    assert isinstance(properties["uuid"], bytes)
    assert len(properties["uuid"]) == 16
    assert len(properties["compute_capability"]) == 2
    assert properties["total_memory"] > 0
    assert isinstance(properties["memory_pools"], bool)


def test_uuid_format_matches_vendor_tools() -> None:
    text = PyGPU.Device(0).uuid
    prefix = "CPU" if BACKEND == "cpu" else "GPU"
    assert re.fullmatch(prefix + "-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)
    assert bytes.fromhex(text[4:].replace("-", "")) == PyGPU.device_properties(0)["uuid"]


def test_memory_info_returns_free_and_total_bytes_of_device() -> None:
    for free, total in (PyGPU.memory_info(), PyGPU.memory_info(0), PyGPU.Device(0).memory_info()):
        assert 0 < free <= total


def test_synchronize_of_device_returns_none() -> None:
    assert PyGPU.Device(0).synchronize() is None
    assert PyGPU.synchronize() is None
    assert PyGPU.synchronize("cpu") is None
    assert PyGPU.synchronize(0) is None


def test_set_device_and_make_current_select_current_device() -> None:
    found = PyGPU.current_device()
    for index in range(PyGPU.device_count()):
        PyGPU.set_device(index)
        assert PyGPU.current_device() == index
        PyGPU.Device(found).make_current()
        assert PyGPU.current_device() == found


def test_with_block_makes_device_current_and_restores_previous_device() -> None:
    found = PyGPU.current_device()
    device = PyGPU.Device(PyGPU.device_count() - 1)
    with device as entered:
        assert entered is device
        assert PyGPU.Device() == device
    assert PyGPU.current_device() == found


def test_with_device_restores_previous_device_after_exception() -> None:
    found = PyGPU.current_device()
    with pytest.raises(KeyError), PyGPU.Device(PyGPU.device_count() - 1):
        raise KeyError
    assert PyGPU.current_device() == found


@two_devices
def test_device_context_is_reentrant() -> None:
    first, second = PyGPU.Device(0), PyGPU.Device(1)
    found = PyGPU.current_device()
    with first:
        with second:
            with first:
                assert PyGPU.Device() == first
            assert PyGPU.Device() == second
        assert PyGPU.Device() == first
    assert PyGPU.current_device() == found


def test_device_exit_without_enter_raises_runtime_error() -> None:
    with pytest.raises(RuntimeError, match="not entered"):
        PyGPU.Device(0).__exit__(None, None, None)


def test_each_thread_restores_device_that_was_current_in_thread() -> None:
    device, barrier, failures = PyGPU.Device(PyGPU.device_count() - 1), threading.Barrier(4), []

    def work(index: int) -> None:
        found = PyGPU.Device(index % PyGPU.device_count())
        found.make_current()
        for _ in range(50):
            with device:
                barrier.wait()
                if PyGPU.Device() != device:
                    failures.append("inside")
            if PyGPU.Device() != found:
                failures.append("after")

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@gpu_only
def test_host_device_cannot_be_current_if_default_backend_is_gpu() -> None:
    found = PyGPU.current_device()
    for enter in (PyGPU.Device("cpu").make_current, PyGPU.Device("cpu").__enter__, lambda: PyGPU.set_device("cpu")):
        with pytest.raises(ValueError, match="PYGPU_BACKEND=cpu"):
            enter()
    assert PyGPU.current_device() == found


def test_device_has_peer_access_to_itself() -> None:
    assert PyGPU.can_access_peer(0, 0)
    assert PyGPU.Device(0).can_access_peer(PyGPU.Device(0))
    assert PyGPU.enable_peer_access(0, 0) is None
    assert PyGPU.Device(0).enable_peer_access(0) is None


@two_devices
def test_enabling_peer_access_twice_raises_no_error() -> None:
    if not PyGPU.can_access_peer(0, 1):
        pytest.skip("no path between device 0 and device 1")
    PyGPU.enable_peer_access(0, 1)
    PyGPU.Device(0).enable_peer_access("cuda:1" if BACKEND == "cuda" else 1)


@gpu_only
def test_devices_of_two_drivers_are_no_peers() -> None:
    for call in (PyGPU.can_access_peer, PyGPU.enable_peer_access):
        with pytest.raises(ValueError, match="different drivers"):
            call(0, "cpu")


@pytest.mark.parametrize("call", [PyGPU.can_access_peer, PyGPU.enable_peer_access])
def test_peer_access_functions_reject_none_and_unknown_device(call) -> None:
    with pytest.raises(TypeError):
        call(0, None)
    with pytest.raises(TypeError):
        call(None, 0)
    with pytest.raises(ValueError, match="device 63"):
        call(0, 63)


def test_backend_name_is_valid_and_driver_version_is_0_only_for_cpu() -> None:
    assert BACKEND in ("cuda", "hip", "cpu")
    assert (PyGPU.driver_version() == 0) is (BACKEND == "cpu")
    assert PyGPU.device_count() >= 1


def test_default_stream_of_device_belongs_to_this_device() -> None:
    device = PyGPU.Device(PyGPU.device_count() - 1)
    assert device.default_stream.is_default
    assert device.default_stream.device == device
    assert device.default_stream == PyGPU.default_stream(device)


def test_arrays_and_events_are_valid_after_reset_of_cpu_device() -> None:
    pinned = PyGPU.zeros_pinned(4, device="cpu")
    event = PyGPU.Event(device="cpu").record()
    PyGPU.reset_device("cpu")
    event.synchronize()
    assert pinned.sum() == 0


RESET = """
import PyGPU
from PyGPU import _core

stream, event, address = PyGPU.Stream(), PyGPU.Event(), _core.raw_allocate(64)
pinned = _core.host_allocate(64)
PyGPU.reset_device()
for call in (stream.synchronize, stream.query, stream.record, event.record, event.synchronize, event.query):
    try:
        call()
    except ValueError as error:
        assert "reset" in str(error), error
    else:
        raise SystemExit(f"{call} did not notice")
for free, dead in ((_core.raw_free, address), (_core.host_free, pinned)):
    try:
        free(dead)
    except PyGPU.CudaError as error:
        assert error.code == 1
    else:
        raise SystemExit("an address outlived the reset")
assert PyGPU.memory_statistics()["count"] == 0
PyGPU.Stream().record().synchronize()
_core.raw_free(_core.raw_allocate(64))
print("ok")
"""


@gpu_only
def test_objects_created_before_device_reset_raise_after_reset() -> None:
    done = subprocess.run([sys.executable, "-c", RESET], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ok\n", "")
