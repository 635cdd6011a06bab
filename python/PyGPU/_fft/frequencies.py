"""Functions that return the frequencies of a spectrum and that shift frequency 0 to its middle."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions import array_arguments, manipulation

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _frequencies(n: Any, d: float, start: int, stop: int, shift: int, dtype: Any, device: Any) -> _core.GPUArray:
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind.kind != "f":
        raise ValueError(f"frequencies are real numbers; dtype is {kind}")
    steps = _core.arange(start, stop, dtype=np.float64, device=device)
    if shift:
        steps = manipulation.roll(steps, shift)
    result: _core.GPUArray = steps * (1.0 / (n * d))
    return result if result.dtype == kind else result.astype(kind)


def _points(n: Any) -> int:
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    return operator.index(n)


def fftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> _core.GPUArray:
    """Return the sample frequencies of `fft`, in cycles per unit of the spacing.

    Parameters
    ----------
    n : int
        Number of points.
    d : float, optional
        Spacing of the samples.
    device : Device, str or int, optional
        Device of the array.
    dtype : data-type, optional
        Real floating-point type; defaults to float64.

    Returns
    -------
    GPUArray
        The frequencies from 0 upwards, followed by the negative frequencies in ascending order.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    count = _points(n)
    if count < 0:
        raise ValueError(f"negative dimensions are not allowed: n={count}")
    return _frequencies(count, d, -(count // 2), (count - 1) // 2 + 1, -(count // 2), dtype, device)


def rfftfreq(n: int, d: float = 1.0, device: Any = None, *, dtype: Any = None) -> _core.GPUArray:
    """Return the sample frequencies of `rfft`, in cycles per unit of the spacing.

    Parameters
    ----------
    n : int
        Number of points.
    d : float, optional
        Spacing of the samples.
    device : Device, str or int, optional
        Device of the array.
    dtype : data-type, optional
        Real floating-point type; defaults to float64.

    Returns
    -------
    GPUArray
        The frequencies from 0 upwards.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.rfftfreq(4).tolist()
    [0.0, 0.25, 0.5]
    """
    count = _points(n)
    return _frequencies(count, d, 0, count // 2 + 1, 0, dtype, device)


def _rolled(x: Any, axes: int | Sequence[int] | None, sign: int, name: str) -> _core.GPUArray:
    source = array_arguments.array(x, name)
    if axes is None:
        axes = tuple(range(source.ndim))
    elif isinstance(axes, (int, np.integer)):
        axes = (int(axes),)
    axis_tuple = tuple(axes)
    return manipulation.roll(source, tuple(sign * (source.shape[axis] // 2) for axis in axis_tuple), axis_tuple)


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> _core.GPUArray:
    """Shift a spectrum so that frequency 0 is in the middle.

    Parameters
    ----------
    x : GPUArray
        A spectrum, or its frequencies.
    axes : int or sequence of int, optional
        Axes to shift; defaults to all axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.fftshift(PyGPU.fft.fftfreq(4)).tolist()
    [-0.5, -0.25, 0.0, 0.25]
    """
    return _rolled(x, axes, 1, "fftshift")


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> _core.GPUArray:
    """Shift a spectrum so that frequency 0 moves from the middle to the beginning.

    Parameters
    ----------
    x : GPUArray
        Result of `fftshift`.
    axes : int or sequence of int, optional
        Axes to shift; defaults to all axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fft.ifftshift(PyGPU.to_gpu([-1, 0, 1])).tolist()
    [0, 1, -1]
    """
    return _rolled(x, axes, -1, "ifftshift")
