"""Sequences of arrays: joined on their device, not read element by element on the host."""

from __future__ import annotations

from typing import Any

from PyGPU import _core, _functions

__all__: list[str] = []


def joined(given: Any) -> _core.GPUArray | None:
    """Join the arrays in nested sequences; return None if no device array is among them."""
    found = _first(given)
    if found is None:
        return None
    stack = _functions.find("stack")

    def one(part: Any) -> _core.GPUArray:
        if not isinstance(part, (list, tuple)) or _first(part) is None:
            return _core.asarray(part, device=None if isinstance(part, _core.GPUArray) else found.device)
        made: _core.GPUArray = stack([one(inner) for inner in part])
        return made

    return one(given)


def _first(given: Any) -> _core.GPUArray | None:
    """Find the first array in nested sequences."""
    if isinstance(given, _core.GPUArray):
        return given
    if isinstance(given, (list, tuple)):
        return next((found for part in given if (found := _first(part)) is not None), None)
    return None
