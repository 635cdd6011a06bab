"""The function `roll`, whose shift may be an array on the device, as in CuPy."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._cupy.public_lookup import own

__all__ = ["roll"]


def roll(a: _core.GPUArray, shift: Any, axis: Any = None) -> _core.GPUArray:
    """Shift elements along axes; elements beyond the last position reappear at the first.

    Parameters
    ----------
    a : GPUArray
        Array.
    shift : int, tuple of ints or GPUArray
        Number of positions by which to shift. The host waits for a GPUArray.
    axis : int or tuple of ints, optional
        The axes; by default the flattened array is shifted.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.roll(cupy.arange(4), cupy.array(1)).tolist()
    [3, 0, 1, 2]
    """
    shifts = shift.get() if isinstance(shift, _core.GPUArray) else shift
    result: _core.GPUArray = own("roll")(a, shifts, axis)
    return result
