"""Functions that test the memory order of an array and the overlap of two arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from PyGPU import _core
from PyGPU._names.public import public


@public("Comparing arrays")
def isfortran(a: _core.GPUArray) -> bool:
    """Test whether an array is contiguous in Fortran order, but not in C order.

    Parameters
    ----------
    a : GPUArray
        The array.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.isfortran(PyGPU.zeros((2, 3), order="F"))
    True
    """
    return a.flags.f_contiguous and not a.flags.c_contiguous


@public("Comparing arrays")
def may_share_memory(a: Any, b: Any, /, max_work: int = 0) -> bool:
    """Test whether the address ranges of two arrays overlap.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    max_work : int, optional
        Maximum effort of NumPy's analysis of the strides, as for `numpy.may_share_memory`.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(4)
    >>> PyGPU.may_share_memory(a[::2], a[1::2])
    True
    """
    return _overlaps(np.may_share_memory, a, b, max_work)


@public("Comparing arrays")
def shares_memory(a: Any, b: Any, /, max_work: int = -1) -> bool:
    """Test whether two arrays have a byte of memory in common.

    Parameters
    ----------
    a, b : GPUArray
        The arrays.
    max_work : int, optional
        Effort of NumPy's analysis of the strides, as for `numpy.shares_memory`; by default the result is exact.

    Returns
    -------
    bool

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(4)
    >>> PyGPU.shares_memory(a[::2], a[1::2])
    False
    """
    return _overlaps(np.shares_memory, a, b, max_work)


class _MemoryRange:
    """Object with the address and layout of a device array, from which NumPy computes overlaps.

    NumPy does not read the memory at this address.
    """

    def __init__(self, array: _core.GPUArray) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": f"|V{array.dtype.itemsize}",
            "data": (array.ptr, True),
            "strides": array.strides,
        }


def _overlaps(function: Any, a: Any, b: Any, max_work: int) -> bool:
    """Test by a function of NumPy whether two arrays overlap; arrays of different devices never overlap."""
    if not isinstance(a, _core.GPUArray) or not isinstance(b, _core.GPUArray) or a.device != b.device:
        return False
    if a.size == 0 or b.size == 0:
        return False
    first, second = np.asarray(_MemoryRange(a)), np.asarray(_MemoryRange(b))
    low, high = byte_bounds(first)
    least, most = byte_bounds(second)
    return bool(low < most and least < high and function(first, second, max_work))
