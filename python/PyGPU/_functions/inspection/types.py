"""The functions `common_type` and `min_scalar_type`."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public, public_values

ufunc = _core.Ufunc
"""NumPy's name of the class of elementwise functions."""

public_values("Functions of each element", "ufunc")


@public("Types and constants")
def common_type(*arrays: Any) -> type[np.inexact[Any]]:
    """Return the floating-point or complex type to which NumPy promotes several arrays.

    Parameters
    ----------
    *arrays : GPUArray
        The arrays.

    Returns
    -------
    type

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.common_type(PyGPU.zeros(2, "float32"), PyGPU.zeros(2, "int8")).__name__
    'float64'
    """
    host_arrays = (np.empty(0, array.dtype) if isinstance(array, _core.GPUArray) else array for array in arrays)
    result: type[np.inexact[Any]] = np.common_type(*host_arrays)
    return result


@public("Types and constants")
def min_scalar_type(a: Any, /) -> np.dtype[Any]:
    """Return the dtype of an array, or the smallest dtype that represents a number; the host waits for the number.

    Parameters
    ----------
    a : GPUArray or number
        Array or number; an array without axes counts as a number.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.min_scalar_type(10)
    dtype('uint8')
    """
    if isinstance(a, _core.GPUArray):
        dtype: np.dtype[Any] = a.dtype
        return dtype if a.ndim else np.min_scalar_type(a.get())
    return np.min_scalar_type(a)
