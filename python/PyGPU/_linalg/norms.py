"""Norms of vectors and matrices: NumPy's `norm`, and the array API's `vector_norm` and `matrix_norm`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, normalize_axes
from PyGPU._names.public import public

__all__ = ["matrix_norm", "norm", "vector_norm"]


def _vector_norms(x: _core.GPUArray, order: Any, axis: Any, keepdims: bool) -> _core.GPUArray:
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    if order is None or order in (1, 2):
        if x.device.kind != "cpu":
            return _core._norm(x, 1 if order == 1 else 2, axis, keepdims)
        order = order or 2
    if order == 0:
        is_nonzero: _core.GPUArray = x != 0
        return is_nonzero.sum(axis, dtype=np.empty(0, x.dtype).real.dtype, keepdims=keepdims)
    magnitudes: _core.GPUArray = _core.abs(x)
    if order == math.inf:
        return magnitudes.max(axis, keepdims=keepdims, initial=_initial(x))
    if order == -math.inf:
        return magnitudes.min(axis, keepdims=keepdims)
    if order == 1:
        return magnitudes.sum(axis, keepdims=keepdims)
    powers: _core.GPUArray = magnitudes**order
    root: _core.GPUArray = powers.sum(axis, keepdims=keepdims) ** (1 / order)
    return root


def _initial(x: _core.GPUArray) -> int | None:
    """Return the value for the parameter `initial` of `max`: 0 for an empty array, whose norm is 0; otherwise None."""
    return None if x.size else 0


def _matrix_norms(x: _core.GPUArray, order: Any, axes: tuple[int, int], keepdims: bool) -> _core.GPUArray:
    row_axis, column_axis = (axis_index % x.ndim for axis_index in axes)
    if row_axis == column_axis:
        raise ValueError("Duplicate axes given.")
    if order is None or order in ("f", "fro"):
        return _vector_norms(x, 2, axes, keepdims)
    if order in (2, -2, "nuc"):
        from PyGPU._linalg.factorizations import svdvals

        values = svdvals(_core.moveaxis(x, (row_axis, column_axis), (-2, -1)))
        result = (
            values.sum(-1)
            if order == "nuc"
            else values.max(-1, initial=_initial(values))
            if order == 2
            else values.min(-1)
        )
        return _core.expand_dims(result, (row_axis, column_axis)) if keepdims else result
    if order not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    sum_axis, extreme_axis = (row_axis, column_axis) if order in (1, -1) else (column_axis, row_axis)
    sums = _vector_norms(x, 1, sum_axis, True)
    extreme = (
        sums.max(extreme_axis, keepdims=True, initial=_initial(sums))
        if order > 0
        else sums.min(extreme_axis, keepdims=True)
    )
    return extreme if keepdims else extreme.squeeze((row_axis, column_axis))


@public("Reductions")
def norm(
    x: _core.GPUArray,
    ord: Any = None,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
) -> _core.GPUArray:
    """Return the norm of vectors or matrices, as `numpy.linalg.norm`.

    Parameters
    ----------
    x : GPUArray
    ord : number, inf, -inf, 'fro' or 'nuc', optional
        Order of the norm; defaults to the Euclidean norm of vectors and the Frobenius norm of matrices. The matrix
        norms 2, -2 and 'nuc' are computed from singular values.
    axis : int or tuple of two ints, optional
        Axes of the vectors or matrices. If neither `axis` nor `ord` is given, the array is flattened to one vector.
    keepdims : bool, optional
        Whether reduced axes are kept with length 1.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.norm(PyGPU.to_gpu([[3.0, 4.0], [6.0, 8.0]]), axis=1).tolist()
    [5.0, 10.0]
    """
    x = array(x, "norm")
    if x.dtype.kind in "biu":
        x = x.astype("float64")
    if axis is None and ord is None:
        return _vector_norms(x, 2, None, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    for axis_index in axes:
        if not -x.ndim <= axis_index < x.ndim:
            raise np.exceptions.AxisError(axis_index, x.ndim)
    if len(axes) == 1:
        return _vector_norms(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norms(x, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> _core.GPUArray:
    """Compute the norms of matrices.

    Parameters
    ----------
    x : GPUArray
        The matrices, in the last two axes.
    keepdims : bool, optional
        Whether the reduced axes are kept with length 1.
    ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
        Order of the norm, as for `norm`.

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
    """Compute the norms of vectors, which may extend along several axes.

    Parameters
    ----------
    x : GPUArray
        The vectors.
    axis : int or tuple of ints, optional
        Axes of the vectors; defaults to all axes.
    keepdims : bool, optional
        Whether the reduced axes are kept with length 1.
    ord : number, inf or -inf, optional
        Order of the norm, as for `norm`.

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
    axes = tuple(range(x.ndim)) if axis is None else normalize_axes(axis, x.ndim)
    other_axes = tuple(axis_index for axis_index in range(x.ndim) if axis_index not in axes)
    lengths = tuple(x.shape[axis_index] for axis_index in other_axes)
    flat = x.transpose((*axes, *other_axes)).reshape((math.prod(x.shape[axis_index] for axis_index in axes), *lengths))
    result = norm(flat, ord, 0)
    return (
        result.reshape([1 if axis_index in axes else x.shape[axis_index] for axis_index in range(x.ndim)])
        if keepdims
        else result
    )
