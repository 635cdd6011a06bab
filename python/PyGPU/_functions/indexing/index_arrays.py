"""Functions that return indices of diagonals, triangles and grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays
from PyGPU._functions.masks import nonzero
from PyGPU._functions.matrices import tri
from PyGPU._names.docstrings import documented_like
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike

_Indices = tuple[_core.GPUArray, ...]


@public("Matrices and grids")
def diag_indices(n: int, ndim: int = 2, *, device: DeviceLike = None) -> _Indices:
    """Return the indices of an array's main diagonal.

    Parameters
    ----------
    n : int
        Length of each axis of the array.
    ndim : int, optional
        Number of axes.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    tuple of GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.zeros((2, 2))[PyGPU.diag_indices(2)].tolist()
    [0.0, 0.0]
    """
    return (_core.arange(n, device=device),) * ndim


@public("Matrices and grids")
def diag_indices_from(arr: _core.GPUArray) -> _Indices:
    """Return the indices of an array's main diagonal.

    Parameters
    ----------
    arr : GPUArray
        Array with two or more axes of equal length.

    Returns
    -------
    tuple of GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.diag_indices_from(PyGPU.zeros((2, 2)))]
    [[0, 1], [0, 1]]
    """
    arr = array(arr, "diag_indices_from")
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim, device=arr.device)


@public("Matrices and grids")
def tril_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None) -> _Indices:
    """Return the indices of the elements at and below a diagonal; the host waits for their number.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.
    m : int, optional
        Number of columns; defaults to the number of rows.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    tuple of GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return nonzero(tri(n, m, k, bool, device=device))


@public("Matrices and grids")
@documented_like(tril_indices)
def triu_indices(n: int, k: int = 0, m: int | None = None, *, device: DeviceLike = None) -> _Indices:
    """Return the indices of the elements at and above a diagonal; the host waits for their number.

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(_core.logical_not(tri(n, m, k - 1, bool, device=device)))


def _matrix_indices(indices: Callable[..., _Indices], arr: _core.GPUArray, k: int, name: str) -> _Indices:
    """Return the indices of selected elements of a matrix; the function `indices` computes them from the shape."""
    arr = array(arr, name)
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return indices(arr.shape[0], k, arr.shape[1], device=arr.device)


@public("Matrices and grids")
def tril_indices_from(arr: _core.GPUArray, k: int = 0) -> _Indices:
    """Return the indices of the elements of a matrix at and below a diagonal; the host waits for their number.

    Parameters
    ----------
    arr : GPUArray
        The matrix.
    k : int, optional
        Index of the diagonal: 0 is the main diagonal, and positive indices are above it.

    Returns
    -------
    tuple of GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.tril_indices_from(PyGPU.zeros((2, 2)), -1)]
    [[1], [0]]
    """
    return _matrix_indices(tril_indices, arr, k, "tril_indices_from")


@public("Matrices and grids")
@documented_like(tril_indices_from)
def triu_indices_from(arr: _core.GPUArray, k: int = 0) -> _Indices:
    """Return the indices of the elements of a matrix at and above a diagonal; the host waits for their number.

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.triu_indices_from(PyGPU.zeros((2, 2)), 1)]
    [[0], [1]]
    """
    return _matrix_indices(triu_indices, arr, k, "triu_indices_from")


@public("Matrices and grids")
@documented_like(tril_indices)
def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0, *, device: DeviceLike = None) -> _Indices:
    """Return the indices of the matrix elements that a function leaves nonzero; the host waits for their number.

    Parameters
    ----------
    mask_func : callable
        Function of a matrix of ones and `k`, such as `triu`.
    k : object, optional
        Argument of the function.

    Examples
    --------
    >>> import PyGPU
    >>> [one.tolist() for one in PyGPU.mask_indices(2, PyGPU.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(_core.ones((n, n), int, device=device), k) != 0)


def _as_index_array(values: Any) -> _core.GPUArray:
    """Convert indices to an array; an empty list becomes an array of integers."""
    converted = _core.asarray(values)
    return converted if converted.size or isinstance(values, np.ndarray) else converted.astype(np.int64)


@public("Matrices and grids")
def ix_(*args: Any) -> _Indices:
    """Return index arrays of an open grid: ``a[PyGPU.ix_(rows, columns)]`` selects all crossings of rows and columns.

    Parameters
    ----------
    *args : GPUArray
        One-dimensional arrays of integers or bools. For bools the host waits for the number of true elements.

    Returns
    -------
    tuple of GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> rows, columns = PyGPU.to_gpu([0, 1]), PyGPU.to_gpu([2])
    >>> PyGPU.arange(6).reshape(2, 3)[PyGPU.ix_(rows, columns)].tolist()
    [[2], [5]]
    """
    sequences = [sequence if isinstance(sequence, _core.GPUArray) else _as_index_array(sequence) for sequence in args]
    result = []
    for axis, sequence in enumerate(arrays(sequences, "ix_")):
        if sequence.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        indices = nonzero(sequence)[0] if sequence.dtype.kind == "b" else sequence
        result.append(indices.reshape((1,) * axis + (-1,) + (1,) * (len(args) - axis - 1)))
    return tuple(result)
