"""Sort host arrays by NumPy, stably and with NaN last in ascending and descending order, as on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np


def argsort(view: np.ndarray[Any, Any], axis: int, descending: bool) -> np.ndarray[Any, Any]:
    """Return the indices that sort the elements along an axis."""
    if not descending:
        return np.argsort(view, axis=axis, kind="stable")
    count = view.shape[axis]
    # A descending sort reverses the array and the result of an ascending sort, so that equal elements keep their order.
    # The reversed order has NaN first; the code below moves NaN to the end.
    order = count - 1 - np.flip(np.argsort(np.flip(view, axis), axis=axis, kind="stable"), axis)
    if view.dtype.kind in "biu":
        rotated: np.ndarray[Any, Any] = order
        return rotated
    nans = np.count_nonzero(np.isnan(view), axis=axis, keepdims=True)
    positions = np.arange(count).reshape([-1 if dimension == axis else 1 for dimension in range(view.ndim)])
    rotated = np.take_along_axis(order, (positions + nans) % max(count, 1), axis)
    return rotated


def sort(view: np.ndarray[Any, Any], axis: int, descending: bool) -> None:
    """Sort the elements along an axis in place."""
    if descending:
        view[...] = np.take_along_axis(view, argsort(view, axis, descending), axis)
    else:
        view.sort(axis=axis, kind="stable")
