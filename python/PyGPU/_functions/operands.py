"""Conversion of the operands of selection functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core


def flat(a: _core.GPUArray) -> _core.GPUArray:
    """Return the elements in C order, as a view if the layout permits."""
    return a.reshape(-1) if a.flags.c_contiguous else a.copy("C").reshape(-1)


def indices_of(a: _core.GPUArray, given: Any) -> _core.GPUArray:
    """Copy integers to the device of an array; invalid indices raise NumPy's error."""
    if not isinstance(given, _core.GPUArray):
        host = np.asarray(given)
        if host.size == 0 and not isinstance(given, np.ndarray):
            host = host.astype(np.int64)
        check_indices(host.dtype)
        return _core.asarray(host.astype(np.int64), device=a.device)
    check_indices(given.dtype)
    if given.device != a.device:
        raise ValueError(f"the indices are on {given.device} and the array on {a.device}")
    return given.astype(np.int64) if given.dtype.kind == "b" else given


def check_indices(dtype: np.dtype[Any]) -> None:
    """Raise an error for an object that is no index."""
    if dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('int64') according to the rule 'safe'")


def on_device_of(a: _core.GPUArray, given: Any, dtype: Any = None) -> _core.GPUArray:
    """Copy values to the device of an array, with NumPy's unchecked conversion."""
    if not isinstance(given, _core.GPUArray):
        host = np.asarray(given)
        return _core.asarray(host if dtype is None else host.astype(dtype), device=a.device)
    moved = given if given.device == a.device else _core.asarray(given, device=a.device)
    return moved if dtype is None or moved.dtype == dtype else moved.astype(dtype)


def check_values(a: _core.GPUArray, values: Any) -> None:
    """Reject values that lose information in a conversion; numbers and lists of numbers are converted individually."""
    dtype = getattr(values, "dtype", a.dtype)
    if not np.can_cast(dtype, a.dtype, "safe"):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {a.dtype!r} according to the rule 'safe'")


def cycled(values: _core.GPUArray, count: int) -> _core.GPUArray:
    """Repeat values up to a given number."""
    return _core._take(values, _core.arange(count, device=values.device), 0, None, "wrap")


def common(several: Sequence[Any]) -> tuple[Any, np.dtype[Any]]:
    """Return the broadcast shape of several arrays, and their common type."""
    shapes = [one.shape if isinstance(one, _core.GPUArray) else np.shape(one) for one in several]
    types = [one.dtype if isinstance(one, (_core.GPUArray, np.ndarray)) else np.asarray(one).dtype for one in several]
    return np.broadcast_shapes(*shapes), np.result_type(*types)
