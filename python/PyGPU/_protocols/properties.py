"""NumPy's functions that look at the types and places of arrays and not at their elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from PyGPU import _core

__all__: list[str] = []


def common_type(*arrays: Any) -> Any:
    """Return the inexact type of NumPy's that several arrays have in common."""
    return np.common_type(*(_stand_in(one) for one in arrays))


def min_scalar_type(a: Any) -> np.dtype[Any]:
    """Return the type of an array; of one without axes that of its values, which need not be looked at."""
    dtype: np.dtype[Any] = a.dtype
    return dtype if a.ndim else np.min_scalar_type(a.get())


def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Whether two arrays may have bytes in common."""
    return _same_memory(np.may_share_memory, a, b, max_work)


def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Whether two arrays have bytes in common."""
    return _same_memory(np.shares_memory, a, b, max_work)


def _stand_in(array: Any) -> Any:
    """Return an ndarray without values of the same type."""
    return np.empty((0,), array.dtype) if isinstance(array, _core.GPUArray) else array


class _Place:
    """What NumPy needs to know of where the elements of an array are; nothing is read there."""

    def __init__(self, array: _core.GPUArray) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": f"|V{array.dtype.itemsize}",
            "data": (array.ptr, True),
            "strides": array.strides,
        }


def _same_memory(function: Any, a: Any, b: Any, max_work: int) -> bool:
    """Ask NumPy, which computes with addresses; addresses of two devices have nothing in common."""
    if not isinstance(a, _core.GPUArray) or not isinstance(b, _core.GPUArray) or a.device != b.device:
        return False
    if a.size == 0 or b.size == 0:
        return False
    first, second = np.asarray(_Place(a)), np.asarray(_Place(b))
    low, high = byte_bounds(first)
    least, most = byte_bounds(second)
    return bool(low < most and least < high and function(first, second, max_work))
