"""Functions that create NumPy arrays in pinned host memory, with CuPy's parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from PyGPU._cupy.public_lookup import public_module
from PyGPU._names.docstrings import documented_like

__all__ = ["empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned"]

_Host = np.ndarray[Any, Any]


def _memory(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Allocate pinned memory for an ndarray of the given shape and dtype."""
    return public_module("cupy.cuda").alloc_pinned_memory(math.prod(shape) * dtype.itemsize)


def empty_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> _Host:
    """Create an uninitialized ndarray in pinned memory.

    Parameters
    ----------
    shape : int or tuple of ints
        Lengths of the axes.
    dtype : dtype, optional
        Data type.
    order : {'C', 'F'}, optional
        Memory order.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> cupyx.empty_pinned((2, 3), "f4").shape
    (2, 3)
    """
    dtype, shape = np.dtype(dtype), tuple(shape) if isinstance(shape, Iterable) else (shape,)
    return np.ndarray(shape, dtype, buffer=_memory(shape, dtype), order=order or "C")


@documented_like(empty_pinned)
def zeros_pinned(shape: Any, dtype: Any = float, order: Any = "C") -> _Host:
    """Create an ndarray of zeros in pinned memory.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> cupyx.zeros_pinned(3)
    array([0., 0., 0.])
    """
    result = empty_pinned(shape, dtype, order)
    result.fill(0)
    return result


def empty_like_pinned(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> _Host:
    """Create an uninitialized ndarray in pinned memory with the shape and the dtype of an array.

    Parameters
    ----------
    a : GPUArray or numpy.ndarray
        Array whose shape, dtype and memory order the result has by default.
    dtype : dtype, optional
        Data type; defaults to the dtype of `a`.
    order : {'C', 'F', 'A', 'K'}, optional
        Memory order; 'K' keeps the order of the axes of `a` in memory.
    subok : None
        Ignored: the result is never an instance of a subclass of ndarray.
    shape : int or tuple of ints, optional
        Lengths of the axes; defaults to the shape of `a`.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.empty_like_pinned(cupy.zeros((2, 3), "f4")).dtype
    dtype('float32')
    """
    if subok is not None:
        raise TypeError(f"empty_like_pinned: subok={subok!r} is not supported; pass None")
    # NumPy derives the strides of the result from `sample`, a host array with the shape and strides of `a`.
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    sample = np.lib.stride_tricks.as_strided(np.empty(1, a.dtype), a.shape, a.strides)
    layout = np.empty_like(sample, dtype, order, subok=False, shape=shape)
    return np.ndarray(layout.shape, dtype, buffer=_memory(layout.shape, dtype), strides=layout.strides)


@documented_like(empty_like_pinned)
def zeros_like_pinned(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> _Host:
    """Create an ndarray of zeros in pinned memory with the shape and the dtype of an array.

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.zeros_like_pinned(cupy.ones(2))
    array([0., 0.])
    """
    result = empty_like_pinned(a, dtype, order, subok, shape)
    result.fill(0)
    return result
