"""The functions `argmax` and `argmin` with CuPy's parameter `dtype`."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._cupy.public_lookup import own
from PyGPU._names.docstrings import documented_like

__all__ = ["argmax", "argmin"]


def argmax(
    a: _core.GPUArray, axis: int | None = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
) -> _core.GPUArray:
    """Return the index of the maximum along an axis.

    Parameters
    ----------
    a : GPUArray
        Array.
    axis : int, optional
        The axis; by default the flattened array is searched.
    dtype : dtype, optional
        Data type of the result; defaults to int64.
    out : GPUArray, optional
        Array for the result.
    keepdims : bool, optional
        Whether the axis stays in the result with length 1.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.argmax(cupy.array([3, 9, 4]), dtype="i4").dtype
    dtype('int32')
    """
    return _of_dtype(own("argmax")(a, axis, keepdims=keepdims), dtype, out)


@documented_like(argmax)
def argmin(
    a: _core.GPUArray, axis: int | None = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
) -> _core.GPUArray:
    """Return the index of the minimum along an axis.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> int(cupy.argmin(cupy.array([3, 9, 2])))
    2
    """
    return _of_dtype(own("argmin")(a, axis, keepdims=keepdims), dtype, out)


def _of_dtype(indices: _core.GPUArray, dtype: Any, out: Any) -> _core.GPUArray:
    if out is not None:
        out[...] = indices
        return out  # type: ignore[no-any-return]
    return indices if dtype is None else indices.astype(dtype, copy=False)
