"""Norms of vectors and of matrices, by the names of the array API."""

from __future__ import annotations

import math
from typing import Any

from PyGPU import _core
from PyGPU._functions.arrays import array, axes_of
from PyGPU._functions.statistics import norm

__all__ = ["matrix_norm", "norm", "vector_norm"]


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> _core.GPUArray:
    """Compute norms of matrices.

    Parameters
    ----------
    x : GPUArray
        The matrices, in the last two axes.
    keepdims : bool, optional
        Whether these axes stay, with length 1.
    ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
        Which norm, as for `norm`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.matrix_norm(PyGPU.to_gpu([[3.0, 0.0], [0.0, 4.0]])).item()
    5.0
    """
    return norm(array(x, "matrix_norm"), ord, (-2, -1), keepdims)


def vector_norm(
    x: Any, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: Any = 2
) -> _core.GPUArray:
    """Compute norms of vectors, which may lie along several axes.

    Parameters
    ----------
    x : GPUArray
        The vectors.
    axis : int or tuple of ints, optional
        Along which axes they lie; all by default.
    keepdims : bool, optional
        Whether these axes stay, with length 1.
    ord : number, inf or -inf, optional
        Which norm, as for `norm`.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.vector_norm(PyGPU.to_gpu([[3.0, 0.0], [0.0, 4.0]])).item()
    5.0
    """
    x = array(x, "vector_norm")
    axes = tuple(range(x.ndim)) if axis is None else axes_of(axis, x.ndim)
    rest = tuple(one for one in range(x.ndim) if one not in axes)
    lengths = tuple(x.shape[one] for one in rest)
    flat = x.transpose((*axes, *rest)).reshape((math.prod(x.shape[one] for one in axes), *lengths))
    made = norm(flat, ord, 0)
    return made.reshape([1 if one in axes else x.shape[one] for one in range(x.ndim)]) if keepdims else made
