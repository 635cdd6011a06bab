"""Functions that create evenly spaced numbers between numbers or arrays, on a linear or logarithmic scale."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays
from PyGPU._functions.selection_operands import device_array_of, on_device_of
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike


def _with_device_array(ends: tuple[Any, ...]) -> bool:
    return any(isinstance(end, _core.GPUArray) for end in ends)


def _converted(ends: tuple[Any, ...], function: str) -> list[_core.GPUArray]:
    """Copy the numbers and host arrays in `ends` to the device of the device arrays in `ends`."""
    like = device_array_of(function, *ends)
    return arrays([end if isinstance(end, _core.GPUArray) else on_device_of(like, end) for end in ends], function)


def _inexact_type(*ends: Any) -> np.dtype[Any]:
    """Return the floating-point or complex dtype that NumPy chooses for numbers between two ends.

    If an end is an array, ends that are Python numbers do not affect the dtype.
    """
    types = [end if isinstance(end, (bool, int, float, complex)) else getattr(end, "dtype", None) for end in ends]
    known = [np.asarray(end).dtype if kind is None else kind for end, kind in zip(ends, types, strict=True)]
    return np.result_type(*known, 0.0)


def between_arrays(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    device: DeviceLike = None,
) -> Any:
    """Return numbers that are evenly spaced between arrays; `PyGPU.linspace` calls this function for array ends.

    Parameters
    ----------
    start, stop : array_like
        The first and the last numbers. At least one of them is a device array.
    num : int, optional
        Number of elements along `axis`.
    endpoint : bool, optional
        Whether `stop` is included.
    retstep : bool, optional
        Whether to return the step, too.
    dtype : dtype-like, optional
        Type of the numbers. Values of integer types are rounded down.
    axis : int, optional
        Axis of the result along which the numbers vary.
    device : Device, str or int, optional
        Device to which the ends are copied.

    Returns
    -------
    GPUArray, or GPUArray and step
        The elements equal NumPy's values bit for bit. The step is NaN if the result has fewer than two numbers.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU._functions.creation.spaced_numbers import between_arrays
    >>> between_arrays(PyGPU.to_gpu([0.0, 1.0]), 2, 3).tolist()
    [[0.0, 1.0], [1.0, 1.5], [2.0, 2.0]]
    """
    count = _checked_count(num)
    if device is not None:
        start, stop = (_core.asarray(end, device=device) for end in (start, stop))
    computed_type = _inexact_type(start, stop)
    first, last = (end.astype(computed_type) for end in _converted((start, stop), "linspace"))
    result, step = _spaced(first, last, count, endpoint)
    result = _core.moveaxis(result, 0, axis)
    if dtype is not None:
        result = (_core.floor(result) if np.issubdtype(dtype, np.integer) else result).astype(dtype)
    return (result, step) if retstep else result


def _checked_count(num: Any) -> int:
    count = operator.index(num)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    return count


def _spaced(first: _core.GPUArray, last: _core.GPUArray, count: int, endpoint: bool) -> tuple[_core.GPUArray, Any]:
    """Return evenly spaced numbers along a new first axis, and the step; both ends have one float or complex dtype."""
    intervals = count - 1 if endpoint else count
    distance = last - first
    index_type = np.dtype(first.dtype.type(0).real.dtype) if first.dtype.kind == "c" else first.dtype
    indices = _core.arange(count, dtype=index_type, device=first.device).astype(first.dtype)
    multiples = indices.reshape((-1,) + (1,) * distance.ndim)
    step: Any = np.nan
    if intervals > 0:
        step = distance / intervals
        # As in NumPy, another formula computes the numbers if a step underflows to 0.
        # The device tests for underflow and selects the formula, so that the host need not wait.
        underflows = (step == 0).any()
        result = _core.where(underflows, multiples / intervals * distance, multiples * step)
    else:
        result = multiples * distance
    result = result + first
    if endpoint and count > 1:
        result[-1] = last
    return result, step


@public("Making arrays", host=("start", "stop", "base"))
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Return numbers that are evenly spaced on a logarithmic scale.

    The numbers are computed on the host if `start`, `stop` and `base` are host values, and otherwise on the device.

    Parameters
    ----------
    start, stop : array_like
        Logarithms of the first and the last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        Whether `stop` is the last number. If False, the sequence ends one step before `stop`.
    base : array_like, optional
        Base of the logarithms.
    dtype : dtype-like, optional
        Type of the numbers.
    axis : int, optional
        Axis of the result along which the numbers vary, if `start` or `stop` is an array.
    device : int, str or Device, optional
        Device of the array, if all ends are host values; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.logspace(0, 2, 3).tolist()
    [1.0, 10.0, 100.0]
    """
    if not _with_device_array((start, stop, base)):
        return _core.asarray(np.logspace(start, stop, num, endpoint, base, dtype, axis), device=device)
    count = _checked_count(num)
    # As in NumPy, ends that are Python numbers affect the dtype only if `base` is an array with axes.
    first, last, factors = _converted((start, stop, base), "logspace")
    computed_type = _inexact_type(*((first, last) if factors.ndim else (start, stop)))
    first, last = first.astype(computed_type), last.astype(computed_type)
    if factors.ndim:
        # `axis` counts the axes of the shape to which the ends and the bases are broadcast.
        dimensions = len(np.broadcast_shapes(first.shape, last.shape, factors.shape))
        first, last, factors = (
            end.reshape((1,) * (dimensions - end.ndim) + end.shape) for end in (first, last, factors)
        )
        base_factor: Any = _core.expand_dims(factors, axis)
    else:
        base_factor = base if isinstance(base, (int, float, complex)) else factors
    exponents = _core.moveaxis(_spaced(first, last, count, endpoint)[0], 0, axis)
    powers = _core.power(base_factor, exponents)
    return powers if dtype is None else powers.astype(dtype)


@public("Making arrays", host=("start", "stop"))
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Return a geometric sequence.

    The sequence is computed on the host if `start` and `stop` are host values, and otherwise on the device.

    Parameters
    ----------
    start, stop : array_like
        The first and the last number.
    num : int, optional
        Number of elements.
    endpoint : bool, optional
        Whether `stop` is the last number. If False, the sequence ends one step before `stop`.
    dtype : dtype-like, optional
        Type of the numbers.
    axis : int, optional
        Axis of the result along which the numbers vary, if `start` or `stop` is an array.
    device : int, str or Device, optional
        Device of the array, if all ends are host values; defaults to the thread's current device.

    Returns
    -------
    GPUArray
        If a device array contains 0, the sequence is NaN, because the host does not wait for the values to raise an
        error.

    Raises
    ------
    ValueError
        If an end in host memory contains 0.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.geomspace(1, 8, 4).tolist()
    [1.0, 2.0, 4.0, 8.0]
    """
    if not _with_device_array((start, stop)):
        return _core.asarray(np.geomspace(start, stop, num, endpoint, dtype, axis), device=device)
    if any(np.any(np.asarray(end) == 0) for end in (start, stop) if not isinstance(end, _core.GPUArray)):
        raise ValueError("Geometric sequence cannot include zero")
    count = _checked_count(num)
    first, last = _converted((start, stop), "geomspace")
    requested_type = np.dtype(np.float64 if dtype is None else dtype)
    computed_type = np.result_type(first.dtype, last.dtype, float(count), requested_type)
    result = _geometric(first.astype(computed_type), last.astype(computed_type), count, endpoint)
    result = _core.moveaxis(result, 0, axis)
    return result if dtype is None else result.astype(dtype)


def _geometric(first: _core.GPUArray, last: _core.GPUArray, count: int, endpoint: bool) -> _core.GPUArray:
    """Return a geometric sequence along a new first axis; both ends have one float or complex dtype."""
    # As in NumPy, the sequence is computed for a positive real start and multiplied by the sign of the start.
    sign = _core.sign(first)
    first, last = first / sign, last / sign
    exponents, _ = _spaced(_core.log10(first), _core.log10(last), count, endpoint)
    result = _core.power(10.0, exponents)
    if count > 0:
        result[0] = first
        if count > 1 and endpoint:
            result[-1] = last
    return result * sign
