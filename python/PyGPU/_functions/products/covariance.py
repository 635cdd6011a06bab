"""Covariance and correlation."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._functions.joining import concatenate
from PyGPU._functions.operands import on_device_of
from PyGPU._functions.statistics import average
from PyGPU._names.public import public


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> _core.GPUArray:
    """Return observations as one row per variable."""
    given = array(m, "cov")
    if given.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    least = [] if y is None else [array(y, "cov").dtype]
    kind = np.result_type(given.dtype, np.float64, *least) if dtype is None else np.dtype(dtype)

    def rows(one: _core.GPUArray) -> _core.GPUArray:
        wide = one.reshape((1,) * (2 - one.ndim) + one.shape)
        return (wide if rowvar or wide.shape[0] == 1 else wide.T).astype(kind, copy=False)

    found = rows(given)
    if y is None:
        return found
    other = array(y, "cov")
    if other.ndim > 2:
        raise ValueError("y has more than 2 dimensions")
    return concatenate([found, rows(other)])


def _weights(x: _core.GPUArray, fweights: Any, aweights: Any) -> _core.GPUArray | None:
    """Return the product of both kinds of weights."""
    product = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        one = on_device_of(x, given)
        if name == "fweights" and one.dtype.kind not in "iu":
            raise TypeError("fweights must be integer")
        if one.ndim > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if one.shape[0] != x.shape[1]:
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if bool((one < 0).any()):
            raise ValueError(f"{name} cannot be negative")
        one = one.astype(np.float64)
        product = one if product is None else product * one
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
    """Return the covariances of variables.

    Parameters
    ----------
    m : GPUArray
        Array with a row for each variable and a column for each observation.
    y : GPUArray, optional
        More variables.
    rowvar : bool, optional
        False: a variable is a column.
    bias : bool, optional
        Whether sums are divided by N instead of N - 1, with N the number of observations.
    ddof : int, optional
        Number subtracted from N instead.
    fweights : array_like of ints, optional
        Number of times each observation was made.
    aweights : array_like, optional
        Weight of each observation. With weights the host waits.
    dtype : dtype-like, optional
        Type of the result; at least 64 bits by default.

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
        return _core.empty((0, 0), x.dtype, device=x.device)
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
    apart = x - mean[:, None]
    other = apart if weights is None else (apart * weights).astype(apart.dtype, copy=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = _core.matmul(apart, _core.conjugate(other).T)
        made *= np.true_divide(1, factor).item()
    return made[0, 0] if made.shape == (1, 1) else made


@public("Products")
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike | None = None) -> _core.GPUArray:
    """Return correlation coefficients: covariances divided by standard deviations.

    Parameters
    ----------
    x : GPUArray
        Array with a row for each variable and a column for each observation.
    y : GPUArray, optional
        More variables.
    rowvar : bool, optional
        False: a variable is a column.
    dtype : dtype-like, optional
        Type of the result; at least 64 bits by default.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.corrcoef(PyGPU.to_gpu([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).round(6).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    made = cov(x, y, rowvar, dtype=dtype)
    if made.ndim == 0:
        alone: _core.GPUArray = made / made
        return alone
    deviations = _core.sqrt(_core.real(made.diagonal()))
    made /= deviations[:, None]
    made /= deviations[None, :]
    if made.dtype.kind != "c":
        return _core.clip(made, -1, 1)
    made.real[...] = _core.clip(made.real, -1, 1)
    made.imag[...] = _core.clip(made.imag, -1, 1)
    return made
