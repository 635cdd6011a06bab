"""Functions for polynomials with the coefficient of the lowest power first, as in `numpy.polynomial`."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import own

__all__ = ["as_series", "polycompanion", "polyval", "polyvalfromroots", "polyvander", "trimcoef", "trimseq"]


def _with_inexact_dtype(*arrays: _core.GPUArray) -> list[_core.GPUArray]:
    """Convert arrays to their common floating-point dtype."""
    dtype = own("common_type")(*arrays)
    return [array.astype(dtype, copy=False) for array in arrays]


def trimseq(seq: _core.GPUArray) -> _core.GPUArray:
    """Return the coefficients of a polynomial without trailing zeros; at least one coefficient remains.

    Parameters
    ----------
    seq : GPUArray
        Coefficients.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polyutils.trimseq(cupy.array([1, 0, 2, 0])).tolist()
    [1, 0, 2]
    """
    if seq.ndim != 1:
        raise (TypeError if seq.ndim == 0 else ValueError)(f"trimseq: coefficients have one axis, not {seq.ndim}")
    trimmed = own("trim_zeros")(seq, "b") if seq.size else seq
    return trimmed if trimmed.size else seq[:1]


def as_series(alist: Any, trim: bool = True) -> list[_core.GPUArray]:
    """Convert arrays of coefficients to their common floating-point dtype.

    Parameters
    ----------
    alist : sequence of GPUArray, or GPUArray
        Coefficients.
    trim : bool, optional
        Whether trailing zeros are dropped.

    Returns
    -------
    list of GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> [a.tolist() for a in cupy.polynomial.polyutils.as_series([cupy.array([1, 0]), cupy.array([2.5])])]
    [[1.0], [2.5]]
    """
    arrays = []
    for array in alist:
        if array.size == 0 or array.ndim > 1 or array.dtype.kind == "b":
            raise ValueError(
                f"as_series: {array.size} coefficients of {array.dtype} on {array.ndim} axes; pass numbers on one axis"
            )
        array = array.reshape(-1)
        arrays.append(trimseq(array) if trim else array)
    return _with_inexact_dtype(*arrays)


def trimcoef(c: _core.GPUArray, tol: float = 0) -> _core.GPUArray:
    """Return the coefficients of a polynomial without small trailing coefficients.

    Parameters
    ----------
    c : GPUArray
        Coefficients.
    tol : float, optional
        Largest magnitude of a coefficient that is dropped.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polyutils.trimcoef(cupy.array([1, 2, 1e-9]), 1e-6).tolist()
    [1.0, 2.0]
    """
    if tol < 0:
        raise ValueError(f"trimcoef: tol={tol} is negative")
    (series,) = as_series([c], trim=False)
    kept = own("flatnonzero")(abs(series) > tol)
    return series[: int(kept[-1]) + 1] if kept.size else _core.zeros_like(series[:1])


def polyvander(x: Any, deg: int) -> _core.GPUArray:
    """Return the powers 0, 1, 2, ... of each number, along a new last axis.

    Parameters
    ----------
    x : GPUArray
        Numbers.
    deg : int
        Highest power.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polynomial.polyvander(cupy.array([2.0, 3.0]), 2).tolist()
    [[1.0, 2.0, 4.0], [1.0, 3.0, 9.0]]
    """
    highest = operator.index(deg)
    if highest < 0:
        raise ValueError(f"polyvander: the highest power {deg} is negative")
    x = own("atleast_1d")(_core.asarray(x))
    x = x + 0.0 if x.dtype.kind in "biu" else x
    powers = _core.ones((highest + 1, *x.shape), x.dtype)
    for power in range(1, highest + 1):
        powers[power] = powers[power - 1] * x
    result: _core.GPUArray = own("moveaxis")(powers, 0, -1)
    return result


def polycompanion(c: _core.GPUArray) -> _core.GPUArray:
    """Return the matrix whose eigenvalues are the roots of a polynomial.

    Parameters
    ----------
    c : GPUArray
        Coefficients, lowest power first; at least two.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polynomial.polycompanion(cupy.array([2.0, 3.0, 1.0])).tolist()
    [[0.0, -2.0], [1.0, -3.0]]
    """
    (series,) = as_series([c])
    degree = series.size - 1
    if degree < 1:
        raise ValueError(f"polycompanion: {series.size} coefficients have no matrix; pass at least two")
    matrix: _core.GPUArray = own("eye")(degree, k=-1, dtype=series.dtype)
    matrix[:, -1] -= series[:-1] / series[-1]
    return matrix


def polyval(x: Any, c: Any, tensor: bool = True) -> _core.GPUArray:
    """Compute the values of polynomials.

    Parameters
    ----------
    x : array_like
        Numbers.
    c : GPUArray
        Coefficients of each polynomial along the first axis, lowest power first.
    tensor : bool, optional
        Whether each polynomial of `c` is evaluated for all of `x`. If False, `x` broadcasts to the polynomials.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polynomial.polyval(cupy.array([0, 2]), cupy.array([1, 3])).tolist()
    [1.0, 7.0]
    """
    coefficients = own("atleast_1d")(_core.asarray(c))
    if coefficients.dtype.kind in "biu":
        coefficients = coefficients + 0.0
    x = _core.asarray(x)
    if tensor:
        coefficients = coefficients.reshape(coefficients.shape + (1,) * x.ndim)
    result: _core.GPUArray = coefficients[-1] + x * 0
    for index in range(2, len(coefficients) + 1):
        result = coefficients[-index] + result * x
    return result


def polyvalfromroots(x: Any, r: Any, tensor: bool = True) -> _core.GPUArray:
    """Compute the values of polynomials from the roots of the polynomials.

    Parameters
    ----------
    x : array_like
        Numbers.
    r : GPUArray
        Roots of each polynomial along the first axis.
    tensor : bool, optional
        Whether each polynomial of `r` is evaluated for all of `x`. If False, `x` broadcasts to the polynomials.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polynomial.polynomial.polyvalfromroots(cupy.array([0.0, 3.0]), cupy.array([1.0, 2.0])).tolist()
    [2.0, 2.0]
    """
    roots, x = own("atleast_1d")(_core.asarray(r)), _core.asarray(x)
    if roots.dtype.kind in "biu":
        roots = roots.astype(np.float64)
    if tensor:
        roots = roots.reshape(roots.shape + (1,) * x.ndim)
    elif x.ndim >= roots.ndim:
        raise ValueError(f"polyvalfromroots: x has {x.ndim} axes and r {roots.ndim}; without tensor= x has fewer axes")
    values: _core.GPUArray = own("prod")(x - roots, axis=0)
    return values
