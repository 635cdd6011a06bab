"""Test programs with two GPUs: the current device, copies between the GPUs, and memory of the second GPU that other
libraries use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import PyGPU
from gpu import support
from gpu.kernel_library import Kernels
from gpu.support import COUNT, SECONDS, Interface, no_wait, same, values
from installed.numpy_version import since_numpy

support.require_gpu()
if PyGPU.device_count() < 2:
    pytest.skip("needs two devices", allow_module_level=True)


@pytest.fixture(autouse=True)
def _on_the_first() -> Iterator[None]:
    PyGPU.set_device(0)
    yield
    assert PyGPU.current_device() == 0, "a call has changed the current device"
    for device in (0, 1):
        PyGPU.synchronize(device)


def test_array_is_on_requested_or_else_current_device() -> None:
    second = PyGPU.zeros(3, device=1)
    assert second.device.index == 1
    assert second.__dlpack_device__() == (10 if support.on_hip() else 2, 1)
    assert second[1:].device == second.copy().device == second.device
    with PyGPU.Device(1):
        assert PyGPU.zeros(3).device.index == 1
    assert PyGPU.zeros(3).device.index == 0
    assert second.tolist() == [0, 0, 0]


def test_set_device_affects_calling_thread_only() -> None:
    import threading

    seen: list[int] = []
    PyGPU.set_device(1)
    try:
        thread = threading.Thread(target=lambda: seen.append(PyGPU.current_device()))
        thread.start()
        thread.join()
    finally:
        PyGPU.set_device(0)
    assert seen == [0]


@pytest.mark.parametrize("take", [lambda a: a, lambda a: a.T, lambda a: a[::-1, ::2]], ids=["whole", "T", "strided"])
@pytest.mark.parametrize(("source", "target"), [(0, 1), (1, 0)])
def test_array_copied_to_other_device_has_same_values(take: Any, source: int, target: int) -> None:
    host = values((50, 60))
    there = take(PyGPU.to_gpu(host, device=source))
    here = PyGPU.asarray(there, device=target)
    assert here.device.index == target
    assert there.device.index == source
    same(here.get(), take(host))


def test_copy_between_devices_waits_for_unfinished_write(kernels: Kernels) -> None:
    array = PyGPU.full(COUNT, 1, "float32")
    target = PyGPU.zeros(COUNT, "float32", device=1)
    PyGPU.synchronize(0)
    PyGPU.synchronize(1)
    slow = PyGPU.Stream(non_blocking=True)
    with slow:
        kernels.spin(SECONDS, slow.handle)
        array.fill(2)
    copied = PyGPU.asarray(array, device=1)
    array.fill(3)  # This fill changes the source of the copy, so the fill must wait for the copy.
    assert (copied.get() == 2).all()
    assert (array.get() == 3).all()
    del target


def test_peer_access_can_be_enabled_more_than_once() -> None:
    if not PyGPU.can_access_peer(0, 1):
        pytest.skip("the devices do not reach each other")
    PyGPU.enable_peer_access(0, 1)
    PyGPU.enable_peer_access(0, 1)


def test_stream_of_device_1_is_current_stream_of_device_1_only() -> None:
    stream = PyGPU.Stream(device=1)
    assert stream.device.index == 1
    with stream:
        assert PyGPU.current_stream(1) == stream
        assert PyGPU.current_stream(0).is_default
        assert PyGPU.zeros(3).device.index == 0
        assert PyGPU.zeros(3, device=1).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=support.device_name(1)):
        PyGPU.zeros(3).record_stream(stream)


def test_stream_waits_for_stream_of_other_device(kernels: Kernels) -> None:
    first, second = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True, device=1)
    kernels.spin(SECONDS, first.handle)
    with no_wait():
        second.wait_stream(first)
    assert not second.query()
    second.synchronize()
    assert first.query()


def test_memory_statistics_are_separate_for_each_device() -> None:
    before = [PyGPU.memory_statistics(device)["bytes"] for device in (0, 1)]
    array = PyGPU.empty(1 << 20, "uint8", device=1)
    after = [PyGPU.memory_statistics(device)["bytes"] for device in (0, 1)]
    assert after == [before[0], before[1] + array.nbytes]


def test_torch_shares_memory_of_array_on_noncurrent_device() -> None:
    support.require_peers()
    torch = pytest.importorskip("torch")
    host = values()
    array = PyGPU.to_gpu(host, device=1)
    tensor = torch.from_dlpack(array)
    assert tensor.device == torch.device("cuda", 1)
    assert tensor.data_ptr() == array.ptr
    same(tensor.cpu().numpy(), host)
    back = PyGPU.from_dlpack(tensor)
    assert back.device.index == 1
    assert back.ptr == array.ptr
    assert torch.cuda.current_device() == 0


def test_pygpu_shares_memory_of_tensor_on_noncurrent_device() -> None:
    support.require_peers()
    torch = pytest.importorskip("torch")
    host = values()
    tensor = torch.from_numpy(host).to("cuda:1")
    for take in (PyGPU.asarray, PyGPU.from_dlpack):
        array = take(tensor)
        assert array.device.index == 1
        assert array.ptr == tensor.data_ptr()
        same(array.get(), host)
    assert torch.cuda.current_device() == 0


def test_import_of_interface_dictionary_finds_device_of_address() -> None:
    owner = PyGPU.to_gpu(values(), device=1)
    PyGPU.synchronize(1)
    shared = PyGPU.asarray(Interface(owner))
    assert shared.device.index == 1
    same(shared.get(), values())


def test_interface_import_of_array_copied_between_devices_is_correct() -> None:
    for stream in (PyGPU.Stream(), PyGPU.default_stream()):
        with stream:
            there = PyGPU.asarray(PyGPU.to_gpu(values()), device=1)
        for current in (0, 1):
            with PyGPU.Device(current):
                shared = PyGPU.asarray(Interface(there, **there.__cuda_array_interface__))
                assert shared.device.index == 1
                same(shared.get(), values())


def test_empty_array_of_other_device_is_imported_by_interface_dictionary() -> None:
    with PyGPU.Stream(device=1):
        empty = PyGPU.zeros((0, 2), "float32", device=1)
    shared = PyGPU.asarray(Interface(empty, **empty.__cuda_array_interface__))
    assert shared.shape == (0, 2)
    assert shared.tolist() == []


def test_cupy_and_pygpu_exchange_arrays_of_noncurrent_device() -> None:
    support.require_peers()
    cupy = pytest.importorskip("cupy")
    array = PyGPU.to_gpu(values(), device=1)
    shared = cupy.from_dlpack(array)
    assert shared.device.id == 1
    assert shared.data.ptr == array.ptr
    copied = cupy.asarray(array)  # `cupy.asarray` copies the array to CuPy's current device 0.
    assert copied.device.id == 0
    same(cupy.asnumpy(copied), values())
    with cupy.cuda.Device(1):
        theirs = cupy.asarray(values())
    taken = PyGPU.asarray(theirs)
    assert taken.device.index == 1
    same(taken.get(), values())


def test_pygpu_stream_of_torch_stream_handle_has_same_device() -> None:
    support.require_peers()
    torch = pytest.importorskip("torch")
    theirs = torch.cuda.Stream(device=1)
    assert PyGPU.Stream.from_handle(theirs.cuda_stream).device.index == 1
    with pytest.raises(ValueError, match="cuda"):
        PyGPU.zeros(3).record_stream(theirs.cuda_stream)


@since_numpy("2.1", "device= of from_dlpack")
def test_numpy_from_dlpack_copies_array_of_either_device_to_host() -> None:
    for device in (0, 1):
        array = PyGPU.to_gpu(values(), device=device)
        same(numpy.from_dlpack(array, device="cpu"), values())
