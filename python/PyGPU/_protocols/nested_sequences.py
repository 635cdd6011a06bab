"""Convert nested sequences of device arrays to one array without copies to the host."""

from __future__ import annotations

from typing import Any

from PyGPU import _core, _functions

__all__: list[str] = []


def joined(values: Any) -> _core.GPUArray | None:
    """Join the arrays in nested sequences to one array; return None if the sequences contain no device array."""
    first_array = _find_array(values)
    if first_array is None:
        return None
    stack = _functions.find("stack")

    def join(element: Any) -> _core.GPUArray:
        if not isinstance(element, (list, tuple)) or _find_array(element) is None:
            return _core.asarray(element, device=None if isinstance(element, _core.GPUArray) else first_array.device)
        stacked: _core.GPUArray = stack([join(inner) for inner in element])
        return stacked

    return join(values)


def _find_array(values: Any) -> _core.GPUArray | None:
    """Return the first device array in nested sequences."""
    if isinstance(values, _core.GPUArray):
        return values
    if isinstance(values, (list, tuple)):
        return next((first_array for element in values if (first_array := _find_array(element)) is not None), None)
    return None
