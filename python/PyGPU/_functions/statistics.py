"""Functions for weighted means, variances about given means, and the array API's cumulative sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._names.public import public


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
        # The scan of an empty slice launches no kernel, and returns the dtype that the new array needs.
        out = _core.empty(shape, scan(x[:0], axis=0, dtype=dtype).dtype, device=x.device)
    elif out.shape != shape:
        raise ValueError(f"out has shape {out.shape} and the scan with its initial value {shape}")
    before = (slice(None),) * axis
    scan(x, axis=axis, dtype=dtype, out=out[(*before, slice(1, None))])
    out[(*before, slice(0, 1))] = first  # `first` may be a view of `out`, so it is written last.
    return out


@public("Scans")
def cumulative_sum(
    x: _core.GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: _core.GPUArray | None = None,
    include_initial: bool = False,
) -> _core.GPUArray:
    """Return cumulative sums, as in the array API.

    Parameters
    ----------
    x : GPUArray
    axis : int, optional
        Axis of the sums; required for arrays with several axes.
    dtype : dtype-like, optional
        Type of the computation and of the result.
    out : GPUArray, optional
        Output array.
    include_initial : bool, optional
        Whether the result begins with an additional 0.

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


@public("Scans")
def cumulative_prod(
    x: _core.GPUArray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: _core.GPUArray | None = None,
    include_initial: bool = False,
) -> _core.GPUArray:
    """Return cumulative products, as in the array API.

    Parameters
    ----------
    x : GPUArray
    axis : int, optional
        Axis of the products; required for arrays with several axes.
    dtype : dtype-like, optional
        Type of the computation and of the result.
    out : GPUArray, optional
        Output array.
    include_initial : bool, optional
        Whether the result begins with an additional 1.

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
    sequence = axis if isinstance(axis, tuple) else (axis,)
    for index in sequence:
        if not -ndim <= index < ndim:
            raise np.exceptions.AxisError(index, ndim)
    axes = tuple(index % ndim for index in sequence)
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    return axes


def _broadcast_weights(
    a: _core.GPUArray, axis: int | tuple[int, ...] | None, weights: _core.GPUArray
) -> _core.GPUArray:
    """Return the weights, broadcast to the axes of the array."""
    if a.shape == weights.shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = _axes(axis, a.ndim)
    if weights.shape != tuple(a.shape[index] for index in axes):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return weights.transpose(order).reshape([a.shape[index] if index in axes else 1 for index in range(a.ndim)])


@overload
def average(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    weights: _core.GPUArray | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> _core.GPUArray: ...
@overload
def average(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    weights: _core.GPUArray | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[_core.GPUArray, _core.GPUArray]: ...
@public("Reductions")
def average(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    weights: _core.GPUArray | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Return the weighted mean of the elements.

    Parameters
    ----------
    a : GPUArray
    axis : int or tuple of ints, optional
        Axes of the reduction; defaults to all.
    weights : GPUArray, optional
        Weights for all elements, or for the elements along `axis`. The host waits for the sum of the weights, which
        must not be 0.
    returned : bool, optional
        Whether to return the sum of the weights, too.
    keepdims : bool, optional
        Whether reduced axes are kept with length 1.

    Returns
    -------
    GPUArray, or a tuple of two

    Raises
    ------
    ZeroDivisionError
        If the sum of the weights of a mean is 0.

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
        raise TypeError("average(): weights= is an ndarray; expected a GPUArray; write weights=PyGPU.to_gpu(weights)")
    if axis is not None:
        _axes(axis, a.ndim)
    min_types = ["float64"] if a.dtype.kind in "biu" else []
    dtype = np.result_type(a.dtype, weights.dtype, *min_types)
    broadcast_weights = _broadcast_weights(a, axis, weights)
    total = broadcast_weights.sum(axis, dtype=dtype, keepdims=keepdims)
    if (total == 0).any():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    mean = _core.multiply(a, broadcast_weights, dtype=dtype).sum(axis, keepdims=keepdims) / total
    if not returned:
        return mean
    return mean, total if total.shape == mean.shape else _core.broadcast_to(total, mean.shape).copy()


def _deviations(a: _core.GPUArray, mean: Any, ignores_nan: bool) -> _core.GPUArray:
    """Return the squared absolute deviations of elements from given means, as real numbers."""
    deviations: _core.GPUArray = a - mean
    if ignores_nan:
        if deviations.shape != a.shape:
            raise ValueError(f"the means do not broadcast to the array: its shape is {a.shape}, not {deviations.shape}")
        deviations = deviations.astype(a.dtype, copy=False)
    if a.dtype.kind in "fiu" or deviations.dtype.kind != "c":
        return deviations * deviations
    real, imaginary = deviations.real, deviations.imag
    return real * real + imaginary * imaginary


def variance_about(
    a: _core.GPUArray,
    mean: Any,
    ignores_nan: bool,
    axis: int | tuple[int, ...] | None,
    dtype: Any,
    out: _core.GPUArray | None,
    ddof: float,
    keepdims: bool,
    where: Any,
) -> _core.GPUArray:
    """Return the variance about given means, as documented for `GPUArray.var` and `nanvar`."""
    ignores_nan = ignores_nan and a.dtype.kind not in "biu"
    if axis is not None:
        _axes(axis, a.ndim)
    mask = where
    if np.isscalar(where) and not isinstance(where, str):
        mask = None if where else _core.zeros((), bool, device=a.device)
    if ignores_nan:
        is_number = ~_core.isnan(a)
        mask = is_number if mask is None else _core.logical_and(is_number, mask)
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.float64
    result = _deviations(a, mean, ignores_nan).sum(axis, dtype, out, keepdims, None, mask)
    if mask is None:
        axes = range(a.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        divisor: Any = max(math.prod(a.shape[one] for one in axes) - ddof, 0)
    else:
        divisor = _core.count_nonzero(_core.broadcast_to(mask, a.shape), axis, keepdims=keepdims) - ddof
        divisor = _core.where(divisor > 0, divisor, math.nan if ignores_nan else 0)
    return _core.true_divide(result, divisor, out=result, casting="unsafe")
