"""Functions for binary search, partial sorting and sorting by several keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axis
from PyGPU._functions.selection import take_along_axis
from PyGPU._functions.selection_operands import device_array_of, on_device_of
from PyGPU._names.public import public


class TopKResult(NamedTuple):
    """Result of `topk`: the selected values and their indices."""

    values: _core.GPUArray
    indices: _core.GPUArray


@public("Order")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> _core.GPUArray:
    """Find the insertion indices of values in a sorted array.

    The call does not synchronize, unless `sorter` is given.

    Parameters
    ----------
    a : GPUArray
        Sorted one-dimensional array. Either `a` or `v` may be an array_like that is no GPUArray.
    v : array_like
        The values, of any shape.
    side : {'left', 'right'}, optional
        Whether a value is inserted before (``'left'``) or after (``'right'``) the elements equal to it.
    sorter : array_like of ints, optional
        Indices that sort the array, as returned by `argsort`.

    Returns
    -------
    GPUArray
        Indices as int64, in the shape of the values.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.searchsorted(PyGPU.to_gpu([1, 3, 5]), [3, 4], side="right").tolist()
    [2, 2]
    """
    device_array = device_array_of("searchsorted", a, v)
    numpy_result: _core.GPUArray = _core._by_numpy("searchsorted", device_array, (a, v, side, sorter))
    if numpy_result is not NotImplemented:
        return numpy_result
    if not isinstance(side, str):
        raise TypeError(f"search side must be str, not {type(side).__name__}")
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    elements, values = on_device_of(device_array, a), on_device_of(device_array, v)
    if elements.ndim != 1:
        depth = "too deep" if elements.ndim else "of too small depth"
        raise ValueError(f"object {depth} for desired array")
    if sorter is not None:
        order = on_device_of(device_array, sorter)
        if order.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if order.shape != elements.shape:
            raise ValueError("sorter.size must equal key.size")
        elements = _core._take(elements, order, 0, None, "raise")
    dtype = np.result_type(elements.dtype, values.dtype)
    return _core._searchsorted(_as_dtype(elements, dtype), _as_dtype(values, dtype), side == "right")


def _as_dtype(a: _core.GPUArray, dtype: Any) -> _core.GPUArray:
    return a if a.dtype == dtype else a.astype(dtype)


@public("Order", host=("bins",))
def digitize(x: Any, bins: Any, right: bool = False) -> _core.GPUArray:
    """Return the index of the bin that contains each value.

    Parameters
    ----------
    x : GPUArray
        The values. Either `x` or `bins` may be an array_like that is no GPUArray.
    bins : array_like
        Edges of the bins, increasing or decreasing. For edges on a device, the host waits for the test of their order.
    right : bool, optional
        Whether a bin includes its right edge instead of its left edge.

    Returns
    -------
    GPUArray
        Indices as int64: 0 before the first edge, and the number of edges after the last edge.

    Raises
    ------
    ValueError
        If the edges neither increase nor decrease.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.digitize(PyGPU.to_gpu([0.5, 1.0, 9.0]), [0, 1, 2]).tolist()
    [1, 2, 3]
    """
    device_array = device_array_of("digitize", x, bins)
    numpy_result: _core.GPUArray = _core._by_numpy("digitize", device_array, (x, bins, right))
    if numpy_result is not NotImplemented:
        return numpy_result
    values = on_device_of(device_array, x)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    edges = bins if isinstance(bins, _core.GPUArray) else np.asarray(bins)
    if edges.ndim != 1:
        raise ValueError("object too deep for desired array" if edges.ndim else "object of too small depth")
    if edges.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from {edges.dtype!r} to dtype('float64') according to the rule 'safe'")
    side = "left" if right else "right"
    if bool((edges[1:] >= edges[:-1]).all()):
        return searchsorted(on_device_of(device_array, edges), values, side)
    if not bool((edges[1:] <= edges[:-1]).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    bin_indices: _core.GPUArray = len(edges) - searchsorted(on_device_of(device_array, edges)[::-1], values, side)
    return bin_indices


def _check_partition(a: _core.GPUArray, kth: Any, axis: int | None, kind: str, order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if not isinstance(kind, str):
        raise TypeError(f"select kind must be str, not {type(kind).__name__}")
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got '{kind}')")
    length = a.size if axis is None else a.shape[normalize_axis(axis, a.ndim)]
    positions = np.asarray(kth)
    if positions.dtype.kind not in "biu":
        raise TypeError("Partition index must be integer")
    if positions.ndim > 1:
        raise ValueError("object too deep for desired array")
    if a.size == 0:
        return
    for position in positions.reshape(-1).tolist():
        index = position + length if position < 0 else position
        if not 0 <= index < length:
            raise ValueError(f"kth(={index}) out of bounds ({length})")


def _partitioned(
    name: str, sort: Callable[..., _core.GPUArray], a: _core.GPUArray, kth: Any, axis: int | None, kind: str, order: Any
) -> _core.GPUArray:
    """Implement `partition` or `argpartition`, which sort all elements by the function `sort` or `argsort`."""
    a = array(a, name)
    numpy_result: _core.GPUArray = _core._by_numpy(name, a, (a, kth, axis, kind, order))
    if numpy_result is not NotImplemented:
        return numpy_result
    if name == "argpartition" and a.ndim == 0 and axis in (0, -1):
        axis = None
    _check_partition(a, kth, axis, kind, order)
    return sort(a, axis)


@public("Order")
def partition(
    a: _core.GPUArray, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> _core.GPUArray:
    """Return a copy in which the element at each index in `kth` is the element at this index of the sorted array.

    Smaller elements precede the element at such an index, and larger elements follow it.

    Parameters
    ----------
    a : GPUArray
    kth : int or sequence of ints
        Indices at which the result has the element of the sorted array.
    axis : int or None, optional
        Axis of the operation; defaults to the last axis, and None takes all elements.
    kind : {'introselect'}, optional
        Accepted for compatibility with NumPy; it has no effect, because a device sorts all elements.
    order : None, optional
        Must be None; sorting by fields is not supported.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.partition(PyGPU.to_gpu([3, 1, 2]), 1)[1].item()
    2
    """
    return _partitioned("partition", _core.sort, a, kth, axis, kind, order)


@public("Order")
def argpartition(
    a: _core.GPUArray, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> _core.GPUArray:
    """Return the indices that partition the elements as `partition` does.

    Parameters
    ----------
    a : GPUArray
    kth : int or sequence of ints
        Indices at which the result has the element of the sorted array.
    axis : int or None, optional
        Axis of the operation; defaults to the last axis, and None takes all elements.
    kind : {'introselect'}, optional
        Accepted for compatibility with NumPy; it has no effect, because a device sorts all elements.
    order : None, optional
        Must be None; sorting by fields is not supported.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.argpartition(PyGPU.to_gpu([3, 1, 2]), 1)[1].item()
    2
    """
    return _partitioned("argpartition", _core.argsort, a, kth, axis, kind, order)


def _partition_in_place(a: _core.GPUArray, kth: Any, axis: int, kind: str, order: Any) -> None:
    """Partition an array in place, as documented for `GPUArray.partition`."""
    _check_partition(a, kth, axis, kind, order)
    a.sort(axis)


@public("Order")
def topk(a: _core.GPUArray, k: int, axis: int = -1, largest: bool = True) -> TopKResult:
    """Return the largest or smallest elements along an axis, sorted.

    The call does not synchronize.

    Parameters
    ----------
    a : GPUArray
    k : int
        Number of elements.
    axis : int, optional
        Axis of the operation; defaults to the last axis.
    largest : bool, optional
        Whether to select the largest elements instead of the smallest. NaN comes last in both cases.

    Returns
    -------
    TopKResult
        Named tuple of `values` and `indices` (int64). Of equal elements the first ones are selected.

    Raises
    ------
    ValueError
        If the axis has fewer than `k` elements.

    Examples
    --------
    >>> import PyGPU
    >>> values, indices = PyGPU.topk(PyGPU.to_gpu([3, 1, 2]), 2)
    >>> values.tolist(), indices.tolist()
    ([3, 2], [0, 2])
    """
    a = array(a, "topk")
    axis_index = normalize_axis(axis, a.ndim)
    if not 0 <= k <= a.shape[axis_index]:
        raise ValueError(f"topk: k={k}, and axis {axis} has {a.shape[axis_index]} elements")
    order = _core.argsort(a, axis_index, descending=largest)
    indices = order[(slice(None),) * axis_index + (slice(0, k),)].copy("C")
    return TopKResult(take_along_axis(a, indices, axis_index), indices)


@public("Order")
def lexsort(keys: Any, axis: int = -1) -> _core.GPUArray:
    """Return the indices that sort by several keys; the last key is the primary key.

    Parameters
    ----------
    keys : sequence of GPUArrays, or GPUArray
        Keys of one shape. An array provides one key for each index of its first axis.
    axis : int, optional
        Axis of the operation; defaults to the last axis.

    Returns
    -------
    GPUArray
        64-bit integers.

    Examples
    --------
    >>> import PyGPU
    >>> second, first = PyGPU.to_gpu([1, 0, 2]), PyGPU.to_gpu([5, 5, 4])
    >>> PyGPU.lexsort((second, first)).tolist()
    [2, 1, 0]
    """
    key_list: Sequence[Any] = keys if isinstance(keys, (list, tuple)) else list(keys)
    if len(key_list) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    device_array = next((key for key in key_list if isinstance(key, _core.GPUArray)), None)
    if device_array is None:
        raise TypeError("lexsort(): no key is an array of PyGPU; copy them to a device, with PyGPU.to_gpu(x)")
    numpy_result: _core.GPUArray = _core._by_numpy("lexsort", device_array, (tuple(key_list), axis))
    if numpy_result is not NotImplemented:
        return numpy_result
    arrays = [on_device_of(device_array, key) for key in key_list]
    if any(key.shape != arrays[0].shape for key in arrays):
        raise ValueError("all keys need to be the same shape")
    if device_array.ndim == 0:
        return _core.zeros((), np.int64, device=device_array.device)
    axis_index = normalize_axis(axis, device_array.ndim)
    order = _core.argsort(arrays[0], axis_index)
    for key in arrays[1:]:
        order = take_along_axis(order, _core.argsort(take_along_axis(key, order, axis_index), axis_index), axis_index)
    return order
