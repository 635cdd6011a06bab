"""Functions that select elements by indices and conditions, or write to selected elements.

On the CPU backend NumPy executes these functions on views of the arrays. On a GPU at most one number is copied to the
host: the number of true elements, or whether an index is out of range.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, check_out, normalize_axis, target
from PyGPU._functions.selection_operands import (
    check_indices,
    common_shape_and_dtype,
    cycled,
    device_indices,
    flat,
    on_device_of,
)
from PyGPU._names.public import public

_MODES = ("raise", "wrap", "clip")


@public("Selection", host=("indices",))
def take(
    a: _core.GPUArray, indices: Any, axis: int | None = None, out: _core.GPUArray | None = None, mode: str = "raise"
) -> _core.GPUArray:
    """Return the elements at given indices along an axis.

    Parameters
    ----------
    a : GPUArray
    indices : array_like of ints
        Indices; negative indices count from the end of the axis.
    axis : int, optional
        Axis of the indices; by default the array is flattened in C order.
    out : GPUArray, optional
        Output array.
    mode : {'raise', 'wrap', 'clip'}, optional
        Handling of indices out of range. ``'raise'``: raise an error, for which the host waits. ``'wrap'``: take the
        index modulo the length. ``'clip'``: use the nearest valid index, which for negative indices is 0.

    Raises
    ------
    IndexError
        If an index is out of range and `mode` is ``'raise'``; nothing is written then.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.take(PyGPU.to_gpu([[1, 2, 3], [4, 5, 6]]), [2, 0], axis=1).tolist()
    [[3, 1], [6, 4]]
    """
    a = array(a, "take")
    if out is not None:
        check_out(out, "take")
    numpy_result: _core.GPUArray = _core._by_numpy("take", a, (a, indices, axis, out, mode))
    if numpy_result is not NotImplemented:
        return numpy_result
    index_array = device_indices(a, indices)
    if axis is None:
        return _core._take(flat(a), index_array, 0, out, mode)
    return _core._take(a.reshape(1) if a.ndim == 0 else a, index_array, axis, out, mode)


@public("Selection", host=("ind",))
def put(a: _core.GPUArray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Write values to the elements of an array at given flat indices (C order).

    Parameters
    ----------
    a : GPUArray
    ind : array_like of ints
        Flat indices. If an index is repeated, its last value remains.
    v : array_like
        Values, repeated if there are fewer values than indices.
    mode : {'raise', 'wrap', 'clip'}, optional
        Handling of indices out of range, as for `take`.

    Raises
    ------
    IndexError
        If an index is out of range and `mode` is ``'raise'``; nothing is written then.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(5)
    >>> PyGPU.put(a, [0, -1], [10, 20])
    >>> a.tolist()
    [10, 1, 2, 3, 20]
    """
    a = target(a, "put")
    numpy_result = _core._by_numpy("put", a, (a, ind, v, mode))
    if numpy_result is not NotImplemented:
        return
    if not a.flags.writeable:
        raise ValueError("put: output array is read-only")
    index_array, values = flat(device_indices(a, ind)), flat(on_device_of(a, v, a.dtype))
    if a.size == 0 and index_array.size > 0:
        raise IndexError("cannot replace elements of an empty array")
    if index_array.size == 0 or values.size == 0:
        return
    if values.size > index_array.size:
        values = values[: index_array.size]
    elif 1 < values.size < index_array.size:
        values = cycled(values, index_array.size)
    if a.flags.c_contiguous:
        _core._put(a.reshape(-1), index_array, values, mode)
        return
    dense_copy = a.copy("C")
    _core._put(dense_copy.reshape(-1), index_array, values, mode)
    a[...] = dense_copy


@public("Selection", host=("a",))
def choose(a: _core.GPUArray, choices: Any, out: _core.GPUArray | None = None, mode: str = "raise") -> _core.GPUArray:
    """Build an array by taking each element from one of several arrays; `a` contains the index of that array.

    Parameters
    ----------
    a : GPUArray of ints
        For each element of the result, the index into `choices` of the array from which the element is taken.
    choices : sequence of array_like
        Arrays from which elements are taken; they are broadcast with `a`.
    out : GPUArray, optional
        Output array.
    mode : {'raise', 'wrap', 'clip'}, optional
        Handling of indices that are out of the range of `choices`, as for `take`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.choose(PyGPU.to_gpu([0, 1, 0]), [PyGPU.arange(3), -1]).tolist()
    [0, -1, 2]
    """
    choice_list = list(choices)
    a = array(a, "choose")
    numpy_result: _core.GPUArray = _core._by_numpy("choose", a, (a, choice_list, out, mode))
    if numpy_result is not NotImplemented:
        return numpy_result
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if not choice_list:
        raise ValueError("invalid entry in choice array")
    check_indices(a.dtype)
    count = len(choice_list)
    _, dtype = common_shape_and_dtype(choice_list)
    shape, _ = common_shape_and_dtype([a, *choice_list])
    numbers = a.astype(np.int64)
    if mode == "raise":
        if numbers.size and bool(((numbers < 0) | (numbers >= count)).any().item()):
            raise ValueError("invalid entry in choice array")
    elif mode == "wrap":
        numbers = _core.remainder(numbers, count)
    else:
        numbers = _core.clip(numbers, 0, count - 1)
    result = _core.empty(shape, dtype, device=a.device)
    # `result` begins as a copy of the first choice. Each further choice then replaces the elements that select it.
    _core.copyto(result, choice_list[0], casting="unsafe")
    for number, choice in enumerate(choice_list[1:], 1):
        _core.copyto(result, choice, casting="unsafe", where=numbers == number)
    if out is None:
        return result
    if out.shape != tuple(shape):
        raise ValueError(f"choose: out has shape {out.shape} and the result {tuple(shape)}")
    _core.copyto(out, result, casting="unsafe")
    return out


@public("Selection")
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> _core.GPUArray:
    """Select each element from the first array whose condition is true for that element.

    Parameters
    ----------
    condlist : list of arrays of bool
        Conditions, one for each array in `choicelist`.
    choicelist : list of array_like
        Array for each condition; all arrays are broadcast.
    default : scalar or GPUArray, optional
        Value for elements without a true condition.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(5)
    >>> PyGPU.select([a < 1, a > 3], [a - 10, a + 10], 7).tolist()
    [-10, 7, 7, 7, 14]
    """
    # As in NumPy, an array for `condlist` or `choicelist` is treated as the list of its rows.
    condlist, choicelist = list(condlist), list(choicelist)
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    device_array = next(
        (operand for operand in (*condlist, *choicelist, default) if isinstance(operand, _core.GPUArray)), None
    )
    if device_array is None:
        raise TypeError(
            "select: none of the conditions and choices is an array of PyGPU; copy one, with PyGPU.to_gpu(x)"
        )
    numpy_result: _core.GPUArray = _core._by_numpy("select", device_array, (condlist, choicelist, default))
    if numpy_result is not NotImplemented:
        return numpy_result
    for index, condition in enumerate(condlist):
        if getattr(condition, "dtype", None) != np.dtype(bool):
            raise TypeError(f"invalid entry {index} in condlist: should be boolean ndarray")
    types = [operand.dtype if isinstance(operand, _core.GPUArray) else operand for operand in (*choicelist, default)]
    shape, _ = common_shape_and_dtype([*condlist, *choicelist, default])
    result = _core.empty(shape, np.result_type(*types), device=device_array.device)
    _core.copyto(result, default, casting="unsafe")
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        _core.copyto(result, choice, casting="unsafe", where=condition)
    return result


@public("Selection", host=("repeats",))
def repeat(a: _core.GPUArray, repeats: Any, axis: int | None = None) -> _core.GPUArray:
    """Repeat each element.

    Parameters
    ----------
    a : GPUArray
    repeats : int or array_like of ints
        Number of repetitions, for all elements or for each index of the axis. The host waits for the sum of numbers on
        a device.
    axis : int, optional
        Axis of repetition; by default the array is flattened in C order.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.repeat(PyGPU.arange(3), [1, 0, 2]).tolist()
    [0, 2, 2]
    """
    a = array(a, "repeat")
    numpy_result: _core.GPUArray = _core._by_numpy("repeat", a, (a, repeats, axis))
    if numpy_result is not NotImplemented:
        return numpy_result
    source = flat(a) if axis is None else a
    axis_index = 0 if axis is None else normalize_axis(axis, source.ndim)
    length = source.shape[axis_index]
    if isinstance(repeats, _core.GPUArray):
        source_indices = _repeat_indices(source, repeats, length)
    else:
        counts = _host_counts(repeats)
        if counts.size == 1:
            return _repeated(source, int(counts.item()), axis_index)
        _check_counts(counts.size, length)
        if (counts < 0).any():
            raise ValueError("repeats may not contain negative values.")
        # The device computes the indices from the counts, because fewer counts than indices must be uploaded.
        device_counts = _core.asarray(counts, device=source.device)
        source_indices = _indices_of_runs(device_counts, int(counts.sum()))
    return _core._take(source, source_indices, axis_index, None, "wrap" if length else "raise")


def _host_counts(repeats: Any) -> np.ndarray[Any, Any]:
    """Return how often each element is repeated, on the host; raise NumPy's errors for invalid counts."""
    # As in NumPy, counts that are Python numbers are truncated to integers; arrays of floats raise an error.
    counts = np.asarray(repeats, None if isinstance(repeats, (np.ndarray, np.generic)) else np.int64)
    if not np.can_cast(counts.dtype, np.int64, "safe"):
        raise TypeError(f"Cannot cast array data from {counts.dtype!r} to dtype('int64') according to the rule 'safe'")
    if counts.ndim > 1:
        raise ValueError("object too deep for desired array")
    return counts.astype(np.int64)


def _check_counts(size: int, length: int) -> None:
    if size != length:
        raise ValueError(f"operands could not be broadcast together with shape ({length},) ({size},)")


def _repeated(a: _core.GPUArray, count: int, axis: int) -> _core.GPUArray:
    """Repeat each part along an axis `count` times, by one copy."""
    shape = (*a.shape[: axis + 1], count, *a.shape[axis + 1 :])
    result = _core.empty(shape, a.dtype, device=a.device)
    result[...] = _core.expand_dims(a, axis + 1)
    return result.reshape((*a.shape[:axis], a.shape[axis] * count, *a.shape[axis + 1 :]))


def _repeat_indices(a: _core.GPUArray, repeats: _core.GPUArray, length: int) -> _core.GPUArray:
    """Return, for each index of the result of `repeat`, the index of the repeated element.

    A binary search in the cumulative counts finds this index.
    """
    check_indices(repeats.dtype)
    counts = flat(repeats.astype(np.int64))
    if counts.size == 1:
        counts = _core.broadcast_to(counts, (length,)).copy()
    _check_counts(counts.size, length)
    if length == 0:
        return counts
    minimum, total = counts.min(), counts.sum().item()
    if minimum.item() < 0:
        raise ValueError("repeats may not contain negative values.")
    return _indices_of_runs(counts, total)


def _indices_of_runs(counts: _core.GPUArray, total: int) -> _core.GPUArray:
    """Return an array in which index i occurs ``counts[i]`` times, in order; the sum of all counts is `total`."""
    if total == 0:
        return _core.empty(0, np.int64, device=counts.device)
    return _core._searchsorted(counts.cumsum(), _core.arange(total, device=counts.device), True)


def _index_key(arr: _core.GPUArray, indices: _core.GPUArray, axis: int) -> tuple[_core.GPUArray, ...]:
    """Return an index tuple with given indices along one axis, and with all indices along the other axes."""
    axis_index = normalize_axis(axis, arr.ndim)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key = []
    for dimension, length in enumerate(arr.shape):
        if dimension == axis_index:
            key.append(indices)
        else:
            shape = [1] * arr.ndim
            shape[dimension] = length
            key.append(_core.arange(length, device=arr.device).reshape(shape))
    return tuple(key)


@public("Selection", host=("indices",))
def take_along_axis(arr: _core.GPUArray, indices: Any, axis: int | None = -1) -> _core.GPUArray:
    """Take elements along an axis by an array of indices, such as the result of `argmax` with `keepdims=True`.

    Parameters
    ----------
    arr : GPUArray
    indices : GPUArray of ints
        Indices of any length along `axis`; along the other axes they are broadcast with the array.
    axis : int, optional
        Axis of the indices; None flattens the array in C order.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.to_gpu([[1, 9, 3], [7, 5, 6]])
    >>> PyGPU.take_along_axis(a, a.argmax(axis=1, keepdims=True), axis=1).tolist()
    [[9], [7]]
    """
    arr = array(arr, "take_along_axis")
    index_array = on_device_of(arr, indices)
    if axis is None:
        if index_array.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return take_along_axis(flat(arr), index_array, 0)
    return arr[_index_key(arr, index_array, axis)]


@public("Selection", host=("indices",))
def put_along_axis(arr: _core.GPUArray, indices: Any, values: Any, axis: int | None) -> None:
    """Write values along an axis to the elements that `take_along_axis` returns for the same indices.

    Parameters
    ----------
    arr : GPUArray
    indices : GPUArray of ints
        Indices of any length along `axis`; along the other axes they are broadcast with the array.
    values : array_like
        Values, broadcast to the shape of the indices.
    axis : int
        Axis of the indices; None flattens the array in C order.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.to_gpu([[1, 9, 3], [7, 5, 6]])
    >>> PyGPU.put_along_axis(a, a.argmax(axis=1, keepdims=True), 0, axis=1)
    >>> a.tolist()
    [[1, 0, 3], [0, 5, 6]]
    """
    arr = target(arr, "put_along_axis")
    index_array = on_device_of(arr, indices)
    if axis is not None:
        arr[_index_key(arr, index_array, axis)] = values
        return
    if index_array.ndim != 1:
        raise ValueError("when axis=None, `indices` must have a single dimension.")
    if arr.flags.c_contiguous:
        put_along_axis(arr.reshape(-1), index_array, values, 0)
        return
    dense_copy = arr.copy("C")
    put_along_axis(dense_copy.reshape(-1), index_array, values, 0)
    arr[...] = dense_copy
