"""Functions that compute differences between adjacent elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array, normalize_axis
from PyGPU._functions.joining import concatenate
from PyGPU._names.public import public


@public("Moving and repeating elements")
def diff(a: _core.GPUArray, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> _core.GPUArray:
    """Return the differences of adjacent elements along an axis.

    Parameters
    ----------
    a : GPUArray
        Array with one or more axes.
    n : int, optional
        Number of times that differences are computed.
    axis : int, optional
        Axis of the operation.
    prepend, append : GPUArray or number, optional
        Values to prepend or append before the subtraction.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For a negative `n`, and for an array without axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.diff(PyGPU.to_gpu([1, 4, 9, 16])).tolist()
    [3, 5, 7]
    """
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    result = array(a, "diff")
    if result.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis_index = normalize_axis(axis, result.ndim)
    parts = [
        _edge_operand(operand, result, axis_index)
        for operand in (prepend, result, append)
        if operand is not None and operand is not np._NoValue
    ]
    if len(parts) > 1:
        result = concatenate(parts, axis_index)
    compute = _core.not_equal if result.dtype == np.bool_ else _core.subtract
    for _ in range(n):
        result = compute(result[along(axis_index, slice(1, None))], result[along(axis_index, slice(None, -1))])
    return result


def _edge_operand(values: Any, reference: _core.GPUArray, axis: int) -> _core.GPUArray:
    """Convert values that `diff` prepends or appends to an array; a number becomes one element along the axis."""
    edge_values = array(values, "diff")
    return (
        edge_values
        if edge_values.ndim
        else _core.broadcast_to(edge_values, (*reference.shape[:axis], 1, *reference.shape[axis + 1 :]))
    )


@public("Moving and repeating elements")
def ediff1d(ary: _core.GPUArray, to_end: Any = None, to_begin: Any = None) -> _core.GPUArray:
    """Return the differences of adjacent elements of the flattened array.

    Parameters
    ----------
    ary : GPUArray
        The elements, in C order.
    to_end, to_begin : GPUArray or number, optional
        Values to append after the differences, and to prepend before them.

    Returns
    -------
    GPUArray

    Raises
    ------
    TypeError
        If `to_end` or `to_begin` cannot be cast to the array's dtype.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.ediff1d(PyGPU.to_gpu([1, 4, 9]), to_begin=0).tolist()
    [0, 3, 5]
    """
    flat = array(ary, "ediff1d").ravel()
    parts = [flat[1:] - flat[:-1]]
    for name, edge_argument, part_index in (("to_begin", to_begin, 0), ("to_end", to_end, 2)):
        if edge_argument is None:
            continue
        edge_values = array(edge_argument, "ediff1d").ravel()
        if not np.can_cast(edge_values.dtype, flat.dtype, "same_kind"):
            raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
        parts.insert(part_index, edge_values)
    return concatenate(parts, dtype=flat.dtype) if len(parts) > 1 else parts[0]
