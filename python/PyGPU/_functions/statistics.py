"""Sums, means and sizes of arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.arrays import array

__all__ = ["average", "cumulative_prod", "cumulative_sum", "norm"]


def _cumulative(
    scan: Callable[..., _core.GPUArray],
    first: int,
    x: _core.GPUArray,
    axis: int | None,
    dtype: Any,
    include_initial: bool,
    out: _core.GPUArray | None,
) -> _core.GPUArray:
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if not include_initial:
        return scan(x, axis=axis, dtype=dtype, out=out)
    x = x.reshape(1) if x.ndim == 0 else x
    if not -x.ndim <= axis < x.ndim:
        raise np.exceptions.AxisError(axis, x.ndim)
    axis %= x.ndim
    shape = (*x.shape[:axis], x.shape[axis] + 1, *x.shape[axis + 1 :])
    if out is None:
        # The type of the results is known by who makes them: of no elements that costs nothing.
        out = _core.empty(shape, scan(x[:0], axis=0, dtype=dtype).dtype, device=x.device)
    elif out.shape != shape:
        raise ValueError(f"out has shape {out.shape} and the scan with its initial value {shape}")
    before = (slice(None),) * axis
    scan(x, axis=axis, dtype=dtype, out=out[(*before, slice(1, None))])
    out[(*before, slice(0, 1))] = first  # last, since it may lie among the elements
    return out


def cumulative_sum(
    x: _core.GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: _core.GPUArray | None = None,
    include_initial: bool = False,
) -> _core.GPUArray:
    """Return the sums of the elements up to each of them, as the array API has it.

    Parameters
    ----------
    x : GPUArray
    axis : int, optional
        Along which; an array with several must be told.
    dtype : dtype-like, optional
        The type in which is computed, and of the result.
    out : GPUArray, optional
        Where the result goes.
    include_initial : bool, optional
        Whether the sum of no elements comes first, so that the result is one longer.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cumulative_sum(PyGPU.to_gpu([1, 2, 3]), include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return _cumulative(_core.cumsum, 0, array(x, "cumulative_sum"), axis, dtype, include_initial, out)


def cumulative_prod(
    x: _core.GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: _core.GPUArray | None = None,
    include_initial: bool = False,
) -> _core.GPUArray:
    """Return the products of the elements up to each of them, as the array API has it.

    Parameters
    ----------
    x : GPUArray
    axis : int, optional
        Along which; an array with several must be told.
    dtype : dtype-like, optional
        The type in which is computed, and of the result.
    out : GPUArray, optional
        Where the result goes.
    include_initial : bool, optional
        Whether the product of no elements comes first, so that the result is one longer.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cumulative_prod(PyGPU.to_gpu([[1, 2], [3, 4]]), axis=0).tolist()
    [[1, 2], [3, 8]]
    """
    return _cumulative(_core.cumprod, 1, array(x, "cumulative_prod"), axis, dtype, include_initial, out)


def _axes(axis: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    given = axis if isinstance(axis, tuple) else (axis,)
    for one in given:
        if not -ndim <= one < ndim:
            raise np.exceptions.AxisError(one, ndim)
    axes = tuple(one % ndim for one in given)
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    return axes


def _fitted(a: _core.GPUArray, axis: int | tuple[int, ...] | None, weights: _core.GPUArray) -> _core.GPUArray:
    """Return the weights with the axes of the array."""
    if a.shape == weights.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = _axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[one] for one in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return weights.transpose(order).reshape([a.shape[one] if one in axes else 1 for one in range(a.ndim)])


def average(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    weights: _core.GPUArray | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Return the mean of the elements, each with its weight.

    Parameters
    ----------
    a : GPUArray
    axis : int or tuple of ints, optional
        The axes that are reduced; all by default.
    weights : GPUArray, optional
        As many as there are elements, or as many as there are along the axes. The host waits for their sum, which must
        not be 0.
    returned : bool, optional
        Whether the sum of the weights is returned, too.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.

    Returns
    -------
    GPUArray, or a tuple of two

    Raises
    ------
    ZeroDivisionError
        If the weights of a mean have the sum 0.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.to_gpu([1.0, 2.0, 3.0])
    >>> PyGPU.average(a, weights=PyGPU.to_gpu([3.0, 0.0, 1.0])).item()
    1.5
    """
    a = array(a, "average")
    if weights is None:
        mean = a.mean(axis, keepdims=keepdims)
        count = a.size / mean.size if mean.size else math.nan
        return (mean, _core.full_like(mean, count)) if returned else mean
    if not isinstance(weights, _core.GPUArray):
        raise TypeError("average(): weights= is an array of PyGPU; copy them to the device first, with PyGPU.to_gpu(x)")
    least = ["float64"] if a.dtype.kind in "biu" else []
    dtype = np.result_type(a.dtype, weights.dtype, *least)
    fitted = _fitted(a, axis, weights)
    total = fitted.sum(axis, dtype=dtype, keepdims=keepdims)
    if (total == 0).any():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = _core.multiply(a, fitted, dtype=dtype).sum(axis, keepdims=keepdims) / total
    if not returned:
        return mean
    return mean, total if total.shape == mean.shape else _core.broadcast_to(total, mean.shape).copy()


def _of_vectors(x: _core.GPUArray, order: Any, axis: Any, keepdims: bool) -> _core.GPUArray:
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    if order is None or order in (1, 2):
        if x.device.kind != "cpu":
            return _core._norm(x, 1 if order == 1 else 2, axis, keepdims)
        order = order or 2
    if order == 0:
        is_some: _core.GPUArray = x != 0
        return is_some.sum(axis, dtype=np.empty(0, x.dtype).real.dtype, keepdims=keepdims)
    sizes: _core.GPUArray = _core.abs(x)
    if order == math.inf:
        return sizes.max(axis, keepdims=keepdims)
    if order == -math.inf:
        return sizes.min(axis, keepdims=keepdims)
    if order == 1:
        return sizes.sum(axis, keepdims=keepdims)
    powers: _core.GPUArray = sizes**order
    root: _core.GPUArray = powers.sum(axis, keepdims=keepdims) ** (1 / order)
    return root


def _of_matrices(x: _core.GPUArray, order: Any, axes: tuple[int, int], keepdims: bool) -> _core.GPUArray:
    row, column = (one % x.ndim for one in axes)
    if row == column:
        raise ValueError("Duplicate axes given.")
    if order is None or order in ("f", "fro"):
        return _of_vectors(x, 2, axes, keepdims)
    if order in (2, -2, "nuc"):
        from PyGPU._linalg.factors import svdvals

        values = svdvals(_core.moveaxis(x, (row, column), (-2, -1)))
        made = values.sum(-1) if order == "nuc" else values.max(-1) if order == 2 else values.min(-1)
        return _core.expand_dims(made, (row, column)) if keepdims else made
    if order not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    summed, other = (row, column) if order in (1, -1) else (column, row)
    sums = _of_vectors(x, 1, summed, True)
    extreme = sums.max(other, keepdims=True) if order > 0 else sums.min(other, keepdims=True)
    return extreme if keepdims else extreme.squeeze((row, column))


def norm(
    x: _core.GPUArray,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> _core.GPUArray:
    """Return the norm of vectors or matrices, as `numpy.linalg.norm`.

    Parameters
    ----------
    x : GPUArray
    ord : number, inf, -inf, 'fro' or 'nuc', optional
        Which norm: of vectors by default the Euclidean one, of matrices the Frobenius norm. Those of matrices that are
        2, -2 and 'nuc' need `linalg.svdvals`.
    axis : int or tuple of two ints, optional
        Of the vectors, or of the matrices. Without it and `ord` the array is one vector.
    keepdims : bool, optional
        Whether reduced axes stay, with length 1.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.norm(PyGPU.to_gpu([[3.0, 4.0], [6.0, 8.0]]), axis=1).tolist()
    [5.0, 10.0]
    """
    x = array(x, "norm")
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    if axis is None and ord is None:
        return _of_vectors(x, 2, None, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for one in axes:
        if not -x.ndim <= one < x.ndim:
            raise np.exceptions.AxisError(one, x.ndim)
    if len(axes) == 1:
        return _of_vectors(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _of_matrices(x, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")
