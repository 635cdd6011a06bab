"""Elementwise functions that CuPy has and NumPy lacks."""

from __future__ import annotations

from typing import Any

from PyGPU import _core

__all__ = ["rsqrt"]


def rsqrt(x: Any, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Compute the reciprocal of the square root of each element.

    Parameters
    ----------
    x : array_like
        Numbers.
    out : GPUArray, optional
        Array for the result.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> cupyx.rsqrt(cupy.array([1.0, 4.0])).tolist()
    [1.0, 0.5]
    """
    return _core.reciprocal(_core.sqrt(x), out=out)
