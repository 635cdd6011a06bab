"""Functions of `linalg` for products of matrices and vectors, diagonals, traces and powers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays, normalize_axis
from PyGPU._functions.products import cross as _cross, tensor_products as _axes
from PyGPU._functions.shapes import matrix_transpose
from PyGPU._linalg.linear_systems import inv
from PyGPU._linalg.operands import check_matrices, check_square, identity

__all__ = [
    "cross", "diagonal", "matmul", "matrix_power", "matrix_transpose", "multi_dot", "outer", "tensordot", "trace",
    "vecdot",
]  # fmt: skip


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> _core.GPUArray:
    """Return the cross product of vectors of three elements.

    Parameters
    ----------
    x1, x2 : GPUArray
        The vectors.
    axis : int, optional
        Axis of the vectors.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> x, y = PyGPU.to_gpu([1, 0, 0]), PyGPU.to_gpu([0, 1, 0])
    >>> PyGPU.linalg.cross(x, y).tolist()
    [0, 0, 1]
    """
    x1, x2 = arrays((x1, x2), "cross")
    lengths = x1.shape[normalize_axis(axis, x1.ndim)], x2.shape[normalize_axis(axis, x2.ndim)]
    if lengths != (3, 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{lengths[0]} and {lengths[1]} dimensional instead."
        )
    return _cross.cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> _core.GPUArray:
    """Return the product of each element of one vector with each element of another vector.

    Parameters
    ----------
    x1, x2 : GPUArray
        One-dimensional arrays.

    Returns
    -------
    GPUArray
        Matrix with one row for each element of `x1`, and one column for each element of `x2`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.outer(PyGPU.to_gpu([1, 2]), PyGPU.to_gpu([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    x1, x2 = arrays((x1, x2), "outer")
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {x1.ndim=} and {x2.ndim=}.")
    return _axes.outer(x1, x2)


def diagonal(x: Any, /, *, offset: int = 0) -> _core.GPUArray:
    """Return a view of a diagonal of each matrix.

    Parameters
    ----------
    x : GPUArray
        The matrices, in the last two axes.
    offset : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.diagonal(PyGPU.arange(9).reshape(3, 3), offset=1).tolist()
    [1, 5]
    """
    return array(x, "diagonal").diagonal(offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: DTypeLike | None = None) -> _core.GPUArray:
    """Return the sum of the elements on a diagonal of each matrix.

    Parameters
    ----------
    x : GPUArray
        The matrices, in the last two axes.
    offset : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    dtype : dtype-like, optional
        Type of the sum; defaults to the type that `sum` uses.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.trace(PyGPU.arange(9).reshape(3, 3)).item()
    12
    """
    return diagonal(x, offset=offset).sum(-1, dtype)


def matmul(x1: Any, x2: Any, /) -> _core.GPUArray:
    """Multiply matrices, as `PyGPU.matmul`.

    Parameters
    ----------
    x1, x2 : GPUArray
        Vectors, or matrices in the last two axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.matmul(PyGPU.ones((2, 2)), PyGPU.ones((2, 2))).tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """
    return _core.matmul(x1, x2)


def tensordot(x1: Any, x2: Any, /, *, axes: int | Sequence[Any] = 2) -> _core.GPUArray:
    """Return the sums of products along several axes of two arrays, as `PyGPU.tensordot`.

    Parameters
    ----------
    x1, x2 : GPUArray
        The arrays.
    axes : int, or two sequences of ints, optional
        An int n selects the last n axes of `x1` and the first n axes of `x2`. Two sequences contain the selected axes
        of `x1` and of `x2`. Products are summed over the selected axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.tensordot(PyGPU.ones((2, 3)), PyGPU.ones((3, 2)), axes=1).shape
    (2, 2)
    """
    return _axes.tensordot(x1, x2, axes=axes)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> _core.GPUArray:
    """Return the dot products of vectors, of which the first is conjugated, as `PyGPU.vecdot`.

    Parameters
    ----------
    x1, x2 : GPUArray
        The vectors.
    axis : int, optional
        Axis of the vectors.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.vecdot(PyGPU.to_gpu([1, 2]), PyGPU.to_gpu([3, 4])).item()
    11
    """
    return _core.vecdot(x1, x2, axis=operator.index(axis))


def matrix_power(a: Any, n: Any) -> _core.GPUArray:
    """Raise square matrices to an integer power.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    n : int
        Exponent. A negative exponent raises the inverses to its absolute value, and 0 gives identity matrices.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.matrix_power(PyGPU.to_gpu([[1, 1], [0, 1]]), 5).tolist()
    [[1, 5], [0, 1]]
    """
    power = array(a, "matrix_power")
    check_square(power)
    try:
        n = operator.index(n)
    except TypeError as error:
        raise TypeError("exponent must be an integer") from error
    if n == 0:
        return identity(power, power.shape[-1], power.shape[-1], power.dtype)
    if n < 0:
        power, n = inv(power), -n
    result: _core.GPUArray | None = None
    while True:
        n, is_factor = divmod(n, 2)
        if is_factor:
            result = power if result is None else _core.matmul(result, power)
        if not n:
            return power if result is None else result
        power = _core.matmul(power, power)


def _best_order(lengths: list[int]) -> dict[tuple[int, int], int]:
    """Return, for each sequence of adjacent matrices, the index at which the cheapest order of products splits it."""
    count = len(lengths) - 1
    costs = {(index, index): 0 for index in range(count)}
    cuts: dict[tuple[int, int], int] = {}
    for distance in range(1, count):
        for first in range(count - distance):
            last = first + distance
            costs[first, last], cuts[first, last] = min(
                (costs[first, cut] + costs[cut + 1, last] + lengths[first] * lengths[cut + 1] * lengths[last + 1], cut)
                for cut in range(first, last)
            )
    return cuts


def multi_dot(arrays: Sequence[Any], *, out: _core.GPUArray | None = None) -> _core.GPUArray:
    """Multiply several matrices in the order that needs the fewest scalar multiplications.

    Parameters
    ----------
    arrays : sequence of GPUArray
        Two or more matrices; the first and the last may be vectors.
    out : GPUArray, optional
        Output array of the result's type and shape, in C order.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> a, b, c = PyGPU.ones((2, 9)), PyGPU.ones((9, 9)), PyGPU.ones(9)
    >>> PyGPU.linalg.multi_dot([a, b, c]).tolist()
    [81.0, 81.0]
    """
    operands = [array(matrix, "multi_dot") for matrix in arrays]
    if len(operands) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(operands) == 2:
        return _axes.dot(operands[0], operands[1], out=out)
    is_row, is_column = operands[0].ndim == 1, operands[-1].ndim == 1
    matrices = list(operands)
    if is_row:
        matrices[0] = operands[0][None, :]
    if is_column:
        matrices[-1] = operands[-1][:, None]
    check_matrices(*matrices)
    cuts = _best_order([matrix.shape[0] for matrix in matrices] + [matrices[-1].shape[1]])

    def product(first: int, last: int) -> _core.GPUArray:
        if first == last:
            return matrices[first]
        cut = cuts[first, last]
        return _axes.dot(product(first, cut), product(cut + 1, last))

    cut = cuts[0, len(matrices) - 1]
    left, right = product(0, cut), product(cut + 1, len(matrices) - 1)
    return _axes.dot(left[0] if is_row else left, right[:, 0] if is_column else right, out=out)
