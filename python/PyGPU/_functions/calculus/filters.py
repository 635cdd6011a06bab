"""Sums of products of a row of numbers with another one that is moved along it."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.arrays import array
from PyGPU._functions.operands import on_device_of
from PyGPU._names.public import public

_MODES = ("full", "same", "valid")


def _operands(a: Any, v: Any, name: str, mode: str) -> tuple[_core.GPUArray, _core.GPUArray]:
    own = a if isinstance(a, _core.GPUArray) else v
    first, second = (on_device_of(own, array(one, name)) for one in (a, v))
    first, second = (one.reshape(1) if one.ndim == 0 else one for one in (first, second))
    for one in (first, second):
        if one.ndim != 1:
            raise ValueError("object too deep for desired array")
        if one.size == 0:
            raise ValueError(f"{name}: an operand is empty")
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return first, second


def _sums(a: _core.GPUArray, v: _core.GPUArray, mode: str) -> _core.GPUArray:
    """Multiply the second row, at each place where it lies over the first, and add up."""
    dtype = np.result_type(a.dtype, v.dtype)
    width, total = v.size, a.size + v.size - 1
    around = _core.zeros(a.size + 2 * (width - 1), dtype, device=a.device)
    around[width - 1 : width - 1 + a.size] = a
    # Row n of a view begins one element behind that of row n - 1: nothing is copied.
    rows = _core.GPUArray((total, width), dtype, gpudata=around, strides=(dtype.itemsize, dtype.itemsize))
    long, short = max(a.size, width), min(a.size, width)
    if mode == "full":
        first, count = 0, total
    elif mode == "valid":
        first, count = short - 1, long - short + 1
    else:
        first, count = (short - 1) // 2, long
        if width > a.size:
            first = total - first - count
    return _core.matvec(rows[first : first + count], v.astype(dtype, copy=False))


@public("Slopes, areas, filters, polynomials")
def correlate(a: Any, v: Any, mode: str = "valid") -> _core.GPUArray:
    """Add up the products of a row with another one, whose complex conjugate is moved along it.

    Parameters
    ----------
    a, v : GPUArray
        The rows.
    mode : {'valid', 'same', 'full'}, optional
        Where they lie over each other wholly, as many places as the longer one has, or where they touch.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For rows without elements, and for another mode.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.correlate(PyGPU.to_gpu([1, 2, 3]), PyGPU.to_gpu([0, 1, 2]), "same").tolist()
    [5, 8, 3]
    """
    first, second = _operands(a, v, "correlate", mode)
    return _sums(first, _core.conjugate(second) if second.dtype.kind == "c" else second, mode)


@public("Slopes, areas, filters, polynomials")
def convolve(a: Any, v: Any, mode: str = "full") -> _core.GPUArray:
    """Add up the products of a row with another one, which is turned around and moved along it.

    Parameters
    ----------
    a, v : GPUArray
        The rows.
    mode : {'full', 'same', 'valid'}, optional
        Where they touch, as many places as the longer one has, or where they lie over each other wholly.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For rows without elements, and for another mode.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.convolve(PyGPU.to_gpu([1, 2, 3]), PyGPU.to_gpu([0, 1, 2])).tolist()
    [0, 1, 4, 7, 6]
    """
    first, second = _operands(a, v, "convolve", mode)
    if second.size > first.size:
        first, second = second, first
    return _sums(first, second[::-1], mode)
