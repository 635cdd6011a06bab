"""The functions `cov` and `corrcoef`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._functions.joining import concatenate
from PyGPU._functions.selection_operands import on_device_of
from PyGPU._functions.statistics import average
from PyGPU._names.public import public


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> _core.GPUArray:
    """Convert the observations to a matrix with one row for each variable."""
    first = array(m, "cov")
    if first.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    second_dtype = [] if y is None else [array(y, "cov").dtype]
    result_dtype = np.result_type(first.dtype, np.float64, *second_dtype) if dtype is None else np.dtype(dtype)

    def rows(variables: _core.GPUArray) -> _core.GPUArray:
        wide = variables.reshape((1,) * (2 - variables.ndim) + variables.shape)
        return (wide if rowvar or variables.ndim < 2 else wide.T).astype(result_dtype, copy=False)

    first_rows = rows(first)
    if y is None:
        return first_rows
    second = array(y, "cov")
    if second.ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    return concatenate([first_rows, rows(second)])


def _weights(x: _core.GPUArray, fweights: Any, aweights: Any) -> _core.GPUArray | None:
    """Return the product of frequency weights and observation weights."""
    product = None
    for name, values in (("fweights", fweights), ("aweights", aweights)):
        if values is None:
            continue
        weights = on_device_of(x, values)
        if name == "fweights" and weights.dtype.kind not in "iu":
            raise TypeError("fweights must be integer")
        if weights.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if weights.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((weights < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        weights = weights.astype(np.float64)
        product = weights if product is None else product * weights
    return product


@public("Products")
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike | None = None,
) -> _core.GPUArray:
    """Return the covariance matrix of variables.

    Parameters
    ----------
    m : GPUArray
        Array with a row for each variable and a column for each observation.
    y : GPUArray, optional
        Array of further variables, in the layout of the first argument.
    rowvar : bool, optional
        Whether each row is a variable; False: each column is a variable.
    bias : bool, optional
        Whether sums are divided by the number of observations N instead of N - 1.
    ddof : int, optional
        Number to subtract from N; it overrides `bias`.
    fweights : array_like of ints, optional
        Number of occurrences of each observation. The host waits for these weights.
    aweights : array_like, optional
        Weight of each observation. The host waits for these weights.
    dtype : dtype-like, optional
        Type of the result; defaults to the common type of the arrays and float64.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cov(PyGPU.to_gpu([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    less = (0 if bias else 1) if ddof is None else ddof
    x = _observations(m, y, rowvar, dtype)
    if x.shape[0] == 0:
        return _core.empty((0, 0), np.float64, device=x.device)
    if x.dtype.kind in "biu":
        raise TypeError(f"cov: dtype={x.dtype}, and the mean that is subtracted is no integer")
    weights = _weights(x, fweights, aweights)
    if weights is None:
        mean, factor = x.mean(1), float(x.shape[1] - less)
    else:
        mean = average(x, 1, weights)
        total = float(weights.sum().item())
        if less == 0 or aweights is None:
            factor = total - less
        else:
            factor = total - less * float((weights * on_device_of(x, aweights)).sum().item()) / total
    if factor <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        factor = 0.0
    deviations = x - mean[:, None]
    weighted = deviations if weights is None else (deviations * weights).astype(deviations.dtype, copy=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = _core.matmul(deviations, _core.conjugate(weighted).T)
        result *= np.true_divide(1, factor).item()
    return result[0, 0] if result.shape == (1, 1) else result


@public("Products")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> _core.GPUArray:
    """Return the matrix of correlation coefficients: covariances divided by standard deviations.

    Parameters
    ----------
    x : GPUArray
        Array with a row for each variable and a column for each observation.
    y : GPUArray, optional
        Array of further variables, in the layout of the first argument.
    rowvar : bool, optional
        Whether each row is a variable; False: each column is a variable.
    dtype : dtype-like, optional
        Type of the result; defaults to the common type of the arrays and float64.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.corrcoef(PyGPU.to_gpu([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).round(6).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    result = cov(x, y, rowvar, dtype=dtype)
    if result.ndim == 0:
        scalar_result: _core.GPUArray = result / result
        return scalar_result
    deviations = _core.sqrt(_core.real(result.diagonal()))
    result /= deviations[:, None]
    result /= deviations[None, :]
    if result.dtype.kind != "c":
        return _core.clip(result, -1, 1)
    result.real[...] = _core.clip(result.real, -1, 1)
    result.imag[...] = _core.clip(result.imag, -1, 1)
    return result
