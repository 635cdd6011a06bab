"""The functions `packbits` and `unpackbits`, which convert between bits and bytes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._functions.joining import concatenate
from PyGPU._functions.selection_operands import flat
from PyGPU._names.public import public


def _moved(a: Any, axis: int | None, name: str, kinds: str) -> tuple[_core.GPUArray, int]:
    """Return a view with an axis moved to the end, and the index to which the last axis of the result must be moved."""
    source = array(a, name)
    if source.dtype.kind not in kinds or (kinds == "u" and source.dtype != np.uint8):
        kind = "unsigned byte" if kinds == "u" else "integer or boolean"
        raise TypeError(f"Expected an input array of {kind} data type")
    if axis is None or (source.ndim == 0 and axis in (0, -1)):
        return flat(source), -1
    return _core.moveaxis(source, normalize_axis(axis, source.ndim), -1), axis


def _shifts(bitorder: str, a: _core.GPUArray) -> _core.GPUArray:
    """Return, for each of eight elements, the distance by which its bit is shifted in a byte of the given bit order."""
    if not isinstance(bitorder, str):
        raise TypeError(f"bitorder must be str, not {type(bitorder).__name__}")
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    shifts = np.arange(8, dtype=np.uint8)
    return _core.asarray(shifts[::-1] if bitorder == "big" else shifts, device=a.device)


@public("Moving and repeating elements")
def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> _core.GPUArray:
    """Pack groups of eight elements into bytes; each element becomes one bit, which is 1 if the element is nonzero.

    Parameters
    ----------
    a : GPUArray
        Array of integers or bools.
    axis : int, optional
        Axis of the operation; by default the array is flattened in C order.
    bitorder : {'big', 'little'}, optional
        ``'big'``: the first element of a group is the highest bit. ``'little'``: it is the lowest bit.

    Returns
    -------
    GPUArray
        Array of uint8; the last byte is padded with zero bits.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.packbits(PyGPU.to_gpu([1, 0, 0, 0, 0, 0, 0, 1, 1])).tolist()
    [129, 128]
    """
    moved, axis_index = _moved(a, axis, "packbits", "biu")
    shifts = _shifts(bitorder, moved)
    bits = _core.not_equal(moved, 0).view(np.uint8)
    padding = -bits.shape[-1] % 8
    if padding:
        bits = concatenate([bits, _core.zeros((*bits.shape[:-1], padding), np.uint8, device=bits.device)], -1)
    bits = bits.reshape((*bits.shape[:-1], bits.shape[-1] // 8, 8))
    packed = _core.left_shift(bits, shifts).sum(-1, np.uint8)
    return _core.moveaxis(packed, -1, axis_index)


@public("Moving and repeating elements")
def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> _core.GPUArray:
    """Unpack each bit of bytes into an element.

    Parameters
    ----------
    a : GPUArray
        Array of uint8.
    axis : int, optional
        Axis of the operation; by default the array is flattened in C order.
    count : int, optional
        Number of elements of the result; a negative number removes as many elements from the end.
    bitorder : {'big', 'little'}, optional
        ``'big'``: the first element of a group is the highest bit. ``'little'``: it is the lowest bit.

    Returns
    -------
    GPUArray
        Array of uint8 with the values 0 and 1.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unpackbits(PyGPU.to_gpu(bytearray([129])), count=3).tolist()
    [1, 0, 0]
    """
    moved, axis_index = _moved(a, axis, "unpackbits", "u")
    bits = _core.right_shift(moved[..., None], _shifts(bitorder, moved)) & np.uint8(1)
    total = 8 * moved.shape[-1]
    bits = bits.reshape((*moved.shape[:-1], total))
    bit_count = total if count is None else operator.index(count)
    if bit_count < 0:
        if bit_count < -total:
            raise ValueError(f"-{-bit_count} elements are left out of {total}")
        bit_count += total
    if bit_count > total:
        padding = _core.zeros((*bits.shape[:-1], bit_count - total), np.uint8, device=bits.device)
        bits = concatenate([bits, padding], -1)
    return _core.moveaxis(bits[..., :bit_count], -1, axis_index)
