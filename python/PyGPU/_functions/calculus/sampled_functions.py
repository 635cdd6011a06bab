"""Compute gradients, integrals and interpolated values of sampled functions."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex, overload

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import along, array, normalize_axes, normalize_axis
from PyGPU._functions.calculus.differences import diff
from PyGPU._functions.joining import concatenate
from PyGPU._functions.searching import searchsorted
from PyGPU._functions.selection_operands import on_device_of
from PyGPU._names.public import public


def _steps(distances: Any, f: _core.GPUArray, axis: int) -> Any:
    """Return the spacing of samples along an axis, as a number or as an array that broadcasts to the samples."""
    if np.ndim(distances) == 0:
        return distances
    if np.ndim(distances) != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(distances) != f.shape[axis]:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if (distances if isinstance(distances, _core.GPUArray) else np.asarray(distances)).dtype == bool:
        return _bool_step(distances)
    if not isinstance(distances, _core.GPUArray):
        spacings = np.diff(np.asarray(distances) + 0.0)
        if (spacings == spacings[0]).all():
            return spacings[0]
        distances = _core.asarray(distances, device=f.device)
    coordinates = distances.astype(np.float64) if distances.dtype.kind in "biu" else distances
    return diff(coordinates).reshape((-1,) + (1,) * (f.ndim - axis - 1))


def _bool_step(distances: Any) -> np.float64:
    """Return the spacing of samples whose coordinates are bools; raise NumPy's error for unequal spacing.

    The difference of two bools is their exclusive or, as in NumPy.
    """
    spacings = np.diff(distances.get() if isinstance(distances, _core.GPUArray) else np.asarray(distances))
    if not (spacings == spacings[0]).all():
        raise TypeError(f"gradient: the coordinates of shape {np.shape(distances)} are bool, and unevenly spaced")
    return np.float64(spacings[0])


def _slopes(f: _core.GPUArray, h: Any, axis: int, edge_order: int, out: _core.GPUArray) -> None:
    """Compute the derivative of samples along one axis, and write it into `out`."""

    def part(a: Any, section: slice) -> Any:
        return a[along(axis, section)]

    first, last, inner = slice(0, 1), slice(-1, None), slice(1, -1)
    is_even = np.ndim(h) == 0
    if is_even:
        out[along(axis, inner)] = (part(f, slice(2, None)) - part(f, slice(None, -2))) / (2.0 * h)
    else:
        before, after = h[:-1], h[1:]
        total = before + after
        out[along(axis, inner)] = (
            part(f, slice(None, -2)) * (-after / (before * total))
            + part(f, inner) * ((after - before) / (before * after))
            + part(f, slice(2, None)) * (before / (after * total))
        )
    start, end = (h, h) if is_even else (h[:1], h[-1:])
    if edge_order == 1:
        out[along(axis, first)] = (part(f, slice(1, 2)) - part(f, first)) / start
        out[along(axis, last)] = (part(f, last) - part(f, slice(-2, -1))) / end
        return
    second, before_last = (h, h) if is_even else (h[1:2], h[-2:-1])
    out[along(axis, first)] = _edge([part(f, slice(n, n + 1)) for n in (0, 1, 2)], start, second)
    last_elements = [part(f, slice(n - 1, n or None)) for n in (0, -1, -2)]
    out[along(axis, last)] = -_edge(last_elements, end, before_last)


def _edge(f: list[Any], near: Any, far: Any) -> Any:
    """Return the slope at the first or last sample: the slope of the parabola through the three outermost samples."""
    total = near + far
    return f[0] * (-(total + near) / (near * total)) + f[1] * (total / (near * far)) - f[2] * (near / (far * total))


@overload
def gradient(f: Any, *varargs: Any, axis: SupportsIndex, edge_order: int = 1) -> _core.GPUArray: ...
@overload
def gradient(
    f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1
) -> _core.GPUArray | tuple[_core.GPUArray, ...]: ...
@public("Slopes, areas, filters, polynomials")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return the gradient of sampled values by central differences.

    Parameters
    ----------
    f : GPUArray
        The values of a function.
    *varargs : number or array_like
        One spacing for all axes; or for each axis, its spacing or the coordinates of its samples.
    axis : int or tuple of ints, optional
        Axes of the operation; defaults to all.
    edge_order : {1, 2}, optional
        Degree of the polynomial that determines the slope at the edges: 1 for a line, 2 for a parabola.

    Returns
    -------
    GPUArray, or a tuple of one for each axis

    Raises
    ------
    TypeError
        If `f` is of type bool, or if coordinates of type bool are unevenly spaced. The host waits for coordinates of
        type bool.
    ValueError
        If an axis has too few elements: fewer than ``edge_order + 1``.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.gradient(PyGPU.to_gpu([1.0, 2.0, 4.0, 7.0])).tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    samples = array(f, "gradient")
    if samples.dtype == bool:
        raise TypeError(f"gradient: the values of shape {samples.shape} are bool, whose subtraction is not supported")
    axes = tuple(range(samples.ndim)) if axis is None else normalize_axes(axis, samples.ndim)
    if len(varargs) not in (0, 1, len(axes)) or (len(varargs) == 1 != len(axes) and np.ndim(varargs[0])):
        raise TypeError("invalid number of arguments")
    steps = (1.0,) * len(axes) if not varargs else varargs * (len(axes) if len(varargs) == 1 else 1)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    values = samples if samples.dtype.kind in "fc" else samples.astype(np.float64)
    gradients = []
    for axis_index, step in zip(axes, steps, strict=True):
        if values.shape[axis_index] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
                "required."
            )
        out = _core.empty_like(values)
        _slopes(values, _steps(step, values, axis_index), axis_index, edge_order, out)
        gradients.append(out)
    return gradients[0] if len(gradients) == 1 else tuple(gradients)


@public("Slopes, areas, filters, polynomials")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> _core.GPUArray:
    """Integrate samples by the trapezoidal rule.

    Parameters
    ----------
    y : GPUArray
        The samples.
    x : array_like, optional
        Coordinates of the samples.
    dx : number, optional
        Spacing of the samples, used if `x` is not given.
    axis : int, optional
        Axis of the operation.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.trapezoid(PyGPU.to_gpu([1, 2, 3])).item()
    4.0
    """
    values = array(y, "trapezoid")
    axis_index = normalize_axis(axis, values.ndim)
    width = dx
    if x is not None:
        coordinates = on_device_of(values, x)
        if coordinates.ndim == 1:
            width = diff(coordinates).reshape((-1,) + (1,) * (values.ndim - axis_index - 1))
        else:
            width = diff(coordinates, axis=axis_index)
    pair_sums = values[along(axis_index, slice(1, None))] + values[along(axis_index, slice(None, -1))]
    integral: _core.GPUArray = (width * pair_sums / 2.0).sum(axis_index)
    return integral


def _sorted_period(
    x: _core.GPUArray, xp: _core.GPUArray, fp: _core.GPUArray, period: float
) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray]:
    """Map coordinates into one period, sort the samples, and add one sample of the adjacent period at each end."""
    coordinates = xp % period
    order = _core.argsort(coordinates)
    coordinates, values = coordinates[order], fp[order]
    coordinates = concatenate([coordinates[-1:] - period, coordinates, coordinates[:1] + period])
    return x % period, coordinates, concatenate([values[-1:], values, values[:1]])


@public("Slopes, areas, filters, polynomials")
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> _core.GPUArray:
    """Interpolate linearly between samples.

    Parameters
    ----------
    x : array_like
        Coordinates at which the values are computed.
    xp : array_like
        Coordinates of the samples. They must increase unless a period is given.
    fp : array_like
        Real or complex samples. At least one of `x`, `xp` and `fp` is a GPUArray.
    left, right : number, optional
        Values for coordinates before the first and after the last sample; default to the first and the last sample.
    period : float, optional
        Period of the coordinates.

    Returns
    -------
    GPUArray
        Array of float64 or complex128.

    Raises
    ------
    ValueError
        If the numbers of samples and coordinates differ, or are 0.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.interp(PyGPU.to_gpu([0.5, 1.5, 9.0]), [0, 1, 2], [0.0, 10.0, 30.0]).tolist()
    [5.0, 20.0, 30.0]
    """
    device_array = next((points for points in (x, xp, fp) if isinstance(points, _core.GPUArray)), None)
    if device_array is None:
        raise TypeError("interp(): no operand is on a device; expected a GPUArray; write PyGPU.to_gpu(x)")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
    numpy_result: _core.GPUArray = _core._by_numpy("interp", device_array, (x, xp, fp, left, right, period))
    if numpy_result is not NotImplemented:
        return numpy_result
    for points in (x, xp):
        dtype = points.dtype if isinstance(points, _core.GPUArray) else np.asarray(points).dtype
        if period is None and dtype.kind == "c":
            raise TypeError(f"Cannot cast array data from {dtype!r} to dtype('float64') according to the rule 'safe'")
    query_points, sample_points = (on_device_of(device_array, points, np.dtype(np.float64)) for points in (x, xp))
    values = on_device_of(device_array, fp)
    values = on_device_of(device_array, values, np.dtype(np.complex128 if values.dtype.kind == "c" else np.float64))
    if sample_points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences" if period else "object too deep for desired array")
    if sample_points.size != values.size:
        raise ValueError("fp and xp are not of the same length.")
    if sample_points.size == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        query_points, sample_points, values = _sorted_period(query_points, sample_points, values, period)
    return _between(
        query_points, sample_points, values, values[0] if left is None else left, values[-1] if right is None else right
    )


def _between(x: _core.GPUArray, xp: _core.GPUArray, fp: _core.GPUArray, left: Any, right: Any) -> _core.GPUArray:
    """Interpolate between adjacent samples; at the coordinate of a sample, return the sample itself."""
    last = xp.size - 1
    if last == 0:
        # As in NumPy, the value of a single sample is also the result at NaN.
        return _core.where(x < xp[0], left, _core.where(x > xp[0], right, fp[0]))
    left_index = _core.clip(searchsorted(xp, x, "right") - 1, 0, last)
    right_index = _core.minimum(left_index + 1, last)
    start, value = xp[left_index], fp[left_index]
    width = _core.where(left_index == right_index, 1.0, xp[right_index] - start)
    result = _core.where(x == start, value, (fp[right_index] - value) / width * (x - start) + value)
    result = _core.where(x < xp[0], left, _core.where(x > xp[last], right, result))
    return _core.where(_core.isnan(x), x, result)


@public("Slopes, areas, filters, polynomials")
def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi) -> _core.GPUArray:
    """Unwrap angles: add multiples of the period, so that adjacent angles differ by at most half a period.

    Parameters
    ----------
    p : GPUArray
        The angles.
    discont : float, optional
        Minimum difference of adjacent angles that is changed; defaults to half a period, and smaller values have no
        effect.
    axis : int, optional
        Axis of the operation.
    period : number, optional
        Period of the angles.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.unwrap(PyGPU.to_gpu([0, 1, 5, 0]), period=6).tolist()
    [0, 1, -1, 0]
    """
    angles = array(p, "unwrap")
    axis_index = normalize_axis(axis, angles.ndim)
    jumps = diff(angles, axis=axis_index)
    dtype = np.result_type(jumps.dtype, period)
    if dtype.kind in "iu":
        high: Any = period // 2
        is_ambiguous = period % 2 == 0
    else:
        high, is_ambiguous = period / 2, True
    wrapped_jumps = _core.remainder(jumps + high, period) - high
    if is_ambiguous:
        wrapped_jumps = _core.where((wrapped_jumps == -high) & (jumps > 0), high, wrapped_jumps)
    least = period / 2 if discont is None else discont
    corrections = _core.where(_core.absolute(jumps) < least, 0, wrapped_jumps - jumps).cumsum(axis_index)
    result = angles.astype(dtype, copy=True)
    after_first = along(axis_index, slice(1, None))
    result[after_first] = angles[after_first] + corrections
    return result
