"""Functions for histograms of one variable, with counts or bitwise reproducible sums of weights for each bin."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.histograms.bin_estimators import bin_count
from PyGPU._functions.selection_operands import device_array_of, flat, on_device_of
from PyGPU._names.public import public


def _sums(bin_indices: _core.GPUArray, weights: _core.GPUArray, bins: int) -> _core.GPUArray:
    """Sum the weights of each bin, given the bin index of each weight."""
    starts = _core.zeros(bins + 1, np.int64, device=bin_indices.device)
    starts[1:] = _core._counted(bin_indices, bins).cumsum()
    # The bin indices are converted to the smallest possible dtype, because the radix sort needs a pass for each byte.
    order = _core.argsort(bin_indices.astype(np.min_scalar_type(max(bins - 1, 0))))
    partial_sums = _core._sums_of_runs(flat(weights.astype(np.float64)), order, starts)
    return partial_sums.reshape(bins) if partial_sums.shape[1] == 1 else partial_sums.sum(axis=1)


def _check_bins(greatest: int) -> None:
    if greatest >= np.iinfo(np.int64).max:
        raise ValueError(f"bincount: the integer {greatest} needs more bins than an array can have")


def _bin_count(x: _core.GPUArray, minimum: int) -> int:
    """Return the number of bins of `bincount`: the maximum, which the host waits for, plus 1, or at least `minimum`."""
    bits = 8 * x.dtype.itemsize
    # Negative numbers, read as unsigned integers, are greater than all other numbers. If `x` contains a negative
    # number, the unsigned maximum is therefore a negative number.
    maximum = int(x.view(f"uint{bits}").max().item())
    if (x.dtype.kind == "i" or bits == 64) and maximum >> (bits - 1):
        raise ValueError("'list' argument must have no negative elements")
    _check_bins(maximum)
    return max(maximum + 1, minimum)


def _check_greatest(x: Any) -> None:
    """Raise an error if the number of bins overflows on the CPU, where NumPy 2.4 would write out of bounds."""
    if isinstance(x, _core.GPUArray) and x.device.kind == "cpu" and x.dtype == np.int64 and x.size:
        _check_bins(int(x.max().item()))


@public("Order")
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> _core.GPUArray:
    """Count the occurrences of each integer.

    The host waits for the largest integer, which determines the number of bins.

    Parameters
    ----------
    x : GPUArray
        One-dimensional array of non-negative integers.
    weights : array_like, optional
        Weight of each element. If given, the sum of the weights is returned for each integer instead of the count.
    minlength : int, optional
        Minimum number of bins.

    Returns
    -------
    GPUArray
        Counts as int64; with weights, sums as float64, which are bitwise reproducible.

    Raises
    ------
    ValueError
        If `x` contains a negative number.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.bincount(PyGPU.to_gpu([0, 2, 2])).tolist()
    [1, 0, 2]
    >>> PyGPU.bincount(PyGPU.to_gpu([0, 2, 2]), [0.5, 1.0, 2.0]).tolist()
    [0.5, 0.0, 3.0]
    """
    device_array = device_array_of("bincount", x, weights)
    _check_greatest(x)
    numpy_result: _core.GPUArray = _core._by_numpy("bincount", device_array, (x, weights, minlength))
    if numpy_result is not NotImplemented:
        return numpy_result
    values = on_device_of(device_array, x)
    if values.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if values.ndim else "object of too small depth for desired array"
        )
    if values.dtype.kind not in "biu":
        _check_safe(values.dtype, np.dtype(np.int64))
    if minlength is None:
        raise TypeError("'NoneType' object cannot be interpreted as an integer")
    min_length = operator.index(minlength)
    if min_length < 0:
        raise ValueError("'minlength' must not be negative")
    if values.size == 0:
        return _core.zeros(min_length, np.int64, device=device_array.device)
    values = flat(values.astype(np.uint8) if values.dtype.kind == "b" else values)
    if weights is None:
        return _core._counted(values, _bin_count(values, min_length))
    weight_array = on_device_of(device_array, weights)
    _check_safe(weight_array.dtype, np.dtype(np.float64))
    if weight_array.shape != values.shape:
        raise ValueError("The weights and list don't have the same length.")
    return _sums(values, weight_array, _bin_count(values, min_length))


def _check_safe(dtype: np.dtype[Any], target: np.dtype[Any]) -> None:
    if not np.can_cast(dtype, target, "safe"):
        raise TypeError(f"Cannot cast array data from {dtype!r} to {target!r} according to the rule 'safe'")


def _values_and_weights(a: Any, weights: Any) -> tuple[_core.GPUArray, _core.GPUArray | None]:
    device_array = a if isinstance(a, _core.GPUArray) else weights
    if not isinstance(device_array, _core.GPUArray):
        raise TypeError("histogram(): the values are not on a device; expected a GPUArray; write PyGPU.to_gpu(x)")
    values = on_device_of(device_array, a)
    if values.dtype.kind == "b":
        warnings.warn(
            f"Converting input from {values.dtype} to {np.uint8} for compatibility.", RuntimeWarning, stacklevel=3
        )
        values = values.astype(np.uint8)
    if weights is None:
        return flat(values), None
    weight_array = on_device_of(device_array, weights)
    if weight_array.shape != values.shape:
        raise ValueError("weights should have the same shape as a.")
    return flat(values), flat(weight_array)


def _edges(a: _core.GPUArray, bins: Any, limits: Any, weights: Any = None) -> Any:
    """Compute the bin edges as NumPy does, from the values' dtype, minimum and maximum."""
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    if isinstance(bins, _core.GPUArray) and bins.ndim == 1:
        if bins.size > 1 and bool((bins[:-1] > bins[1:]).any()):
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    extremes = np.empty(0, a.dtype)
    if np.ndim(bins) == 0 and limits is None and a.size:
        extremes = np.array([a.min().item(), a.max().item()], a.dtype)
    if isinstance(bins, str):
        outer = np.histogram_bin_edges(extremes, 1, limits)
        bins = bin_count(a, bins, outer, limits is not None, histogram)
    return np.histogram_bin_edges(extremes, bins.get() if isinstance(bins, _core.GPUArray) else bins, limits)


@public("Order", host=("bins",))
def histogram_bin_edges(
    a: _core.GPUArray, bins: Any = 10, range: tuple[float, float] | None = None, weights: Any = None
) -> _core.GPUArray:
    """Return the bin edges that `histogram` uses.

    Parameters
    ----------
    a : GPUArray
    bins : int, str or array_like, optional
        Number of bins, name of a rule that estimates this number ('auto', 'fd', 'sturges' and others), or the bin
        edges.
    range : tuple of two numbers, optional
        Lower and upper limit of the bins; without `range` the host waits for the minimum and maximum of `a`.
    weights : array_like, optional
        Accepted for compatibility with NumPy; must be None if `bins` names a rule.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.histogram_bin_edges(PyGPU.to_gpu([0.0, 4.0]), 2).tolist()
    [0.0, 2.0, 4.0]
    """
    numpy_result: _core.GPUArray = _core._by_numpy("histogram_bin_edges", a, (a, bins, range, weights))
    if numpy_result is not NotImplemented:
        return numpy_result
    values = _values_and_weights(a, weights)[0]
    return on_device_of(values, _edges(values, bins, range, weights))


@public("Order", host=("bins",))
def histogram(
    a: Any,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Count the values in each bin.

    A bin includes its left edge, and the last bin also its right edge. If `range` or host edges are given, the call
    does not synchronize.

    Parameters
    ----------
    a : GPUArray
    bins : int, str or array_like, optional
        Number of bins, name of a rule that estimates this number ('auto', 'fd', 'sturges' and others), or the bin
        edges.
    range : tuple of two numbers, optional
        Lower and upper limit of the bins; without `range` the host waits for the minimum and maximum of `a`.
    density : bool, optional
        Whether to normalize the counts so that the integral over the range is 1.
    weights : array_like, optional
        Weight of each element. If given, the sum of the weights is returned for each bin instead of the count; the sums
        are bitwise reproducible.

    Returns
    -------
    tuple of two GPUArrays
        Two arrays: the counts as int64, or the sums in the dtype of the weights; and the bin edges.

    Examples
    --------
    >>> import PyGPU
    >>> counts, edges = PyGPU.histogram(PyGPU.to_gpu([0.0, 1.0, 3.0, 4.0, 4.0]), 2)
    >>> counts.tolist(), edges.tolist()
    ([2, 3], [0.0, 2.0, 4.0])
    """
    device_array = a if isinstance(a, _core.GPUArray) else weights
    if isinstance(device_array, _core.GPUArray):
        numpy_result: Any = _core._by_numpy("histogram", device_array, (a, bins, range, density, weights))
        if numpy_result is not NotImplemented:
            return numpy_result[0], numpy_result[1]
    values, weight_array = _values_and_weights(a, weights)
    edges = on_device_of(values, _edges(values, bins, range, weights))
    dtype = np.result_type(values.dtype, edges.dtype)
    typed_edges, typed_values = edges.astype(dtype), values.astype(dtype)
    if weight_array is None:
        counts = _core._counted(typed_values, 0, typed_edges)
    elif weight_array.dtype.kind == "c":
        counts = _core.empty(max(edges.size - 1, 0), weight_array.dtype, device=values.device)
        counts.real, counts.imag = (
            _weighted_counts(typed_values, typed_edges, weight_array.real),
            _weighted_counts(typed_values, typed_edges, weight_array.imag),
        )
    else:
        counts = _weighted_counts(typed_values, typed_edges, weight_array).astype(weight_array.dtype)
    if density:
        widths = (edges[1:] - edges[:-1]).astype(np.float64)
        return counts / widths / counts.sum(), edges
    return counts, edges


def _weighted_counts(values: _core.GPUArray, edges: _core.GPUArray, weights: _core.GPUArray) -> _core.GPUArray:
    bins = edges.size - 1
    if bins < 1:
        return _core.zeros(0, np.float64, device=values.device)
    # Bins have the numbers 1, 2, ...; values before the first and after the last edge get additional bins.
    bin_indices = _core._searchsorted(edges, values, True)
    bin_indices = _core.where(_core.equal(values, edges[-1:]), bins, bin_indices)
    return _sums(bin_indices, weights, bins + 2)[1:-1]
