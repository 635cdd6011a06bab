"""Functions that solve systems of linear equations, or compute inverses, by LU factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays
from PyGPU._linalg import small_matrices, solver_library
from PyGPU._linalg.operands import (
    check_square,
    common_type,
    copy_column_major,
    copy_in_memory_order,
    identity,
    transposed,
)

__all__ = ["inv", "solve", "tensorinv", "tensorsolve"]

_SINGULAR = "Singular matrix"


def solve(a: Any, b: Any) -> _core.GPUArray:
    """Solve the linear systems ``a @ x = b`` for `x`.

    Parameters
    ----------
    a : GPUArray
        Square matrices, in the last two axes.
    b : GPUArray
        Right sides: a vector if `b` is one-dimensional, otherwise matrices with one right side in each column.

    Returns
    -------
    GPUArray

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular. The host waits for the result. In a capture no error is raised, and singular systems
        result in values that are not finite.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.to_gpu([[2.0, 0.0], [0.0, 4.0]])
    >>> PyGPU.linalg.solve(a, PyGPU.to_gpu([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    a, b = arrays((a, b), "solve")
    check_square(a)
    dtype = common_type(a, b)
    numpy_result: _core.GPUArray = solver_library.by_numpy("solve", a, b)
    if numpy_result is not NotImplemented:
        return numpy_result
    right_sides = b[:, None] if b.ndim == 1 else b
    n = a.shape[-1]
    if b.ndim == 0 or right_sides.shape[-2] != n:
        raise ValueError(f"solve: matrices of {n} rows and right sides of shape {b.shape}, which have others")
    # For one matrix `a`, all right sides of the stack become columns of a single system.
    broadcast_a = a
    if a.ndim > 2:
        shape = np.broadcast_shapes(a.shape[:-2], right_sides.shape[:-2])
        broadcast_a = _core.broadcast_to(a, (*shape, n, n))
        right_sides = _core.broadcast_to(right_sides, (*shape, *right_sides.shape[-2:]))
    if broadcast_a.ndim == right_sides.ndim and (small := small_matrices.solve(broadcast_a, right_sides, dtype)):
        solver_library.check(small[1], _SINGULAR)
        return small[0][..., 0] if b.ndim == 1 else small[0]
    if not right_sides.size:
        x = copy_column_major(right_sides, dtype)
    else:
        factors, is_transposed = copy_in_memory_order(broadcast_a, dtype)
        lu = solver_library.lu(factors)
        # The host prepares the right sides while the device factorizes.
        x = copy_column_major(right_sides, dtype)
        solver_library.lu_solve(lu, x, is_transposed)
        solver_library.check(lu.info, _SINGULAR)
    return transposed(x)[..., 0] if b.ndim == 1 else transposed(x)


def inverse(a: _core.GPUArray, dtype: np.dtype[Any]) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Compute inverses of matrices on a GPU; also return the status of each matrix."""
    if small := small_matrices.inverse(a, dtype):
        return small
    factors, is_transposed = copy_in_memory_order(a, dtype)
    lu = solver_library.lu(factors)
    result = identity(a, a.shape[-1], a.shape[-1], dtype)
    solver_library.lu_solve(lu, result, False)
    # The inverse of a transposed matrix, in column order, has the layout of the inverse in C order.
    return (result if is_transposed else transposed(result)), lu.info


def inv(a: Any) -> _core.GPUArray:
    """Compute the inverses of square matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.

    Returns
    -------
    GPUArray

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is singular, as for `solve`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.inv(PyGPU.to_gpu([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = array(a, "inv")
    check_square(a)
    dtype = common_type(a)
    numpy_result: _core.GPUArray = solver_library.by_numpy("inv", a)
    if numpy_result is not NotImplemented:
        return numpy_result
    if not a.size:
        return _core.empty(a.shape, dtype, device=a.device)
    result, info = inverse(a, dtype)
    solver_library.check(info, _SINGULAR)
    return result


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> _core.GPUArray:
    """Solve the tensor equation ``tensordot(a, x, x.ndim) = b`` for `x`.

    Parameters
    ----------
    a : GPUArray
        Array whose first axes have the lengths of the axes of `b`. The remaining axes are the axes of the result. Their
        lengths have the same product as the lengths of the first axes.
    b : GPUArray
        Right side of the equation.
    axes : sequence of ints, optional
        Axes of `a` that are moved to the end before solving.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.eye(4).reshape(2, 2, 4)
    >>> PyGPU.linalg.tensorsolve(a, PyGPU.ones((2, 2))).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    a, b = arrays((a, b), "tensorsolve")
    if axes is not None:
        order = list(range(a.ndim))
        for axis in axes:
            order.remove(axis)
            order.insert(a.ndim, axis)
        a = a.transpose(order)
    shape = a.shape[b.ndim - a.ndim :]
    count = math.prod(shape)
    if a.size != count**2:
        raise LinAlgError("Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])")
    return solve(a.reshape(count, count), b.reshape(-1)).reshape(shape)


def tensorinv(a: Any, ind: int = 2) -> _core.GPUArray:
    """Compute the inverse with respect to `tensordot`: ``tensordot(tensorinv(a), a, ind)`` is an identity.

    Parameters
    ----------
    a : GPUArray
        Array in which the product of the lengths of the first `ind` axes equals the product of the lengths of all other
        axes.
    ind : int, optional
        Number of axes in the first group.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.tensorinv(PyGPU.eye(4).reshape(2, 2, 2, 2)).shape
    (2, 2, 2, 2)
    """
    a = array(a, "tensorinv")
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    count = math.prod(a.shape[ind:])
    return inv(a.reshape(count, -1)).reshape(*a.shape[ind:], *a.shape[:ind])
