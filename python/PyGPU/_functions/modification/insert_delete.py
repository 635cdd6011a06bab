"""Functions that insert and delete parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array, normalize_axes, normalize_axis, target
from PyGPU._functions.joining import concatenate
from PyGPU._functions.masks import argwhere
from PyGPU._functions.selection_operands import cycled, flat, on_device_of
from PyGPU._names.public import public


def _on_host(obj: Any) -> Any:
    """Convert indices to a form that NumPy accepts; device arrays are copied to the host."""
    return obj.get() if isinstance(obj, _core.GPUArray) else obj


def _source_and_axis(arr: Any, axis: int | None, name: str) -> tuple[_core.GPUArray, int]:
    source = array(arr, name)
    return (flat(source), 0) if axis is None else (source, normalize_axis(axis, source.ndim))


@public("Moving and repeating elements", host=("obj",))
def delete(arr: Any, obj: Any, axis: int | None = None) -> _core.GPUArray:
    """Return a new array without the parts at given indices of an axis.

    Parameters
    ----------
    arr : GPUArray
        The array.
    obj : int, slice, array_like of ints or of bools
        Indices of the parts to delete; the host waits for indices on a device.
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
    source, axis_index = _source_and_axis(arr, axis, "delete")
    length = source.shape[axis_index]
    if isinstance(obj, slice):
        selected = range(*obj.indices(length))
        selected = selected if selected.step > 0 else selected[::-1]
        if selected.step == 1 or len(selected) == 0:
            return _without_range(source, axis_index, selected.start, selected.start + len(selected))
        return _without(source, axis_index, np.asarray(selected))
    if isinstance(obj, _core.GPUArray) and obj.dtype == np.bool_:
        _check_mask(obj.shape, length)
        masked: _core.GPUArray = source[along(axis_index, ~obj)]
        return masked
    deleted = _deleted_indices(obj, length, axis_index)
    if deleted.size == 1:
        return _without_range(source, axis_index, int(deleted[0]), int(deleted[0]) + 1)
    return _without(source, axis_index, deleted)


def _deleted_indices(obj: Any, length: int, axis: int) -> np.ndarray[Any, Any]:
    """Return the sorted indices of the parts to delete; raise NumPy's errors for invalid indices."""
    host_obj = _on_host(obj)
    indices = np.asarray(host_obj)
    if indices.size == 0 and not isinstance(host_obj, np.ndarray):
        indices = indices.astype(np.int64)
    if indices.dtype == np.bool_:
        _check_mask(indices.shape, length)
        return np.flatnonzero(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    invalid = indices[(indices < -length) | (indices >= length)]
    if invalid.size:
        # NumPy applies several indices to an array with one axis.
        shown = axis if indices.size == 1 else 0
        raise IndexError(f"index {invalid.flat[0]} is out of bounds for axis {shown} with size {length}")
    return np.unique(np.where(indices < 0, indices + length, indices))


def _check_mask(shape: tuple[int, ...], length: int) -> None:
    if shape != (length,):
        raise ValueError(
            f"boolean array argument obj to delete must be one dimensional and match the axis length of {length}"
        )


def _without_range(source: _core.GPUArray, axis: int, start: int, stop: int) -> _core.GPUArray:
    """Return a copy without the elements whose index along the axis is at least `start` and less than `stop`."""
    return concatenate([source[along(axis, slice(0, start))], source[along(axis, slice(stop, None))]], axis)


def _without(source: _core.GPUArray, axis: int, positions: np.ndarray[Any, Any]) -> _core.GPUArray:
    """Return a copy without the elements at the indices `positions` of the axis; `positions` is sorted and unique."""
    remaining = _complement(positions, source.shape[axis] - len(positions), source.device)
    return _core._take(source, remaining, axis, None, "wrap" if remaining.size else "raise")


def _complement(positions: np.ndarray[Any, Any], count: int, device: _core.Device) -> _core.GPUArray:
    """Return the first `count` non-negative integers that are not in `positions`, which are sorted and unique.

    Only `positions` is uploaded. The result's element r is r plus the number of positions below this element.
    """
    ranks = _core.arange(count, device=device)
    if len(positions) == 0 or count == 0:
        return ranks
    ranks_behind = _core.asarray(positions.astype(np.int64) - np.arange(len(positions)), device=device)
    return ranks + _core._searchsorted(ranks_behind, ranks, True)


@public("Moving and repeating elements", host=("obj",))
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> _core.GPUArray:
    """Return a new array with values inserted before given indices of an axis.

    Parameters
    ----------
    arr : GPUArray
        The array.
    obj : int, slice, array_like of ints or of bools
        Indices before which values are inserted; the host waits for indices on a device.
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
    source, axis_index = _source_and_axis(arr, axis, "insert")
    length = source.shape[axis_index]
    host_indices = _on_host(obj)
    indices = np.arange(*host_indices.indices(length)) if isinstance(host_indices, slice) else np.array(host_indices)
    if indices.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if indices.dtype == np.bool_:
        indices = np.flatnonzero(indices)
    elif indices.size == 0 and not isinstance(host_indices, np.ndarray):
        indices = indices.astype(np.int64)
    invalid = indices[(indices < -length) | (indices > length)]
    if invalid.size:
        raise IndexError(f"index {invalid.flat[0]} is out of bounds for axis {axis_index} with size {length}")
    if indices.dtype.kind not in "iu":
        if indices.size == 1:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    positions = np.where(indices < 0, indices + length, indices).reshape(-1)
    inserted = on_device_of(source, values, source.dtype)
    if positions.size == 1:
        # A single index: all values are inserted before this index.
        inserted = inserted.reshape((1,) * (source.ndim - inserted.ndim) + inserted.shape)
        inserted = _core.moveaxis(inserted, 0, axis_index) if indices.ndim == 0 else inserted
        return _with_range(source, axis_index, int(positions[0]), inserted)
    # The position of a value in the result grows by the number of values that are inserted before it.
    order = positions.argsort(kind="stable")
    positions[order] += np.arange(len(positions))
    result = _result_of_insertion(source, axis_index, len(positions))
    result[along(axis_index, _complement(np.sort(positions), length, source.device))] = source
    result[along(axis_index, _core.asarray(positions, device=source.device))] = inserted
    return result


def _with_range(source: _core.GPUArray, axis: int, start: int, inserted: _core.GPUArray) -> _core.GPUArray:
    """Return a copy with all values inserted before one index of an axis."""
    stop = start + inserted.shape[axis]
    result = _result_of_insertion(source, axis, stop - start)
    result[along(axis, slice(0, start))] = source[along(axis, slice(0, start))]
    result[along(axis, slice(start, stop))] = inserted
    result[along(axis, slice(stop, None))] = source[along(axis, slice(start, None))]
    return result


def _result_of_insertion(source: _core.GPUArray, axis: int, count: int) -> _core.GPUArray:
    shape = (*source.shape[:axis], source.shape[axis] + count, *source.shape[axis + 1 :])
    return _core.empty(shape, source.dtype, device=source.device)


@public("Moving and repeating elements")
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> _core.GPUArray:
    """Return a view of an array without the zeros at its ends; the host waits for the number of zeros.

    Parameters
    ----------
    filt : GPUArray
        The array.
    trim : {'fb', 'f', 'b'}, optional
        Whether to trim the front (``'f'``), the back (``'b'``), or both.
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
    source = array(filt, "trim_zeros")
    edges = trim.lower()
    if edges not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = tuple(range(source.ndim)) if axis is None else normalize_axes(axis, source.ndim)
    nonzero_indices = argwhere(source)
    key: list[Any] = [slice(None)] * source.ndim
    if len(nonzero_indices) == 0 or source.ndim == 0:
        for axis_index in axes:
            key[axis_index] = slice(0, 0)
        return source[tuple(key)]
    lows, highs = nonzero_indices.min(0).get(), nonzero_indices.max(0).get()
    for axis_index in axes:
        low, high = int(lows[axis_index]), int(highs[axis_index]) + 1
        key[axis_index] = slice(low if "f" in edges else None, high if "b" in edges else None)
    return source[tuple(key)]


@public("Moving and repeating elements")
def fill_diagonal(a: _core.GPUArray, val: Any, wrap: bool = False) -> None:
    """Overwrite the main diagonal of an array.

    Parameters
    ----------
    a : GPUArray
        Array with two axes, or with more axes of equal length.
    val : array_like
        Values of the diagonal, repeated if there are fewer values than elements.
    wrap : bool, optional
        Whether, in a matrix with more rows than columns, a further diagonal begins after the end of the first and one
        skipped row.

    Raises
    ------
    ValueError
        If the array is one-dimensional, or has more than two axes of different lengths.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.zeros((2, 2), "int64")
    >>> PyGPU.fill_diagonal(a, 5)
    >>> a.tolist()
    [[5, 0], [0, 5]]
    """
    a = target(a, "fill_diagonal")
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    parts = [a]
    if a.ndim == 2 and wrap:
        step = a.shape[1] + 1
        parts = [a[first : first + a.shape[1]] for first in range(0, a.shape[0], step)]
    diagonals = []
    for part in parts:
        while part.ndim > 1:
            part = part.diagonal()
        diagonals.append(part)
    values = on_device_of(a, val).reshape(-1)
    repeated = values if values.size == 1 else cycled(values, sum(diagonal_part.size for diagonal_part in diagonals))
    first = 0
    for diagonal_part in diagonals:
        diagonal_part[...] = repeated if repeated.size == 1 else repeated[first : first + diagonal_part.size]
        first += diagonal_part.size
