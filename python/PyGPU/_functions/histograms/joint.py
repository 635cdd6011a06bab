"""Functions for joint histograms of several variables, with counts or bitwise reproducible sums for each bin."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import invalid_array_error
from PyGPU._functions.histograms.counts import _check_safe, _sums
from PyGPU._functions.joining import stack
from PyGPU._functions.selection_operands import flat, on_device_of
from PyGPU._names.public import public


def _sample(sample: Any) -> _core.GPUArray:
    """Convert a sample to an array with a row for each point, as NumPy does."""
    variables: _core.GPUArray = sample
    if not isinstance(sample, _core.GPUArray):
        coordinates = list(sample) if isinstance(sample, Sequence) else []
        array = next((one for one in coordinates if isinstance(one, _core.GPUArray)), None)
        if array is None:
            raise invalid_array_error(sample, "histogramdd")
        variables = stack([on_device_of(array, one) for one in coordinates])
    elif sample.ndim == 2:
        return sample
    if variables.ndim > 2:
        raise ValueError(f"the sample of shape {variables.shape} has more than two axes: points and variables")
    return variables.reshape(1, -1).T if variables.ndim < 2 else variables.T


def _as_sequence(argument: Any, length: int, message: str) -> list[Any]:
    """Convert an argument to a list with one entry for each variable; a single value applies to all variables."""
    try:
        count = len(argument)
    except TypeError:
        return [argument] * length
    if count != length:
        raise ValueError(f"{message}: {count} for {length}")
    return [argument[variable] for variable in range(length)]


def _limits(extremes: tuple[Any, Any] | None, limits: Any) -> tuple[Any, Any]:
    """Return the first and last edge of a variable as NumPy does; `extremes` are the variable's minimum and maximum."""
    if limits is not None:
        first, last = limits
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    else:
        first, last = (0, 1) if extremes is None else extremes
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"{'autodetected' if limits is None else 'supplied'} range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _edges(sample: _core.GPUArray, bins: list[Any], ranges: list[Any]) -> list[_core.GPUArray]:
    """Compute the bin edges of each variable; minima and maxima are copied to the host at most once."""
    for variable, own_bins in enumerate(bins):
        if np.ndim(own_bins) > 1:
            raise ValueError(f"`bins[{variable}]` must be a scalar or 1d array, not of {np.ndim(own_bins)} axes")
        if np.ndim(own_bins) == 0 and own_bins < 1:
            raise ValueError(f"`bins[{variable}]` must be positive, when an integer, not {own_bins}")
    extremes: Any = None
    if sample.size and any(np.ndim(one) == 0 and limits is None for one, limits in zip(bins, ranges, strict=True)):
        extremes = stack([sample.min(0), sample.max(0)]).get().T
    edges = []
    for variable, (own_bins, limits) in enumerate(zip(bins, ranges, strict=True)):
        if np.ndim(own_bins) == 0:
            first, last = _limits(None if extremes is None else tuple(extremes[variable]), limits)
            edges.append(on_device_of(sample, np.linspace(first, last, _bin_count(own_bins, variable) + 1)))
        else:
            edges.append(on_device_of(sample, _monotonic(own_bins, variable)))
    return edges


def _bin_count(bins: Any, variable: int) -> int:
    try:
        return operator.index(bins)
    except TypeError:
        raise TypeError(f"`bins[{variable}]` must be an integer, when a scalar, not {bins!r}") from None


def _monotonic(edges: Any, variable: int) -> Any:
    edges = edges if isinstance(edges, _core.GPUArray) else np.asarray(edges)
    if edges.size == 0:
        raise IndexError(f"`bins[{variable}]` has no edges")
    if edges.size > 1 and bool((edges[:-1] > edges[1:]).any()):
        raise ValueError(f"`bins[{variable}]` must be monotonically increasing, when an array")
    return edges


def _bin_indices(values: _core.GPUArray, edges: _core.GPUArray) -> _core.GPUArray:
    """Return the bin number of each value, counted from 1; values before the first edge have the number 0."""
    dtype = np.result_type(values.dtype, edges.dtype)
    indices = _core._searchsorted(edges.astype(dtype), flat(values.astype(dtype)), True)
    return indices - _core.equal(values, edges[-1:])


def _density(counts: _core.GPUArray, edges: list[_core.GPUArray]) -> _core.GPUArray:
    """Divide counts by their sum and by the volumes of the bins."""
    total = counts.sum()
    for axis, of_variable in enumerate(edges):
        widths = of_variable[1:] - of_variable[:-1]
        counts = counts / widths.reshape([-1 if other == axis else 1 for other in range(len(edges))])
    return counts / total


@public("Order", host=("bins",))
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[_core.GPUArray, tuple[_core.GPUArray, ...]]:
    """Count the points in each bin of several variables.

    A bin includes its left edges, and the last bin of a variable also its right edge. The host waits for minimum and
    maximum of a variable if its number of bins is given without a range. The host also waits for the check of edges in
    device arrays.

    Parameters
    ----------
    sample : GPUArray or sequence of GPUArrays
        Points: an array with a row for each point, or an array for each variable.
    bins : int, or sequence of int or array_like, optional
        Number of bins for all variables; or for each variable, the number or the edges of its bins.
    range : sequence, optional
        For each variable, its lower and upper limit, or None for its minimum and maximum.
    density : bool, optional
        Whether to normalize the counts so that the integral over all bins is 1.
    weights : GPUArray, optional
        Weight of each point; the result contains sums of weights, which are bitwise reproducible.

    Returns
    -------
    tuple
        The counts or sums as float64, with an axis for each variable; and a tuple of the edges of each variable.

    Raises
    ------
    ValueError
        For a number of bins or limits that differs from the number of variables, fewer than one bin, edges that do not
        increase, or limits that are not finite.
    TypeError
        For a number of bins that is no integer, and for weights that cannot be cast safely to float64.

    Examples
    --------
    >>> import PyGPU
    >>> counts, edges = PyGPU.histogramdd(PyGPU.to_gpu([[0.0, 0.0], [1.0, 4.0], [1.0, 3.0]]), bins=2)
    >>> counts.tolist(), edges[1].tolist()
    ([[1.0, 0.0], [0.0, 2.0]], [0.0, 2.0, 4.0])
    """
    points = _sample(sample)
    variables = points.shape[1]
    of_bins = _as_sequence(bins, variables, "The dimension of bins must be equal to the dimension of the sample x")
    ranges = _as_sequence(range, variables, "range argument must have one entry per dimension")
    edges = _edges(points, of_bins, ranges)
    # Each variable has two additional bins, for values before the first edge and after the last edge.
    shape = [of_variable.size + 1 for of_variable in edges]
    if math.prod(shape) > np.iinfo(np.intp).max or not shape:
        raise ValueError(f"invalid dims: {shape} bins are none or more than an array can have")
    indices: Any = 0
    for variable, of_variable in enumerate(edges):
        indices = indices * shape[variable] + _bin_indices(points[:, variable], of_variable)
    counts = _totals(points, weights, indices, math.prod(shape))
    counts = counts.reshape(shape).astype(np.float64)[(slice(1, -1),) * variables]
    return (_density(counts, edges) if density else counts), tuple(edges)


def _totals(points: _core.GPUArray, weights: Any, indices: _core.GPUArray, bins: int) -> _core.GPUArray:
    """Return the number of points in each bin, or the sum of their weights."""
    if weights is None or not indices.size:  # NumPy ignores the weights if there are no points
        return _core._counted(indices, bins)
    weight_array = on_device_of(points, weights)
    _check_safe(weight_array.dtype, np.dtype(np.float64))
    if weight_array.shape != indices.shape:
        raise ValueError(
            f"The weights and list don't have the same length: {weight_array.shape} weights, {points.shape[0]} points"
        )
    return _sums(indices, weight_array, bins)


@public("Order", host=("bins",))
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray]:
    """Count the points in each bin of two variables.

    The host waits under the same conditions as for `histogramdd`.

    Parameters
    ----------
    x, y : GPUArray
        Coordinates of the points.
    bins : int, array_like, or sequence of two of these, optional
        Number of bins, or bin edges, for both variables or for each variable.
    range : sequence of two pairs, optional
        Lower and upper limit of each variable.
    density : bool, optional
        Whether to normalize the counts so that the integral over all bins is 1.
    weights : GPUArray, optional
        Weight of each point; the result contains sums of weights, which are bitwise reproducible.

    Returns
    -------
    tuple of three GPUArrays
        The counts or sums as float64, the variable `x` along the first axis; the edges of `x`; the edges of `y`.

    Raises
    ------
    ValueError
        If `x` and `y` differ in length, and in the cases of `histogramdd`.

    Examples
    --------
    >>> import PyGPU
    >>> counts, x_edges, y_edges = PyGPU.histogram2d(PyGPU.to_gpu([0.0, 1.0]), PyGPU.to_gpu([0.0, 4.0]), 2)
    >>> counts.tolist(), y_edges.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 2.0, 4.0])
    """
    if len(x) != len(y):
        raise ValueError(f"x and y must have the same length: {len(x)} and {len(y)}")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    counts, (x_edges, y_edges) = histogramdd([x, y], bins if count in {1, 2} else [bins, bins], range, density, weights)
    return counts, x_edges, y_edges
