"""Functions of exponentials along axes: `logsumexp`, `softmax` and `log_softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.shapes import broadcast_arrays


def _as_real(a: Any) -> _core.GPUArray:
    """Convert an operand to an array of floating-point numbers; integers and bools become float64."""
    array = a if isinstance(a, _core.GPUArray) else _core.asarray(a)
    return array if np.dtype(array.dtype).kind not in "biu" else array.astype("float64")


def _finite_maximum(a: _core.GPUArray, axis: Any) -> _core.GPUArray:
    """Return the maxima of real parts along axes, which keep length 1; replace infinite and NaN maxima by 0."""
    greatest = (a.real if a.dtype.kind == "c" else a).max(axis=axis, keepdims=True, initial=-np.inf)
    return _core.where(_core.isfinite(greatest), greatest, greatest.dtype.type(0))


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    """Compute the logarithm of the sum of exponentials, without overflow.

    The result is ``log(sum(b * exp(a)))``.

    Parameters
    ----------
    a : array_like
        The exponents. The imaginary part of a complex result is above -pi and at most pi.
    axis : int or tuple of int, optional
        Axes of the sum; defaults to all axes.
    b : array_like, optional
        Factors of the exponentials, which broadcast with `a`; a negative sum gives NaN unless `return_sign` is set.
    keepdims : bool, optional
        Whether the axes of the sum remain, with length 1.
    return_sign : bool, optional
        Whether to return the sign of the sum, too; the first result is then the logarithm of the sum's absolute value.

    Returns
    -------
    GPUArray or tuple of GPUArray
        The logarithm, and with `return_sign` the sign: -1, 0 or 1, or a complex number on the unit circle.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.logsumexp(PyGPU.to_gpu([1000.0, 1000.0])).round(6).item()
    1000.693147
    """
    a = _as_real(a)
    if b is not None:
        factor = _as_real(b)
        kind = np.result_type(a.dtype, factor.dtype)
        a, factor = (one.astype(kind) for one in broadcast_arrays(a, factor))
        a = _core.where(_core.equal(factor, 0), a.dtype.type(-np.inf), a)
    greatest = _finite_maximum(a, axis)
    scaled = _core.exp(a - greatest)
    total = (scaled if b is None else scaled * factor).sum(axis=axis, keepdims=True)
    sign = _core.sign(total)
    with np.errstate(divide="ignore", invalid="ignore"):  # Like SciPy, emit no warning for an infinite or NaN result
        result = _core.log(_core.absolute(total) if return_sign else total) + greatest
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        result, sign = (one.squeeze(axes) for one in (result, sign))
    return (result, sign) if return_sign else result


def softmax(x: Any, axis: Any = None) -> Any:
    """Divide exponentials by their sum along axes.

    The result is ``exp(x) / sum(exp(x))``.

    Parameters
    ----------
    x : array_like
        The exponents, real numbers.
    axis : int or tuple of int, optional
        Axes of the sum; defaults to all axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.softmax(PyGPU.to_gpu([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    x = _as_real(x)
    scaled = _core.exp(x - x.max(axis=axis, keepdims=True))
    return scaled / scaled.sum(axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Compute the logarithm of `softmax`, without underflow.

    The result is ``x - logsumexp(x)``.

    Parameters
    ----------
    x : array_like
        The exponents, real numbers.
    axis : int or tuple of int, optional
        Axes of the sum; defaults to all axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.special.log_softmax(PyGPU.to_gpu([0.0, 0.0])).round(6).tolist()
    [-0.693147, -0.693147]
    """
    x = _as_real(x)
    shifted = x - _finite_maximum(x, axis)
    return shifted - _core.log(_core.exp(shifted).sum(axis=axis, keepdims=True))
