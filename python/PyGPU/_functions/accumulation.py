"""Implement `Ufunc.at`, which applies a ufunc at indices that may repeat, and check the indices of `Ufunc.reduceat`."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import invalid_array_error

__all__: list[str] = []


def at(name: str, a: _core.GPUArray, indices: Any, *values: Any) -> None:
    """Apply the ufunc `name` in place at given indices: the implementation of `Ufunc.at`."""
    if not isinstance(a, _core.GPUArray):
        raise invalid_array_error(a, f"{name}.at")
    if a.device.kind == "cpu" and values and np.ndim(values[0]) > 0:
        # PyGPU broadcasts the operand, because NumPy 2.4 would read out of bounds if there are several index arrays.
        values = (_values(a, values[0], a[indices].shape).reshape(a[indices].shape),)
    if _core._by_numpy(f"{name}.at", a, (a, indices, *values)) is not NotImplemented:
        return
    if not a.flags.writeable:
        raise ValueError(f"{name}.at(): the array is read-only")
    # For 32-bit indices the radix sort needs half as many passes as for 64-bit indices.
    flat_indices = _core.arange(a.size, dtype=np.uint32 if a.size < 1 << 32 else np.int64, device=a.device)
    selected = flat_indices.reshape(a.shape)[indices]
    target_indices = selected.copy("C").reshape(-1)
    second_operand = _values(a, values[0], selected.shape) if values else None
    order = _core.argsort(target_indices)
    is_dense = a.flags.c_contiguous
    target = a if is_dense else a.copy("C")
    _core._apply_at(name, target.reshape(-1), target_indices[order].astype(np.int64), order, second_operand)
    if not is_dense:
        a[...] = target


def _values(a: _core.GPUArray, operand: Any, shape: tuple[int, ...]) -> _core.GPUArray:
    """Return the second operand of `Ufunc.at` as one value for all indices, or as one value for each index."""
    is_on_device = isinstance(operand, _core.GPUArray)
    values: Any = operand if is_on_device else np.asarray(operand)
    if values.size == 1 and values.ndim <= len(shape):
        broadcast: Any = values
    else:
        try:
            broadcast = _core.broadcast_to(values, shape) if is_on_device else np.broadcast_to(values, shape)
        except ValueError:
            raise ValueError("array is not broadcastable to correct shape") from None
    if not isinstance(broadcast, _core.GPUArray):
        return _core.asarray(np.ascontiguousarray(broadcast).reshape(-1), device=a.device)
    if broadcast.device != a.device:
        raise ValueError(f"the second operand is on {broadcast.device} and the array on {a.device}")
    return broadcast.reshape(-1) if broadcast.flags.c_contiguous else broadcast.copy("C").reshape(-1)


def segment_starts(name: str, a: _core.GPUArray, axis: int, indices: Any) -> _core.GPUArray:
    """Check the indices of `Ufunc.reduceat`, and return them as 64-bit integers on the device of the array."""
    length = a.shape[axis]
    on_device = isinstance(indices, _core.GPUArray)
    starts: Any = indices if on_device else np.asarray(indices)
    if starts.ndim == 0:
        raise ValueError(f"{name}.reduceat: the indices have no axis; object of too small depth for desired array")
    if starts.ndim > 1:
        raise ValueError(f"{name}.reduceat: the indices have the shape {starts.shape}, but one axis is required")
    if not on_device and starts.size == 0:
        starts = starts.astype(np.int64)
    if starts.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {starts.dtype!r} to dtype('int64') according to the rule 'safe'")
    if on_device and starts.device != a.device:
        raise ValueError(f"{name}.reduceat: the indices are on {starts.device} and the array on {a.device}")
    is_outside = (starts < 0) | (starts >= length)
    if bool(is_outside.any()):
        first = int(starts[is_outside][0])
        raise IndexError(f"index {first} out-of-bounds in {name}.reduceat [0, {length})")
    if on_device:
        positions: _core.GPUArray = starts.astype(np.int64, order="C", copy=False)
        return positions
    return _core.asarray(np.ascontiguousarray(starts, np.int64), device=a.device)
