"""Functions that create matrices, and return diagonals and triangles of matrices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

from numpy.typing import DTypeLike

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike, Order


@public("Matrices and grids")
def diagonal(
    a: _core.GPUArray, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> _core.GPUArray:
    """Return a view in which a diagonal of two axes is the last axis.

    Parameters
    ----------
    a : GPUArray
        Array with two or more axes.
    offset : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    axis1, axis2 : int, optional
        Axes of the matrices.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.diagonal(PyGPU.arange(9).reshape(3, 3), 1).tolist()
    [1, 5]
    """
    return array(a, "diagonal").diagonal(offset, axis1, axis2)


@public("Matrices and grids")
def trace(
    a: _core.GPUArray,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DTypeLike | None = None,
    out: _core.GPUArray | None = None,
) -> _core.GPUArray:
    """Return the sum of the elements on a diagonal.

    Parameters
    ----------
    a : GPUArray
        Array with two or more axes.
    offset : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    axis1, axis2 : int, optional
        Axes of the matrices.
    dtype : dtype-like, optional
        Type of the sum; defaults to the type that `sum` uses.
    out : GPUArray, optional
        Output array.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.trace(PyGPU.arange(9).reshape(3, 3)).item()
    12
    """
    return array(a, "trace").diagonal(offset, axis1, axis2).sum(-1, dtype, out)


@public("Matrices and grids")
def diag(v: Any, k: int = 0) -> _core.GPUArray:
    """Return a matrix with the numbers of a vector on a diagonal, or the diagonal of a matrix.

    Parameters
    ----------
    v : GPUArray
        The numbers as a one-dimensional array, or the matrix.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    GPUArray
        A new matrix, or a view of the diagonal.

    Raises
    ------
    ValueError
        For arrays without axes, or with more than two.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.diag(PyGPU.to_gpu([1, 2])).tolist()
    [[1, 0], [0, 2]]
    >>> PyGPU.diag(PyGPU.to_gpu([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    source = array(v, "diag")
    if source.ndim == 2:
        return source.diagonal(k)
    if source.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    side = source.size + abs(k)
    matrix = _core.zeros_like(source, None, "C", shape=(side, side))
    matrix.diagonal(k)[...] = source
    return matrix


@public("Matrices and grids")
def diagflat(v: Any, k: int = 0) -> _core.GPUArray:
    """Return a matrix with all elements of an array on a diagonal.

    Parameters
    ----------
    v : GPUArray
        Numbers for the diagonal, in C order.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.diagflat(PyGPU.to_gpu([[1, 2]]), 1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
    """
    return diag(array(v, "diagflat").ravel(), k)


@public("Matrices and grids")
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    order: Order = "C",
    *,
    device: DeviceLike = None,
) -> _core.GPUArray:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    N, M : int
        Number of rows and number of columns; `M` defaults to `N`.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    dtype : dtype-like, optional
        Type of the elements.
    order : {'C', 'F'}, optional
        Memory order of the elements.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.eye(2, 3, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    columns = N if M is None else M
    matrix = _core.zeros((N, columns), dtype, order, device=device)
    if -N < k < columns:
        matrix.diagonal(k).fill(1)
    return matrix


@public("Matrices and grids")
def identity(n: int, dtype: DTypeLike | None = None, *, device: DeviceLike = None) -> _core.GPUArray:
    """Return a square identity matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    dtype : dtype-like, optional
        Type of the elements; defaults to float64.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.identity(2, "int32").tolist()
    [[1, 0], [0, 1]]
    """
    return eye(n, dtype=float if dtype is None else dtype, device=device)


def _row_and_column_numbers(
    rows: int, columns: int, k: int, device: DeviceLike
) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Return row and column numbers, shifted so that ``row >= column`` is true at and below the diagonal `k`."""
    # `k` is limited to the size of the matrix, so that `column - k` cannot overflow.
    k = max(-rows, min(k, columns))
    dtype = "int32" if max(rows, columns) < 1 << 30 else "int64"
    column_numbers = _core.arange(-k, columns - k, dtype=dtype, device=device)
    return _core.arange(rows, dtype=dtype, device=device)[:, None], column_numbers


@public("Matrices and grids")
def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = float, *, device: DeviceLike = None
) -> _core.GPUArray:
    """Return a matrix with ones at and below a diagonal and zeros above.

    Parameters
    ----------
    N, M : int
        Number of rows and number of columns; `M` defaults to `N`.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    dtype : dtype-like, optional
        Type of the elements.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.tri(2, 3).tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """
    columns = max(operator.index(N if M is None else M), 0)
    N = max(operator.index(N), 0)
    matrix = _core.empty((N, columns), dtype, device=device)
    rows, column_numbers = _row_and_column_numbers(N, columns, k, matrix.device)
    result: _core.GPUArray = _core.greater_equal(rows, column_numbers, out=matrix, casting="unsafe")
    return result


@public("Matrices and grids")
def tril(m: _core.GPUArray, k: int = 0) -> _core.GPUArray:
    """Return the lower triangle of matrices: elements above a diagonal are set to 0.

    Parameters
    ----------
    m : GPUArray
        Matrices, in the last two axes; a vector represents a square matrix whose rows all equal the vector.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.tril(PyGPU.ones((2, 2), "int64")).tolist()
    [[1, 0], [1, 1]]
    """
    return _triangle(m, k, "tril")


@public("Matrices and grids")
def triu(m: _core.GPUArray, k: int = 0) -> _core.GPUArray:
    """Return the upper triangle of matrices: elements below a diagonal are set to 0.

    Parameters
    ----------
    m : GPUArray
        Matrices, in the last two axes; a vector represents a square matrix whose rows all equal the vector.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.triu(PyGPU.ones((2, 2), "int64")).tolist()
    [[1, 1], [0, 1]]
    """
    return _triangle(m, k, "triu")


_LARGE = 1 << 20
"""Number of bytes from which a kernel copies a triangle without reading the other one. Operations on smaller arrays are
deferred and fused, which is worth more than the bytes that they need not read."""


def _triangle(m: _core.GPUArray, k: int, function: str) -> _core.GPUArray:
    source = array(m, function)
    if source.ndim == 0:
        raise TypeError(f"{function}: an array without axes is no matrix")
    row_length = source.shape[-1]
    row_count = source.shape[-2] if source.ndim > 1 else row_length
    if source.nbytes >= _LARGE and source.ndim > 1 and isinstance(k, int):
        # `k` is limited to the size of the matrix, so that it fits into 64 bits.
        copied = _core._triangle(source, max(-row_count, min(k, row_length)), function == "triu")
        if copied is not None:
            return copied
    rows, columns = _row_and_column_numbers(row_count, row_length, k, source.device)
    zero = source.dtype.type(0)
    if function == "tril":
        result: _core.GPUArray = _core.where(_core.greater_equal(rows, columns), source, zero)
    else:
        result = _core.where(_core.less_equal(rows, columns), source, zero)
    return result
