"""Define operations that concern sharing protocols, streams, devices, pinned memory, and the drop of arrays."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

import PyGPU
from installed.numpy_version import is_numpy
from soak_operations.operation_registry import device_of, in_numbers, of_moderate_size, operation, writeable

if TYPE_CHECKING:
    from soak import Held, Soak

# Operations that share the memory of an array by a protocol such as DLPack.


def alias(soak: Soak, held: Held, array: PyGPU.GPUArray) -> Held:
    """Create a second array over the memory of an array; PyGPU cannot detect that the two arrays share memory."""
    held.family.lent = True
    soak.settle(held)
    return soak.hold(array, held.twin, held.family)


def has_strides_in_elements(held: Held) -> bool:
    """Return whether DLPack can describe an array: it counts strides in elements.

    The strides of a field in a structured array may not be multiples of the element size.
    """
    return all(stride % held.array.dtype.itemsize == 0 for stride in held.array.strides)


@operation(2)
def own_dlpack(soak: Soak) -> Held | None:
    """Import an array of PyGPU into PyGPU by DLPack: the array itself, or its capsule, which hides the owner."""
    if (held := soak.pick(in_numbers)) is None:
        return None
    if soak.choices.chance(2):
        return soak.hold(PyGPU.from_dlpack(held.array), held.twin, held.family)
    if not held.array.flags.writeable or not held.twin.flags.writeable or not has_strides_in_elements(held):
        return None
    versions = soak.choices.choice([{}, {"max_version": (1, 1)}])
    soak.note(versions)
    return alias(soak, held, PyGPU.from_dlpack(held.array.__dlpack__(**versions)))


class Shown:
    """Export the memory of an array by an array interface only."""

    def __init__(self, array: PyGPU.GPUArray) -> None:
        name = "__array_interface__" if array.device.kind == "cpu" else "__cuda_array_interface__"
        self.owner = array
        setattr(self, name, getattr(array, name))


@operation(2)
def own_interface(soak: Soak) -> Held | None:
    # PyGPU rejects an array interface of unaligned elements, which a field of a structured array may have.
    if (held := soak.pick(lambda held: in_numbers(held) and writeable(held) and held.twin.flags.aligned)) is None:
        return None
    return alias(soak, held, PyGPU.asarray(Shown(held.array), device=held.array.device))


@operation(3)
def numpy_dlpack(soak: Soak) -> Held | None:
    """Let NumPy write into the memory of a CPU array through DLPack; from a device array NumPy receives a copy."""
    if (held := soak.pick(in_numbers)) is None:
        return None
    if held.array.device.kind != "cpu":
        host = np.from_dlpack(held.array, device="cpu") if is_numpy("2.1") else held.array.get()
        soak.same("__dlpack__ to the host", host, held.twin)
        return held
    in_elements = has_strides_in_elements(held)
    by_interface = soak.choices.chance(2)
    # DLPack without a version cannot describe read-only arrays.
    by_interface |= not held.array.flags.writeable and not is_numpy("2.1")
    shown = np.asarray(held.array) if by_interface or not in_elements else np.from_dlpack(held.array)
    soak.same("NumPy", shown, held.twin)
    if held.writeable and shown.flags.writeable:
        shown[...] = soak.choices.values(held.twin.shape, held.twin.dtype)
        held.twin[...] = shown
    # PyGPU rejects a tensor whose elements are unaligned.
    can_come_back = in_elements and shown.flags.aligned and held.writeable == shown.flags.writeable
    can_come_back &= shown.flags.writeable or is_numpy("2.1")
    if soak.choices.chance(2) and can_come_back:
        return alias(soak, held, PyGPU.from_dlpack(shown))
    return held


@cache
def peers() -> list[ModuleType]:
    """Return PyTorch and CuPy, if they are installed and PyGPU runs on a real CUDA device."""
    if PyGPU.backend_name() != "cuda" or hasattr(ctypes.CDLL("libcuda.so.1"), "sim_reports"):
        return []
    return [importlib.import_module(name) for name in ("torch", "cupy") if importlib.util.find_spec(name)]


@operation(1)
def peer(soak: Soak) -> Held | None:
    """Let PyTorch or CuPy add 1 to the elements, and import the memory again.

    The operation synchronizes the devices explicitly.
    """
    if not peers():
        return None
    held = soak.pick(lambda held: held.twin.dtype == np.int32 and writeable(held) and held.twin.size > 0)
    if held is None or held.array.device.kind == "cpu" or not held.array.flags.c_contiguous:
        return None
    module = soak.choices.choice(peers())
    soak.note(module.__name__)
    theirs = module.from_dlpack(held.array)
    soak.synchronize()
    theirs += 1
    held.twin[...] += 1
    soak.synchronize()
    return alias(soak, held, PyGPU.from_dlpack(theirs))


# Operations on streams, devices and pinned memory, and operations that drop arrays.


@operation(6)
def drop(soak: Soak) -> bool | None:
    if not soak.live:
        return None
    soak.drop()
    return True


@operation(2)
def switch(soak: Soak) -> bool:
    """Make another device and stream current: a new stream, an earlier stream, or the device's default stream."""
    device = soak.choices.choice([device for device in soak.devices if device.kind == soak.device.kind])
    streams = [stream for stream in soak.streams if stream.device == device]
    choice = soak.choices.randrange(3)
    soak.note(device.index, choice)
    stream = None
    if choice == 0:
        stream = PyGPU.Stream(non_blocking=soak.choices.chance(2), device=device)
        soak.streams.append(stream)
    elif choice == 1 and streams:
        stream = soak.choices.choice(streams)
    soak.go(device, stream)
    if len(soak.streams) > 4 * len(soak.devices):
        soak.streams.pop(soak.choices.randrange(len(soak.streams)))
    return True


@operation(1)
def event(soak: Soak) -> bool:
    mark = PyGPU.Event(timing=soak.choices.chance(2), device=soak.device)
    mark.record()
    streams = [stream for stream in soak.streams if stream.device.kind == soak.device.kind]
    if streams and soak.choices.chance(2):
        soak.choices.choice(streams).wait_event(mark)
    if soak.choices.chance(2):
        mark.synchronize()
        soak.same("query", mark.query(), True)
    return True


@operation(1)
def record_stream(soak: Soak) -> Held | None:
    if (held := soak.pick()) is None:
        return None
    streams = [stream for stream in soak.streams if stream.device == held.array.device]
    if not streams:
        return None
    held.array.record_stream(soak.choices.choice(streams))
    return held


@operation(2)
def pinned(soak: Soak) -> Held | None:
    """Start asynchronous copies and drop the host memory before the copies are complete, which is allowed."""
    if (held := soak.pick(lambda held: writeable(held) and of_moderate_size(held))) is None:
        return None
    memory = PyGPU.empty_pinned(held.twin.shape, held.twin.dtype)
    if soak.choices.chance(2):
        memory[...] = soak.choices.values(held.twin.shape, held.twin.dtype)
        held.array.set_async(memory)
        held.twin[...] = memory
        return held
    held.array.get_async(ary=memory)
    PyGPU.current_stream(held.array.device).synchronize()
    soak.same("get_async", memory, held.twin)
    return held


@operation(1)
def synchronize(soak: Soak) -> bool:
    PyGPU.synchronize(device_of(soak))
    return True
