"""Convert and check operands of functions that select elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import sequence


def flat(a: _core.GPUArray) -> _core.GPUArray:
    """Return the flattened elements in C order, as a view if the layout permits."""
    return a.reshape(-1) if a.flags.c_contiguous else a.copy("C").reshape(-1)


def device_indices(a: _core.GPUArray, indices: Any) -> _core.GPUArray:
    """Copy integer indices to the device of an array; raise NumPy's error for other types."""
    if not isinstance(indices, _core.GPUArray):
        host_indices = np.asarray(indices)
        if host_indices.size == 0 and not isinstance(indices, np.ndarray):
            host_indices = host_indices.astype(np.int64)
        check_indices(host_indices.dtype)
        return _core.asarray(host_indices.astype(np.int64), device=a.device)
    check_indices(indices.dtype)
    if indices.device != a.device:
        raise ValueError(f"the indices are on {indices.device} and the array on {a.device}")
    return indices.astype(np.int64) if indices.dtype.kind == "b" else indices


def check_indices(dtype: np.dtype[Any]) -> None:
    """Raise an error for an object that cannot be used as indices."""
    if dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")


def device_array_of(function: str, *operands: Any) -> _core.GPUArray:
    """Return the first operand that is a GPUArray, or else copy the first sequence of numbers to the device."""
    for operand in operands:
        if isinstance(operand, _core.GPUArray):
            return operand
    for operand in operands:
        if isinstance(operand, (list, tuple)):
            return sequence(operand, function)
    raise TypeError(f"{function}(): no operand is on a device; expected a GPUArray; write PyGPU.to_gpu(x)")


def on_device_of(a: _core.GPUArray, values: Any, dtype: Any = None) -> _core.GPUArray:
    """Copy values to the device of an array and convert them to a dtype, even if the cast loses information."""
    if not isinstance(values, _core.GPUArray):
        host_values = np.asarray(values)
        return _core.asarray(host_values if dtype is None else host_values.astype(dtype), device=a.device)
    moved = values if values.device == a.device else _core.asarray(values, device=a.device)
    return moved if dtype is None or moved.dtype == dtype else moved.astype(dtype)


def check_values(a: _core.GPUArray, values: Any) -> None:
    """Raise an error if the dtype of `values` cannot be cast safely to the array's dtype; accept all Python numbers."""
    dtype = getattr(values, "dtype", a.dtype)
    if not np.can_cast(dtype, a.dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {a.dtype!r} according to the rule 'safe'")


def cycled(values: _core.GPUArray, count: int) -> _core.GPUArray:
    """Repeat values cyclically up to the requested number of values."""
    return _core._take(values, _core.arange(count, device=values.device), 0, None, "wrap")


def common_shape_and_dtype(operands: Sequence[Any]) -> tuple[Any, np.dtype[Any]]:
    """Return the shape to which several arrays are broadcast, and their common dtype."""
    shapes = [operand.shape if isinstance(operand, _core.GPUArray) else np.shape(operand) for operand in operands]
    types = [
        operand.dtype if isinstance(operand, (_core.GPUArray, np.ndarray)) else np.asarray(operand).dtype
        for operand in operands
    ]
    return np.broadcast_shapes(*shapes), np.result_type(*types)
