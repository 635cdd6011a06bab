"""`to_device` of the array API: transfers between devices."""

from __future__ import annotations

import contextlib
from typing import Any

from PyGPU import _core

__all__: list[str] = []


def to_device(array: _core.GPUArray, device: Any, stream: Any = None) -> _core.GPUArray:
    """Copy an array to a device, or return the array itself if it is already there."""
    target = device if isinstance(device, _core.Device) else _core.Device(device)
    if target == array.device:
        return array
    with contextlib.nullcontext() if stream is None else _current(stream, array.device):
        return _core.asarray(array, device=target)


def _current(stream: Any, device: _core.Device) -> Any:
    """Return the stream as a PyGPU object that can be made current."""
    if isinstance(stream, _core.Stream):
        return stream
    return _core.Stream.from_handle(stream, device)
