"""Binary search, partial sorting and sorting by several keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, axis_of
from PyGPU._functions.operands import on_device_of
from PyGPU._functions.selection import take_along_axis
from PyGPU._names.public import public


class TopKResult(NamedTuple):
    """Result of `topk`."""

    values: _core.GPUArray
    indices: _core.GPUArray


@public("Order")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> _core.GPUArray:
    """Find the insertion indices of values in a sorted array.

    The call does not synchronize, unless `sorter` is given.

    Parameters
    ----------
    a : GPUArray
        Sorted one-dimensional array. It or `v` may be another array_like.
    v : array_like
        The values, of any shape.
    side : {'left', 'right'}, optional
        Whether a value is inserted before or behind the elements equal to it.
    sorter : array_like of ints, optional
        Indices that sort the array, as returned by `argsort`.

    Returns
    -------
    GPUArray
        64-bit integers in the shape of the values.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.searchsorted(PyGPU.to_gpu([1, 3, 5]), [3, 4], side="right").tolist()
    [2, 2]
    """
    own = a if isinstance(a, _core.GPUArray) else v
    if not isinstance(own, _core.GPUArray):
        raise TypeError("searchsorted(): neither operand is an array of PyGPU; copy one, with PyGPU.to_gpu(x)")
    done: _core.GPUArray = _core._by_numpy("searchsorted", own, (a, v, side, sorter))
    if done is not NotImplemented:
        return done
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
    elements, values = on_device_of(own, a), on_device_of(own, v)
    if elements.ndim != 1:
        depth = "too deep" if elements.ndim else "of too small depth"
        raise ValueError(f"object {depth} for desired array")
    if sorter is not None:
        order = on_device_of(own, sorter)
        if order.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if order.shape != elements.shape:
            raise ValueError("sorter.size must equal key.size")
        elements = _core._take(elements, order, 0, None, "raise")
    dtype = np.result_type(elements.dtype, values.dtype)
    return _core._searchsorted(_as(elements, dtype), _as(values, dtype), side == "right")


def _as(a: _core.GPUArray, dtype: Any) -> _core.GPUArray:
    return a if a.dtype == dtype else a.astype(dtype)


@public("Order")
def digitize(x: Any, bins: Any, right: bool = False) -> _core.GPUArray:
    """Find the bin of each value.

    Parameters
    ----------
    x : GPUArray
        The values. They or the bins may be another array_like.
    bins : array_like
        Edges, which increase or decrease. For device edges the host waits for the direction.
    right : bool, optional
        Whether a bin includes its right edge instead of its left one.

    Returns
    -------
    GPUArray
        64-bit integers: 0 before the first edge, the number of edges behind the last one.

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
    own = x if isinstance(x, _core.GPUArray) else bins
    if not isinstance(own, _core.GPUArray):
        raise TypeError("digitize(): neither operand is an array of PyGPU; copy one, with PyGPU.to_gpu(x)")
    done: _core.GPUArray = _core._by_numpy("digitize", own, (x, bins, right))
    if done is not NotImplemented:
        return done
    values = on_device_of(own, x)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    edges = bins if isinstance(bins, _core.GPUArray) else np.asarray(bins)
    if edges.ndim != 1:
        raise ValueError("object too deep for desired array" if edges.ndim else "object of too small depth")
    side = "left" if right else "right"
    if bool((edges[1:] >= edges[:-1]).all()):
        return searchsorted(on_device_of(own, edges), values, side)
    if not bool((edges[1:] <= edges[:-1]).all()):
        raise ValueError("bins must be monotonically increasing or decreasing")
    places: _core.GPUArray = len(edges) - searchsorted(on_device_of(own, edges)[::-1], values, side)
    return places


def _check_partition(a: _core.GPUArray, kth: Any, axis: int | None, kind: str, order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got '{kind}')")
    places = np.asarray(kth)
    if places.dtype.kind not in "biu":
        raise TypeError("Partition index must be integer")
    if places.ndim > 1:
        raise ValueError("object too deep for desired array")
    length = a.size if axis is None else a.shape[axis_of(axis, a.ndim)]
    for place in places.reshape(-1).tolist():
        counted = place + length if place < 0 else place
        if not 0 <= counted < length:
            raise ValueError(f"kth(={counted}) out of bounds ({length})")


def _partitioned(
    name: str, sort: Callable[..., _core.GPUArray], a: _core.GPUArray, kth: Any, axis: int | None, kind: str, order: Any
) -> _core.GPUArray:
    """Sort all elements with the function of a name."""
    done: _core.GPUArray = _core._by_numpy(name, a, (a, kth, axis, kind, order))
    if done is not NotImplemented:
        return done
    _check_partition(a, kth, axis, kind, order)
    return sort(a, axis)


@public("Order")
def partition(
    a: _core.GPUArray, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> _core.GPUArray:
    """Partition the elements: selected ones are at their sorted index, smaller ones before, larger ones behind.

    Parameters
    ----------
    a : GPUArray
    kth : int or sequence of ints
        Sorted indices that must be correct.
    axis : int or None, optional
        Axis; defaults to the last one, and None takes all elements.
    kind : {'introselect'}, optional
        Accepted for compatibility with NumPy; a device sorts all elements.
    order : None, optional
        Not supported: arrays have no fields.

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
    """Return the indices that partition the elements.

    Parameters
    ----------
    a : GPUArray
    kth : int or sequence of ints
        Sorted indices that must be correct.
    axis : int or None, optional
        Axis; defaults to the last one, and None takes all elements.
    kind : {'introselect'}, optional
        Accepted for compatibility with NumPy; a device sorts all elements.
    order : None, optional
        Not supported: arrays have no fields.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.argpartition(PyGPU.to_gpu([3, 1, 2]), 1)[1].item()
    2
    """
    return _partitioned("argpartition", _core.argsort, a, kth, axis, kind, order)


def _partition_in_place(a: _core.GPUArray, kth: Any, axis: int, kind: str, order: Any) -> None:
    """Partition in place, as documented for `GPUArray.partition`."""
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
        Axis; defaults to the last one.
    largest : bool, optional
        Whether to select the largest elements. NaN comes last in both cases.

    Returns
    -------
    TopKResult
        With `values` and `indices`, 64-bit integers. Of equal elements the first ones are selected.

    Raises
    ------
    ValueError
        If the axis has fewer elements.

    Examples
    --------
    >>> import PyGPU
    >>> values, indices = PyGPU.topk(PyGPU.to_gpu([3, 1, 2]), 2)
    >>> values.tolist(), indices.tolist()
    ([3, 2], [0, 2])
    """
    a = array(a, "topk")
    along = axis_of(axis, a.ndim)
    if not 0 <= k <= a.shape[along]:
        raise ValueError(f"topk: k={k}, and axis {axis} has {a.shape[along]} elements")
    order = _core.argsort(a, along, descending=largest)
    indices = order[(slice(None),) * along + (slice(0, k),)].copy("C")
    return TopKResult(take_along_axis(a, indices, along), indices)


@public("Order")
def lexsort(keys: Any, axis: int = -1) -> _core.GPUArray:
    """Return the indices that sort by several keys, of which the last is the primary one.

    Parameters
    ----------
    keys : sequence of GPUArrays, or GPUArray
        Keys of one shape; an array provides one key per index of its first axis.
    axis : int, optional
        Axis; defaults to the last one.

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
    several: Sequence[Any] = keys if isinstance(keys, (list, tuple)) else list(keys)
    if len(several) == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    own = next((key for key in several if isinstance(key, _core.GPUArray)), None)
    if own is None:
        raise TypeError("lexsort(): no key is an array of PyGPU; copy them to a device, with PyGPU.to_gpu(x)")
    done: _core.GPUArray = _core._by_numpy("lexsort", own, (tuple(several), axis))
    if done is not NotImplemented:
        return done
    arrays = [on_device_of(own, key) for key in several]
    if any(key.shape != arrays[0].shape for key in arrays):
        raise ValueError("all keys need to be the same shape")
    if own.ndim == 0:
        return _core.zeros((), np.int64, device=own.device)
    along = axis_of(axis, own.ndim)
    order = _core.argsort(arrays[0], along)
    for key in arrays[1:]:
        order = take_along_axis(order, _core.argsort(take_along_axis(key, order, along), along), along)
    return order
