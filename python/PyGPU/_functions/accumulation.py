"""`Ufunc.at`: apply a function at indices that may repeat, in the order of the indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import refusal

__all__: list[str] = []


def at(name: str, a: _core.GPUArray, indices: Any, *values: Any) -> None:
    """Apply the function of a name, as documented for `Ufunc.at`."""
    if not isinstance(a, _core.GPUArray):
        raise refusal(a, f"{name}.at")
    if a.device.kind == "cpu" and values and np.ndim(values[0]) > 0:
        # NumPy 2.4 reads out of bounds when it repeats operands for indices of several axes.
        values = (_values(a, values[0], a[indices].shape).reshape(a[indices].shape),)
    if _core._by_numpy(f"{name}.at", a, (a, indices, *values)) is not NotImplemented:
        return
    if not a.flags.writeable:
        raise ValueError(f"{name}.at(): the array is read-only")
    # Half the width halves the radix passes.
    numbers = _core.arange(a.size, dtype=np.uint32 if a.size < 1 << 32 else np.int64, device=a.device)
    named = numbers.reshape(a.shape)[indices]
    places = named.copy("C").reshape(-1)
    other = _values(a, values[0], named.shape) if values else None
    order = _core.argsort(places)
    is_dense = a.flags.c_contiguous
    target = a if is_dense else a.copy("C")
    _core._apply_at(name, target.reshape(-1), places[order].astype(np.int64), order, other)
    if not is_dense:
        a[...] = target


def _values(a: _core.GPUArray, given: Any, shape: tuple[int, ...]) -> _core.GPUArray:
    """Return the second operands: one, or one per index."""
    values = given if isinstance(given, _core.GPUArray) else np.asarray(given)
    if values.size == 1 and values.ndim <= len(shape):
        wide: Any = values
    else:
        try:
            wide = _core.broadcast_to(values, shape) if values is given else np.broadcast_to(values, shape)
        except ValueError:
            raise ValueError("array is not broadcastable to correct shape") from None
    if not isinstance(wide, _core.GPUArray):
        return _core.asarray(np.ascontiguousarray(wide).reshape(-1), device=a.device)
    if wide.device != a.device:
        raise ValueError(f"the second operand is on {wide.device} and the array on {a.device}")
    return wide.reshape(-1) if wide.flags.c_contiguous else wide.copy("C").reshape(-1)
