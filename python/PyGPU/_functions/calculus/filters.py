"""Correlate and convolve one-dimensional arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._functions.selection_operands import on_device_of
from PyGPU._names.public import public

_MODES = ("full", "same", "valid")
_ROWS = 512
"""Maximum number of rows with partial overlap whose products are in memory at once."""


def _operands(a: Any, v: Any, name: str, mode: str) -> tuple[_core.GPUArray, _core.GPUArray]:
    device_array = a if isinstance(a, _core.GPUArray) else v
    first, second = (on_device_of(device_array, array(operand, name)) for operand in (a, v))
    first, second = (operand.reshape(1) if operand.ndim == 0 else operand for operand in (first, second))
    for operand in (first, second):
        if operand.ndim != 1:
            raise ValueError("object too deep for desired array")
        if operand.size == 0:
            raise ValueError(f"{name}: an operand is empty")
    if mode is None:
        raise TypeError(f"{name}: mode must be 'valid', 'same' or 'full', not None")
    if mode not in _MODES:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return first, second


def _sums(a: _core.GPUArray, v: _core.GPUArray, mode: str) -> _core.GPUArray:
    """Return the sum of the products of two arrays for each offset of the second array that `mode` includes."""
    dtype = np.result_type(a.dtype, v.dtype)
    long, short = max(a.size, v.size), min(a.size, v.size)
    if mode == "full":
        first, count = 0, long + short - 1
    elif mode == "valid":
        first, count = short - 1, long - short + 1
    else:
        first, count = (short - 1) // 2, long
    a, v = a.astype(dtype, copy=False), v.astype(dtype, copy=False)
    # The shorter array is shifted along the longer array; if `a` is the shorter array, the results must be reversed.
    if v.size <= a.size:
        return _sums_of_rows(a, v, first, count)
    return _sums_of_rows(v, a, first, count)[::-1].copy("C")  # As in NumPy, it is contiguous.


def _sums_of_rows(a: _core.GPUArray, v: _core.GPUArray, first: int, count: int) -> _core.GPUArray:
    """Return the sums of products for `count` offsets of `v` along the longer array `a`."""
    width, total = v.size, a.size + v.size - 1
    padded = _core.zeros(a.size + 2 * (width - 1), a.dtype, device=a.device)
    padded[width - 1 : width - 1 + a.size] = a
    # The rows of this view overlap in memory: row n begins one element after row n - 1.
    rows = _core.GPUArray((total, width), a.dtype, gpudata=padded, strides=(a.dtype.itemsize, a.dtype.itemsize))
    if a.dtype.kind in "biu":
        return _core.matvec(rows[first : first + count], v)
    result = _core.empty(count, a.dtype, device=a.device)
    last = first + count
    start, stop = max(first, width - 1), min(last, a.size)
    if start < stop:
        _core.matvec(rows[start:stop], v, out=result[start - first : stop - first])
    for begin, end in (*_blocks(first, min(start, last)), *_blocks(max(stop, first), last)):
        result[begin - first : end - first] = _sums_of_partial_overlap(rows, v, begin, end)
    return result


def _blocks(start: int, stop: int) -> list[tuple[int, int]]:
    """Divide the offsets into blocks, so that intermediate results need limited memory."""
    return [(begin, min(begin + _ROWS, stop)) for begin in range(start, stop, _ROWS)]


def _sums_of_partial_overlap(rows: _core.GPUArray, v: _core.GPUArray, begin: int, end: int) -> _core.GPUArray:
    """Return the sums for offsets at which the arrays overlap partially.

    Elements outside of the overlap are not multiplied by padding zeros, because 0 times infinity is NaN.
    """
    total, width = rows.shape
    if begin < width - 1:  # Row n begins with `width - 1 - n` padding elements.
        full, partial = slice(width - 1 - begin, width), slice(max(0, width - end), width - 1 - begin)
    else:  # Row n has `total - n` elements before its padding.
        full, partial = slice(0, total - end + 1), slice(total - end + 1, min(width, total - begin))
    sums: _core.GPUArray = _core.matvec(rows[begin:end, full], v[full])
    if partial.start < partial.stop:
        row = _core.arange(begin, end, device=v.device)[:, None]
        column = _core.arange(partial.start, partial.stop, device=v.device)
        is_in_array = row + column >= width - 1 if begin < width - 1 else row + column < total
        sums += (rows[begin:end, partial] * v[partial]).sum(1, where=is_in_array)
    return sums


@public("Slopes, areas, filters, polynomials")
def correlate(a: Any, v: Any, mode: str = "valid") -> _core.GPUArray:
    """Correlate two arrays: shift the second array's conjugate along the first, and sum the products at each offset.

    Parameters
    ----------
    a, v : GPUArray
        One-dimensional arrays.
    mode : {'valid', 'same', 'full'}, optional
        Offsets in the result. ``'valid'``: offsets with complete overlap; ``'full'``: offsets with any overlap;
        ``'same'``: the middle offsets of ``'full'``, as many as the longer array has elements.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For empty arrays and arrays without axes, and for an unknown mode.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.correlate(PyGPU.to_gpu([1, 2, 3]), PyGPU.to_gpu([0, 1, 2]), "same").tolist()
    [5, 8, 3]
    """
    if np.ndim(a) == 0 or np.ndim(v) == 0:
        raise ValueError(f"correlate: object of too small depth for desired array: shapes {np.shape(a)}, {np.shape(v)}")
    first, second = _operands(a, v, "correlate", mode)
    return _sums(first, _core.conjugate(second) if second.dtype.kind == "c" else second, mode)


@public("Slopes, areas, filters, polynomials")
def convolve(a: Any, v: Any, mode: str = "full") -> _core.GPUArray:
    """Convolve two arrays: shift the reversed second array along the first, and sum the products at each offset.

    Parameters
    ----------
    a, v : GPUArray
        One-dimensional arrays.
    mode : {'full', 'same', 'valid'}, optional
        Offsets in the result. ``'full'``: offsets with any overlap; ``'valid'``: offsets with complete overlap;
        ``'same'``: the middle offsets of ``'full'``, as many as the longer array has elements.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For empty arrays, and for an unknown mode.

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
