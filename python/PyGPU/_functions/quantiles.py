"""Functions that compute medians and other quantiles along any axes, by one sort."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, check_out, normalize_axis
from PyGPU._functions.selection import take_along_axis
from PyGPU._names.docstrings import documented_like
from PyGPU._names.public import public

_CONTINUOUS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
"""The parameters alpha and beta of Hyndman and Fan's methods for continuous quantiles."""

_METHODS = (
    "averaged_inverted_cdf",
    "closest_observation",
    "higher",
    "inverted_cdf",
    "linear",
    "lower",
    "midpoint",
    "nearest",
    *_CONTINUOUS,
)


def _virtual(method: str, n: Any, q: Any) -> tuple[Any, Any]:
    """Return a quantile's fractional index in the sorted elements, and the weight of the element after this index.

    Both arguments may be host or device arrays. The formulas are the same as in NumPy.
    """
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        index = n * q + (alpha + q * (1 - alpha - beta)) - 1
        return index, index - np.floor(index)
    linear = (n - 1) * q
    if method == "linear":
        return linear, linear - np.floor(linear)
    if method == "midpoint":
        index = 0.5 * (np.floor(linear) + np.ceil(linear))
        return index, np.where(index % 1 == 0, 0.0, 0.5)
    if method == "averaged_inverted_cdf":
        index = n * q - 1
        return index, np.where(index == np.floor(index), 0.5, 1.0)
    if method in ("lower", "higher", "nearest"):
        return {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[method](linear), None
    if method == "inverted_cdf":
        return np.ceil(n * q - 1), None
    # Select the nearest element; of two equally near elements, select the one with an even index, counted from 1.
    index = n * q - 1 - 0.5
    floor = np.floor(index)
    return np.where((index == floor) & (floor % 2 == 1), floor, floor + 1), None


def _rows(a: _core.GPUArray, axis: Any) -> tuple[_core.GPUArray, tuple[int, ...]]:
    """Merge the reduced axes to one last axis, and sort along it; return the sorted array and the reduced axes."""
    if axis is None:
        axes = tuple(range(a.ndim))
    else:
        axes = tuple(
            normalize_axis(axis_index, a.ndim) for axis_index in (axis if isinstance(axis, (tuple, list)) else (axis,))
        )
        if len(set(axes)) != len(axes):
            raise ValueError("repeated axis")
    outer_axes = [axis_index for axis_index in range(a.ndim) if axis_index not in axes]
    moved = a.transpose([*outer_axes, *axes]) if a.ndim else a
    length = math.prod(a.shape[axis_index] for axis_index in axes)
    shape = [*(a.shape[axis_index] for axis_index in outer_axes), length]
    rows = moved if moved.flags.c_contiguous else moved.copy("C")
    return _core.sort(rows.reshape(shape)), axes


def _finish_result(
    a: _core.GPUArray,
    result: _core.GPUArray,
    leading_shape: tuple[int, ...],
    axes: tuple[int, ...],
    out: Any,
    keepdims: bool,
    casting: Literal["same_kind", "unsafe"],
    is_broadcast: bool = True,
) -> _core.GPUArray:
    """Restore the reduced axes of a result if `keepdims` is true; copy the result into `out` if given."""
    # As in NumPy, the result must have C order. Moved axes may have given it another order.
    if not result.flags.c_contiguous:
        result = result.copy("C")
    if keepdims:
        lengths = (1 if axis_index in axes else length for axis_index, length in enumerate(a.shape))
        result = result.reshape([*leading_shape, *lengths])
    if out is None:
        return result
    if not is_broadcast and out.shape != result.shape:
        raise ValueError(f"output parameter has shape {out.shape}, and the result {result.shape}")
    _core.copyto(out, result, casting)
    target: _core.GPUArray = out
    return target


def _with_nan(result: _core.GPUArray, rows: _core.GPUArray) -> _core.GPUArray:
    """Replace the quantiles of rows that contain NaN by NaN; sorting has moved the NaN to the end of the row."""
    if rows.dtype.kind not in "fc":
        return result
    last = rows[..., -1]
    return _core.where(_core.isnan(last), last, result)


def _lerp(below: Any, above: Any, weight: Any, dtype: Any = None) -> Any:
    """Interpolate between two elements, starting from the nearer element, as NumPy does."""
    difference = above - below
    if isinstance(weight, float):
        return above - difference * (1 - weight) if weight >= 0.5 else below + difference * weight
    opposite_weight = 1 - weight
    weights = (weight, opposite_weight) if dtype is None else (weight.astype(dtype), opposite_weight.astype(dtype))
    return _core.where(weight >= 0.5, above - difference * weights[1], below + difference * weights[0])


def _take_from_rows(rows: _core.GPUArray, indices: Any) -> _core.GPUArray:
    """Take the elements at given indices of each row; the first axes of the result are the axes of the indices."""
    if indices.ndim == 0:
        return rows[..., int(indices)]
    taken = _core._take(rows, _core.asarray(indices, device=rows.device), rows.ndim - 1, None, "raise")
    index_axes = tuple(range(indices.ndim))
    return _core.moveaxis(taken, tuple(axis_index + rows.ndim - 1 for axis_index in index_axes), index_axes)


def _is_whole(index: Any) -> Any:
    """Test whether the indices that a method selects are integers, so that NumPy does not interpolate."""
    return index.dtype.kind in "iu"


def _row_quantiles(rows: _core.GPUArray, q: Any, method: str, is_weak: bool) -> _core.GPUArray:
    count = rows.shape[-1]
    if count == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    index, weight = _virtual(method, count, q)
    last = count - 1
    if weight is None or _is_whole(index):
        return _with_nan(_take_from_rows(rows, np.clip(index, 0, last).astype(np.int64)), rows)
    floor = np.floor(index)
    below = _take_from_rows(rows, np.asarray(np.clip(floor, 0, last)).astype(np.int64))
    above = _take_from_rows(rows, np.asarray(np.clip(floor + 1, 0, last)).astype(np.int64))
    if is_weak:
        weight_operand: Any = float(weight)
    else:
        weight_operand = np.asarray(weight, np.asarray(index).dtype).reshape(np.shape(weight) + (1,) * (rows.ndim - 1))
        weight_operand = _core.asarray(weight_operand, device=rows.device)
    return _with_nan(_lerp(below, above, weight_operand), rows)


def _row_nanquantiles(rows: _core.GPUArray, q: Any, method: str, is_weak: bool) -> _core.GPUArray:
    """Compute quantiles of the non-NaN elements of each row; the number of these elements differs between rows."""
    counts = _core.count_nonzero(_core.equal(rows, rows), axis=-1)
    broadcast_q = np.asarray(q).reshape(np.shape(q) + (1,) * (rows.ndim - 1))
    index, weight = _virtual(method, counts, _core.asarray(broadcast_q, device=rows.device))
    last = _core.maximum(counts - 1, 0)

    def taken(indices: Any) -> _core.GPUArray:
        indices = _core.minimum(_core.maximum(indices, 0).astype(np.int64), last)
        shape = (*indices.shape[: np.ndim(q)], *rows.shape)
        return take_along_axis(_core.broadcast_to(rows, shape), _core.expand_dims(indices, -1), -1)[..., 0]

    if weight is None or _is_whole(index):
        return taken(index)
    floor = _core.floor(index)
    result: _core.GPUArray = _lerp(taken(floor), taken(floor + 1), weight, rows.dtype if is_weak else None)
    return result


def _quantiles(
    name: str,
    a: _core.GPUArray,
    q_argument: Any,
    axis: Any,
    out: Any,
    overwrite_input: bool,
    method: str,
    keepdims: bool,
    weights: Any,
) -> _core.GPUArray:
    is_percent, skips_nan = "percentile" in name, name.startswith("nan")
    a = array(a, name)
    if out is not None:
        check_out(out, name)
    keywords = {"axis": axis, "out": out, "overwrite_input": overwrite_input, "method": method, "keepdims": keepdims}
    if weights is not None:
        keywords["weights"] = weights
    numpy_result: _core.GPUArray = _core._by_numpy(name, a, (a, q_argument), keywords)
    if numpy_result is not NotImplemented:
        return numpy_result
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    if weights is not None:
        raise NotImplementedError(f"{name}: weights= is not computed by PyGPU on a device; for host memory NumPy does")
    is_weak = type(q_argument) in (int, float)
    q = q_argument.get() if isinstance(q_argument, _core.GPUArray) else np.asarray(q_argument)
    q = np.asarray(np.true_divide(q, 100) if is_percent else q)
    if is_weak and a.dtype.kind == "f":
        q = q.astype(np.float64)
    if q.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if q.size and not (q.min() >= 0 and q.max() <= 1):
        raise ValueError(
            "Percentiles must be in the range [0, 100]" if is_percent else "Quantiles must be in the range [0, 1]"
        )
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {sorted(_METHODS)}")
    rows, axes = _rows(a, axis)
    casting: Literal["same_kind", "unsafe"] = "unsafe" if skips_nan else "same_kind"
    if skips_nan and a.size == 0:
        return _finish_result(a, rows[..., :0].mean(axis=-1), (), axes, out, keepdims, casting)
    if skips_nan and a.dtype.kind == "f":
        result = _row_nanquantiles(rows, q, method, is_weak)
    else:
        result = _row_quantiles(rows, q, method, is_weak)
    return _finish_result(a, result, q.shape, axes, out, keepdims, casting)


@public("Order", host=("q",))
def quantile(
    a: _core.GPUArray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> _core.GPUArray:
    """Return quantiles of the elements along axes.

    Parameters
    ----------
    a : GPUArray
    q : array_like of numbers from 0 to 1
        Probabilities of the quantiles, e.g. 0.5 for the median. The first axes of the result are the axes of `q`.
    axis : int or tuple of ints, optional
        Axes of the reduction; defaults to all.
    out : GPUArray, optional
        Output array.
    overwrite_input : bool, optional
        Accepted for compatibility with NumPy; it has no effect, because the array never changes.
    method : str, optional
        Interpolation between two elements, as for `numpy.quantile`: 'linear' by default.
    keepdims : bool, optional
        Whether reduced axes are kept with length 1.
    weights : array_like, optional
        Weight of each element; supported for arrays in host memory only.

    Returns
    -------
    GPUArray
        The quantiles; a quantile is NaN if an element from which it is computed is NaN.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.quantile(PyGPU.to_gpu([1.0, 2.0, 4.0]), [0.5, 0.75]).tolist()
    [2.0, 3.0]
    """
    return _quantiles("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@public("Order", host=("q",))
def percentile(
    a: _core.GPUArray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> _core.GPUArray:
    """Return percentiles of the elements along axes: quantiles given as numbers from 0 to 100.

    Parameters
    ----------
    a : GPUArray
    q : array_like of numbers from 0 to 100
        Percentages of the percentiles, e.g. 50 for the median. The first axes of the result are the axes of `q`.
    axis, out, overwrite_input, method, keepdims, weights
        As for `quantile`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.percentile(PyGPU.to_gpu([1.0, 2.0, 4.0]), 75).item()
    3.0
    """
    return _quantiles("percentile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@public("Order", host=("q",))
@documented_like(percentile)
def nanquantile(
    a: _core.GPUArray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> _core.GPUArray:
    """Return quantiles of the non-NaN elements along axes.

    Parameters
    ----------
    q : array_like of numbers from 0 to 1
        Probabilities of the quantiles, e.g. 0.5 for the median. The first axes of the result are the axes of `q`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.nanquantile(PyGPU.to_gpu([1.0, float("nan"), 4.0]), 0.5).item()
    2.5
    """
    return _quantiles("nanquantile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@public("Order", host=("q",))
@documented_like(percentile)
def nanpercentile(
    a: _core.GPUArray,
    q: Any,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> _core.GPUArray:
    """Return percentiles of the non-NaN elements along axes: quantiles given as numbers from 0 to 100.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.nanpercentile(PyGPU.to_gpu([1.0, float("nan"), 4.0]), 50).item()
    2.5
    """
    return _quantiles("nanpercentile", a, q, axis, out, overwrite_input, method, keepdims, weights)


@public("Order")
def median(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _core.GPUArray:
    """Return the median of the elements along axes.

    Parameters
    ----------
    a : GPUArray
    axis : int or tuple of ints, optional
        Axes of the reduction; defaults to all.
    out : GPUArray, optional
        Output array.
    overwrite_input : bool, optional
        Accepted for compatibility with NumPy; it has no effect, because the array never changes.
    keepdims : bool, optional
        Whether reduced axes are kept with length 1.

    Returns
    -------
    GPUArray
        The medians. For an even number of elements, the median is the mean of the two middle elements. It is NaN if an
        element is NaN.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.median(PyGPU.to_gpu([[3, 1, 2], [7, 5, 9]]), axis=1).tolist()
    [2.0, 7.0]
    """
    a = array(a, "median")
    if out is not None:
        check_out(out, "median")
    numpy_result: _core.GPUArray = _core._by_numpy("median", a, (a, axis, out, overwrite_input, keepdims))
    if numpy_result is not NotImplemented:
        return numpy_result
    result, axes = _medians(a, axis)
    return _finish_result(a, result, (), axes, out, keepdims, "unsafe", is_broadcast=False)


def _medians(a: _core.GPUArray, axis: Any) -> tuple[_core.GPUArray, tuple[int, ...]]:
    """Return the medians along axes, and the reduced axes."""
    rows, axes = _rows(a, axis)
    count = rows.shape[-1]
    result = rows[..., max((count - 1) // 2, 0) : count // 2 + 1].mean(axis=-1)
    return (_with_nan(result, rows) if count > 0 else result), axes


@public("Order")
def nanmedian(
    a: _core.GPUArray,
    axis: int | tuple[int, ...] | None = None,
    out: _core.GPUArray | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _core.GPUArray:
    """Return the median of the non-NaN elements along axes.

    Parameters
    ----------
    a : GPUArray
    axis, out, overwrite_input, keepdims
        As for `median`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.nanmedian(PyGPU.to_gpu([1.0, float("nan"), 4.0])).item()
    2.5
    """
    a = array(a, "nanmedian")
    if out is not None:
        check_out(out, "nanmedian")
    keywords = {"axis": axis, "out": out, "overwrite_input": overwrite_input, "keepdims": keepdims}
    numpy_result: _core.GPUArray = _core._by_numpy("nanmedian", a, (a,), keywords)
    if numpy_result is not NotImplemented:
        return numpy_result
    if a.dtype.kind not in "fc" or a.size == 0:
        result, axes = _medians(a, axis)
        return _finish_result(a, result, (), axes, out, keepdims, "unsafe")
    rows, axes = _rows(a, axis)
    counts = _core.expand_dims(_core.count_nonzero(_core.equal(rows, rows), axis=-1), -1)
    middle = _core.empty((*counts.shape[:-1], 2), np.int64, device=a.device)
    middle[..., :1] = _core.maximum(counts - 1, 0) // 2
    middle[..., 1:] = _core.minimum(counts // 2, _core.maximum(counts - 1, 0))
    result = take_along_axis(rows, middle, -1).mean(axis=-1)
    return _finish_result(a, result, (), axes, out, keepdims, "unsafe")
