"""Comparison of arrays with structured or void items: ``==`` and ``!=``."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import invalid_array_error

__all__: list[str] = []


def compare(a: Any, b: Any, is_equality: bool) -> _core.GPUArray:
    """Compare items field by field; padding bytes do not count. One operand is an array of a device.

    Raises
    ------
    TypeError
        For an operand without structured or void items, and for dtypes without a common dtype.
    ValueError
        For shapes that do not broadcast, and for arrays of two devices.
    """
    device = next(operand.device for operand in (a, b) if isinstance(operand, _core.GPUArray))
    first, second = _operand(a, device), _operand(b, device)
    ndim = len(np.broadcast_shapes(first.shape, second.shape))
    if first.device != second.device:
        raise ValueError(f"the operands are on {first.device} and {second.device}")
    _check_dtypes(first.dtype, second.dtype)
    is_same = _items_equal(first, second, ndim)
    return is_same if is_equality else ~is_same


def _operand(operand: Any, device: _core.Device) -> _core.GPUArray:
    if isinstance(operand, _core.GPUArray):
        dtype = operand.dtype
    else:
        if isinstance(operand, np.ndarray) and operand.ndim > 0:
            raise invalid_array_error(operand)
        host = np.asarray(operand) if isinstance(operand, (np.void, np.ndarray)) else None
        dtype = np.dtype(object) if host is None else host.dtype
    if dtype.type is not np.void:
        what = dtype if isinstance(operand, (_core.GPUArray, np.ndarray)) else type(operand).__name__
        raise TypeError(f"Cannot compare structured or void items to non-void items: an operand is of {what}.")
    return operand if isinstance(operand, _core.GPUArray) else _core.asarray(host, device=device)


def _check_dtypes(first: np.dtype[Any], second: np.dtype[Any]) -> None:
    if (first.names is None) != (second.names is None):
        raise TypeError(f"Cannot compare structured with unstructured void items: {first} and {second}.")
    if first.names is None and first.itemsize != second.itemsize:
        raise TypeError(f"cannot compare unstructured voids of different length: {first} and {second}.")
    try:
        np.promote_types(first, second)
    except TypeError:
        raise TypeError(
            f"Cannot compare structured arrays unless they have a common dtype: {first} and {second} have none."
        ) from None


def _items_equal(first: _core.GPUArray, second: _core.GPUArray, ndim: int) -> _core.GPUArray:
    """Compare items, and join the axes after the first `ndim` axes, which are those of subarrays."""
    if first.dtype.names is not None:
        ndim_of_fields = max(first.ndim, second.ndim)
        parts = [
            _items_equal(first[name], second[name], ndim_of_fields) for name in first.dtype.names
        ]  # each field of `first` has a counterpart of the same name
        is_same = parts[0]
        for part in parts[1:]:
            is_same = is_same & part
    elif first.dtype.type is np.void:
        is_same = first[..., None].view(np.uint8) == second[..., None].view(np.uint8)
    else:
        is_same = first == second
    return is_same.all(axis=tuple(range(ndim, is_same.ndim))) if is_same.ndim > ndim else is_same
