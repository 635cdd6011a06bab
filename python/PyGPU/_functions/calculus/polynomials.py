"""NumPy's functions for polynomials, whose coefficients begin with the highest power."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays
from PyGPU._functions.calculus.filters import convolve
from PyGPU._functions.joining import concatenate
from PyGPU._names.public import public


def _coefficients(*polynomials: Any) -> list[_core.GPUArray]:
    """Convert the coefficients of polynomials to arrays on one device; lists are copied to the device of the arrays."""
    device_array = next((polynomial for polynomial in polynomials if isinstance(polynomial, _core.GPUArray)), None)
    device = None if device_array is None else device_array.device
    device_arrays = [
        polynomial if isinstance(polynomial, _core.GPUArray) else _core.asarray(polynomial, device=device)
        for polynomial in polynomials
    ]
    return [polynomial if polynomial.ndim else polynomial.reshape(1) for polynomial in device_arrays]


@public("Slopes, areas, filters, polynomials")
def polyval(p: Any, x: Any) -> _core.GPUArray:
    """Evaluate a polynomial.

    Parameters
    ----------
    p : array_like
        The coefficients, the highest power first.
    x : GPUArray or number
        Values at which the polynomial is evaluated.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polyval([3, 0, 1], PyGPU.to_gpu([1, 2])).tolist()
    [4, 13]
    """
    coefficients = p if isinstance(p, _core.GPUArray) else np.asarray(p)
    points = array(x, "polyval") if np.ndim(x) == 0 or isinstance(x, _core.GPUArray) else _core.asarray(x)
    value: Any = _core.zeros_like(points)
    for power_index in range(len(coefficients)):
        value = value * points + coefficients[power_index]
    return value  # type: ignore[no-any-return]


def _padded(first: _core.GPUArray, second: _core.GPUArray) -> list[_core.GPUArray]:
    """Pad the shorter of two coefficient arrays with leading zeros."""
    length = max(first.size, second.size)
    return [
        polynomial
        if polynomial.size == length
        else concatenate(
            [_core.zeros(length - polynomial.size, polynomial.dtype, device=polynomial.device), polynomial]
        )
        for polynomial in arrays((first, second), "polynomials")
    ]


@public("Slopes, areas, filters, polynomials")
def polyadd(a1: Any, a2: Any) -> _core.GPUArray:
    """Add two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients, highest power first; at least one of the two is a GPUArray.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polyadd(PyGPU.to_gpu([1, 2]), [9, 5, 4]).tolist()
    [9, 6, 6]
    """
    first, second = _padded(*_coefficients(a1, a2))
    result: _core.GPUArray = first + second
    return result


@public("Slopes, areas, filters, polynomials")
def polysub(a1: Any, a2: Any) -> _core.GPUArray:
    """Subtract a polynomial from another polynomial.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients, highest power first; at least one of the two is a GPUArray.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polysub(PyGPU.to_gpu([2, 10, -2]), [3, 10]).tolist()
    [2, 7, -12]
    """
    first, second = _padded(*_coefficients(a1, a2))
    result: _core.GPUArray = first - second
    return result


@public("Slopes, areas, filters, polynomials")
def polymul(a1: Any, a2: Any) -> _core.GPUArray:
    """Multiply two polynomials. Unlike in NumPy, leading zeros of the product are kept, so that the host need not wait.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients, highest power first; at least one of the two is a GPUArray.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polymul(PyGPU.to_gpu([1, 2]), [1, 3]).tolist()
    [1, 5, 6]
    """
    first, second = (one if one.size else _core.zeros(1, one.dtype, device=one.device) for one in _coefficients(a1, a2))
    return convolve(first, second)


@public("Slopes, areas, filters, polynomials")
def polydiv(u: Any, v: Any) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Divide a polynomial by another polynomial.

    Leading zeros of the remainder are removed; the host waits for their number.

    Parameters
    ----------
    u, v : array_like
        Coefficients of the dividend and the divisor, highest power first; at least one of the two is a GPUArray.

    Returns
    -------
    tuple of two GPUArrays
        Coefficients of the quotient and of the remainder.

    Raises
    ------
    IndexError
        If `u` or `v` has no coefficients.

    Examples
    --------
    >>> import PyGPU
    >>> quotient, remainder = PyGPU.polydiv(PyGPU.to_gpu([3.0, 5.0, 2.0]), [2.0, 1.0])
    >>> quotient.tolist(), remainder.tolist()
    ([1.5, 1.75], [0.25])
    """
    dividend, divisor = (polynomial + 0.0 for polynomial in arrays(_coefficients(u, v), "polydiv"))
    if dividend.size == 0 or divisor.size == 0:
        raise IndexError(f"polydiv: coefficients of shapes {dividend.shape} and {divisor.shape}; one or more is needed")
    steps = dividend.size - divisor.size + 1
    remainder = dividend.astype(np.result_type(dividend.dtype, divisor.dtype))
    quotient = _core.zeros(max(steps, 1), remainder.dtype, device=remainder.device)
    scale = 1.0 / divisor[:1]
    for step in range(steps):
        quotient[step : step + 1] = scale * remainder[step : step + 1]
        remainder[step : step + divisor.size] -= quotient[step : step + 1] * divisor
    # Like NumPy, remove leading coefficients whose absolute value is at most 1e-8, the default tolerance of `isclose`.
    is_large = ~(_core.abs(remainder) <= 1e-8)
    is_large[-1:] = True
    return quotient, remainder[int(is_large.argmax().item()) :]


@public("Slopes, areas, filters, polynomials")
def polyder(p: Any, m: int = 1) -> _core.GPUArray:
    """Return the derivative of a polynomial.

    Parameters
    ----------
    p : GPUArray
        The coefficients, the highest power first.
    m : int, optional
        Order of the derivative.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polyder(PyGPU.to_gpu([1, 1, 1, 1])).tolist()
    [3, 2, 1]
    """
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    (coefficients,) = _coefficients(p)
    for _ in range(m):
        powers = _core.arange(max(coefficients.size - 1, 0), 0, -1, device=coefficients.device)
        coefficients = coefficients[:-1] * powers
    return coefficients


@public("Slopes, areas, filters, polynomials")
def polyint(p: Any, m: int = 1, k: Any = None) -> _core.GPUArray:
    """Return the antiderivative of a polynomial.

    Parameters
    ----------
    p : GPUArray
        The coefficients, the highest power first.
    m : int, optional
        Number of integrations.
    k : number or sequence of numbers, optional
        Constant of integration for each integration; defaults to 0.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.polyint(PyGPU.to_gpu([3, 2, 1])).tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = [0] * m if k is None else list(np.atleast_1d(k))
    constants = constants * m if len(constants) == 1 else constants
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    (coefficients,) = _coefficients(p)
    for constant in constants[:m]:
        powers = _core.arange(coefficients.size, 0, -1, device=coefficients.device)
        coefficients = concatenate([coefficients / powers, _core.asarray([constant], device=coefficients.device)])
    return coefficients


@public("Slopes, areas, filters, polynomials")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> _core.GPUArray:
    """Return a Vandermonde matrix, whose rows contain the powers of each element.

    Parameters
    ----------
    x : GPUArray
        One-dimensional array.
    N : int, optional
        Number of powers; defaults to the number of elements.
    increasing : bool, optional
        Whether the powers increase along a row; they decrease by default.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For an array that is not one-dimensional.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.vander(PyGPU.to_gpu([1, 2, 3]), 3).tolist()
    [[1, 1, 1], [4, 2, 1], [9, 3, 1]]
    """
    points = array(x, "vander")
    if points.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = points.size if N is None else N
    result = _core.empty((points.size, columns), np.promote_types(points.dtype, int), device=points.device)
    powers = result if increasing else result[:, ::-1]
    if columns > 0:
        powers[:, 0] = 1
    if columns > 1:
        powers[:, 1:] = points[:, None]
        powers[:, 1:] = powers[:, 1:].cumprod(1)
    return result
