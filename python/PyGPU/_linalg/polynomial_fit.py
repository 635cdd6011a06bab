"""The function `polyfit`, which fits a polynomial to points by least squares."""

from __future__ import annotations

import warnings
from typing import Any, Literal, overload

import numpy as np
from numpy.exceptions import RankWarning

from PyGPU import _core
from PyGPU._functions.array_arguments import invalid_array_error
from PyGPU._functions.calculus.polynomials import vander
from PyGPU._functions.selection_operands import on_device_of
from PyGPU._linalg.linear_systems import inv
from PyGPU._linalg.singular_values import lstsq
from PyGPU._names.public import public


@overload
def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    cov: Literal[False] = False,
) -> _core.GPUArray: ...
@overload
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: bool | str = False
) -> _core.GPUArray | tuple[Any, ...]: ...
@public("Slopes, areas, filters, polynomials")
def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """Fit a polynomial to points by least squares.

    The host waits for the rank of the fit. With `full=True` the host waits only if `linalg.lstsq` waits.

    Parameters
    ----------
    x : GPUArray
        One-dimensional array of the points' coordinates.
    y : GPUArray
        Values at the points; with two axes, each column is fitted.
    deg : int
        Degree of the polynomial.
    rcond : float, optional
        Singular values up to `rcond` times the largest singular value count as 0; defaults to the number of points
        times the machine epsilon.
    full : bool, optional
        Whether to return also the residuals, the rank, the singular values and `rcond`.
    w : GPUArray, optional
        Weight of the residual of each point, before it is squared.
    cov : bool or 'unscaled', optional
        Whether to return also the covariance matrix of the coefficients, scaled by the residuals unless 'unscaled'.

    Returns
    -------
    GPUArray or tuple
        Coefficients, the highest power first, and the further results that `full` or `cov` requests.

    Raises
    ------
    TypeError
        If the shape of an array is wrong, or if there are no points.
    ValueError
        For a negative degree, and for a scaled covariance matrix of too few points.

    Warns
    -----
    RankWarning
        If the rank is less than the number of coefficients and `full` is False.

    Examples
    --------
    >>> import PyGPU
    >>> x = PyGPU.arange(4.0)
    >>> PyGPU.polyfit(x, 2 * x + 1, 1).round(6).tolist()
    [2.0, 1.0]
    """
    order = int(deg) + 1
    points, values, weights = _operands(x, y, w)
    _check_operands(points, values, deg)
    rcond = points.size * float(np.finfo(points.dtype).eps) if rcond is None else rcond
    left = vander(points, order)
    if weights is not None:
        if weights.ndim != 1:
            raise TypeError(f"expected a 1-d array for weights, not of shape {weights.shape}")
        if weights.shape[0] != values.shape[0]:
            raise TypeError(f"expected w and y to have the same length: {weights.shape[0]} and {values.shape[0]}")
        left *= weights[:, None]
        values *= weights[:, None] if values.ndim == 2 else weights
    # Columns of equal length improve the condition number of the least-squares problem.
    scale = _core.sqrt((left * left).sum(axis=0))
    left /= scale
    scaled, residuals, rank, singular_values = lstsq(left, values, rcond)
    coefficients = (scaled.T / scale).T
    if full:
        return coefficients, residuals, rank, singular_values, rcond
    if rank.item() != order:
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=2)
    if not cov:
        return coefficients
    return coefficients, _covariance(left, scale, values, None if cov == "unscaled" else residuals)


def _operands(x: Any, y: Any, w: Any) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray | None]:
    """Copy the operands to one device, as new arrays of floating point numbers."""
    array = next((one for one in (x, y, w) if isinstance(one, _core.GPUArray)), None)
    if array is None:
        raise invalid_array_error(x, "polyfit")
    points, values = on_device_of(array, x) + 0.0, on_device_of(array, y) + 0.0
    return points, values, None if w is None else on_device_of(array, w) + 0.0


def _check_operands(points: _core.GPUArray, values: _core.GPUArray, deg: int) -> None:
    if deg < 0:
        raise ValueError(f"expected deg >= 0, not {deg}")
    if points.ndim != 1:
        raise TypeError(f"expected 1D vector for x, not of shape {points.shape}")
    if points.size == 0:
        raise TypeError("expected non-empty vector for x")
    if values.ndim < 1 or values.ndim > 2:
        raise TypeError(f"expected 1D or 2D array for y, not of shape {values.shape}")
    if points.shape[0] != values.shape[0]:
        raise TypeError(f"expected x and y to have same length: {points.shape[0]} and {values.shape[0]}")


def _covariance(
    left: _core.GPUArray, scale: _core.GPUArray, values: _core.GPUArray, residuals: _core.GPUArray | None
) -> _core.GPUArray:
    """Return the covariance matrix of the coefficients, scaled by the residuals if the caller passes residuals."""
    points, order = left.shape
    base = inv(_core.matmul(left.T, left)) / (scale[:, None] * scale)
    factor: Any = 1
    if residuals is not None:
        if points <= order:
            raise ValueError(
                f"the number of data points must exceed order to scale the covariance matrix: {points} points, "
                f"{order} coefficients"
            )
        factor = residuals / (points - order)
    return base * factor if values.ndim == 1 else base[:, :, None] * factor  # type: ignore[no-any-return]
