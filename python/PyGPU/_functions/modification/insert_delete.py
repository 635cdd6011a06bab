"""Insertion and deletion of parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array, axes_of, axis_of
from PyGPU._functions.masks import argwhere
from PyGPU._functions.operands import cycled, flat, on_device_of
from PyGPU._names.public import public


def _on_host(obj: Any) -> Any:
    """Return indices in NumPy's form; device indices are copied to the host."""
    return obj.get() if isinstance(obj, _core.GPUArray) else obj


def _along_one(arr: Any, axis: int | None, name: str) -> tuple[_core.GPUArray, int]:
    given = array(arr, name)
    return (flat(given), 0) if axis is None else (given, axis_of(axis, given.ndim))


@public("Moving and repeating elements", host=("obj",))
def delete(arr: Any, obj: Any, axis: int | None = None) -> _core.GPUArray:
    """Return an array without the selected parts.

    Parameters
    ----------
    arr : GPUArray
        The array.
    obj : int, slice, array_like of ints or of bools
        Parts to delete; for device indices the host waits.
    axis : int, optional
        Axis of the operation; by default the array is flattened in C order.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.delete(PyGPU.arange(5), [1, 3]).tolist()
    [0, 2, 4]
    """
    given, place = _along_one(arr, axis, "delete")
    kept = np.delete(np.arange(given.shape[place]), _on_host(obj))
    return _core._take(given, _core.asarray(kept, device=given.device), place, None, "raise")


@public("Moving and repeating elements", host=("obj",))
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> _core.GPUArray:
    """Return an array with parts inserted before some of its parts.

    Parameters
    ----------
    arr : GPUArray
        The array.
    obj : int, slice, array_like of ints or of bools
        Parts before which values are inserted; for device indices the host waits.
    values : array_like
        Values to insert, converted to the type of the array.
    axis : int, optional
        Axis of the operation; by default the array is flattened in C order.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.insert(PyGPU.arange(3), 1, 7).tolist()
    [0, 7, 1, 2]
    """
    given, place = _along_one(arr, axis, "insert")
    length = given.shape[place]
    named = _on_host(obj)
    indices = np.arange(*named.indices(length)) if isinstance(named, slice) else np.array(named)
    if indices.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if indices.dtype == np.bool_:
        indices = np.flatnonzero(indices)
    elif indices.size == 0:
        indices = indices.astype(np.int64)
    wrong = indices[(indices < -length) | (indices > length)]
    if wrong.size:
        raise IndexError(f"index {wrong.flat[0]} is out of bounds for axis {place} with size {length}")
    places = np.where(indices < 0, indices + length, indices).reshape(-1)
    new = on_device_of(given, values, given.dtype)
    if places.size == 1:
        # All values are inserted before one part, regardless of their number.
        new = new.reshape((1,) * (given.ndim - new.ndim) + new.shape)
        new = _core.moveaxis(new, 0, place) if indices.ndim == 0 else new
        places = places.repeat(new.shape[place])
    # Each index moves by the number of earlier insertions.
    order = places.argsort(kind="stable")
    places[order] += np.arange(len(places))
    kept = np.ones(length + len(places), bool)
    kept[places] = False
    shape = (*given.shape[:place], len(kept), *given.shape[place + 1 :])
    made = _core.empty(shape, given.dtype, device=given.device)
    made[along(place, _core.asarray(np.flatnonzero(kept), device=given.device))] = given
    made[along(place, _core.asarray(places, device=given.device))] = new
    return made


@public("Moving and repeating elements")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> _core.GPUArray:
    """Return a view without the zeros at the edges; the host waits for their number.

    Parameters
    ----------
    filt : GPUArray
        The array.
    trim : {'fb', 'f', 'b'}, optional
        Whether to trim the front, the back, or both.
    axis : int or tuple of ints, optional
        Axes of the operation; defaults to all.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.trim_zeros(PyGPU.to_gpu([0, 0, 1, 0, 2, 0])).tolist()
    [1, 0, 2]
    """
    given = array(filt, "trim_zeros")
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = tuple(range(given.ndim)) if axis is None else axes_of(axis, given.ndim)
    found = argwhere(given).get()
    key: list[Any] = [slice(None)] * given.ndim
    for one in axes:
        if len(found) == 0:
            key[one] = slice(0, 0)
        else:
            low, high = int(found[:, one].min()), int(found[:, one].max()) + 1
            key[one] = slice(low if "f" in sides else None, high if "b" in sides else None)
    return given[tuple(key)]


@public("Moving and repeating elements")
def fill_diagonal(a: _core.GPUArray, val: Any, wrap: bool = False) -> None:
    """Overwrite the main diagonal of an array.

    Parameters
    ----------
    a : GPUArray
        Array with two axes, or with more axes of equal length.
    val : array_like
        A number, or several, which are repeated.
    wrap : bool, optional
        Whether the diagonal of a tall matrix restarts after an empty row.

    Raises
    ------
    ValueError
        For a one-dimensional array, and for several axes of different lengths.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.zeros((2, 2), "int64")
    >>> PyGPU.fill_diagonal(a, 5)
    >>> a.tolist()
    [[5, 0], [0, 5]]
    """
    a = array(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    parts = [a]
    if a.ndim == 2 and wrap:
        step = a.shape[1] + 1
        parts = [a[first : first + a.shape[1]] for first in range(0, a.shape[0], step)]
    lines = []
    for part in parts:
        while part.ndim > 1:
            part = part.diagonal()
        lines.append(part)
    values = on_device_of(a, val).reshape(-1)
    several = values if values.size == 1 else cycled(values, sum(line.size for line in lines))
    first = 0
    for line in lines:
        line[...] = several if several.size == 1 else several[first : first + line.size]
        first += line.size
