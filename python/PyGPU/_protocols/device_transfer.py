"""The array API's method `to_device`, which copies an array to another device."""

from __future__ import annotations

import contextlib
from typing import Any

from PyGPU import _core

__all__: list[str] = []


def to_device(array: _core.GPUArray, device: Any, stream: Any = None) -> _core.GPUArray:
    """Copy an array to a device, or return the array itself if it is already on this device."""
    target = device if isinstance(device, _core.Device) else _core.Device(device)
    if target == array.device:
        return array
    with contextlib.nullcontext() if stream is None else _current(stream, array.device):
        return _core.asarray(array, device=target)


def _current(stream: Any, device: _core.Device) -> Any:
    """Convert a stream or a handle to a `PyGPU.Stream`, which can be made current."""
    if isinstance(stream, _core.Stream):
        return stream
    return _core.Stream.from_handle(stream, device)
