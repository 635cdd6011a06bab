"""Functions that compute least-squares solutions, pseudo-inverses, ranks and condition numbers by singular values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._functions.array_arguments import array, arrays
from PyGPU._linalg import solver_library
from PyGPU._linalg.factorizations import svd, svdvals
from PyGPU._linalg.linear_systems import inverse
from PyGPU._linalg.norms import norm
from PyGPU._linalg.operands import (
    check_matrices,
    check_square,
    check_stack,
    common_type,
    conjugate,
    real_type,
    transposed,
)

__all__ = ["cond", "lstsq", "matrix_rank", "pinv"]

_NOT_GIVEN: Any = getattr(np, "_NoValue", object())


def _tolerance(tolerance: Any, like: _core.GPUArray) -> Any:
    """Convert a tolerance to a number, or to an array of one tolerance per matrix with an additional last axis."""
    if isinstance(tolerance, _core.GPUArray):
        return tolerance[..., None]
    if isinstance(tolerance, (str, bytes)):
        raise TypeError(f"a tolerance is a number or an array of numbers, not {tolerance!r}")
    return (
        _core.asarray(np.asarray(tolerance)[..., None], device=like.device) if np.ndim(tolerance) else float(tolerance)
    )


def _inverted(s: _core.GPUArray, cutoff: Any) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Return a mask of the singular values above `cutoff`, and their inverses; the inverse of any other value is 0."""
    is_large: _core.GPUArray = s > cutoff
    one = s.dtype.type(1)
    return is_large, _core.where(is_large, one / _core.where(is_large, s, one), s.dtype.type(0))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = _NOT_GIVEN) -> _core.GPUArray:
    """Compute the pseudo-inverses of matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    rcond, rtol : number or GPUArray, optional
        Singular values up to this multiple of the largest singular value count as 0; give at most one of the two
        arguments. If both are omitted, the multiple is 1e-15 in double precision, and max(rows, columns) times the
        machine epsilon in single precision. ``rtol=None`` selects max(rows, columns) times the machine epsilon in both
        precisions.
    hermitian : bool, optional
        Whether the matrices are Hermitian. True selects a faster method.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.pinv(PyGPU.to_gpu([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.0]]
    """
    a = array(a, "pinv")
    check_stack(a)
    dtype = common_type(a)
    if rcond is not None and rtol is not _NOT_GIVEN:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if not a.size:
        return _core.empty((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype, device=a.device)
    tolerance = rtol if rcond is None else rcond
    if tolerance is _NOT_GIVEN:
        tolerance = 1e-15 if real_type(dtype).itemsize == 8 else None
    if tolerance is None:
        tolerance = max(a.shape[-2:]) * float(np.finfo(dtype).eps)
    u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
    _, inverted = _inverted(s, _tolerance(tolerance, a) * s.max(-1, keepdims=True))
    result: _core.GPUArray = _core.matmul(conjugate(transposed(vh)), inverted[..., None] * conjugate(transposed(u)))
    return result


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> _core.GPUArray:
    """Count the nonzero singular values of matrices.

    Parameters
    ----------
    A : GPUArray
        The matrices, in the last two axes. The rank of a vector is 0 or 1.
    tol : number or GPUArray, optional
        Absolute tolerance: singular values up to `tol` count as 0.
    hermitian : bool, optional
        Whether the matrices are Hermitian. True selects a faster method.
    rtol : number or GPUArray, optional
        Relative tolerance: singular values up to `rtol` times the largest singular value count as 0; defaults to max(M,
        N) times the machine epsilon.

    Returns
    -------
    GPUArray
        Array of integers.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.matrix_rank(PyGPU.ones((3, 3))).item()
    1
    """
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    A = array(A, "matrix_rank")
    if A.ndim < 2:
        is_nonzero: _core.GPUArray = (A != 0).any()
        return is_nonzero.astype(np.int64)
    s = svd(A, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        bound = _tolerance(tol, A)
    else:
        ratio = max(A.shape[-2:]) * float(np.finfo(s.dtype).eps) if rtol is None else _tolerance(rtol, A)
        bound = s.max(-1, keepdims=True, initial=0) * ratio
    return _core.count_nonzero(s > bound, -1)


def cond(x: Any, p: Any = None) -> _core.GPUArray:
    """Compute condition numbers of matrices.

    Parameters
    ----------
    x : GPUArray
        The matrices, in the last two axes. They must be square, except for the norms 2 and -2.
    p : {None, 1, -1, 2, -2, inf, -inf, 'fro', 'nuc'}, optional
        Norm that is applied to the matrix and its inverse; defaults to 2.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.cond(PyGPU.to_gpu([[4.0, 0.0], [0.0, 1.0]])).item()
    4.0
    """
    x = array(x, "cond")
    if x.ndim >= 2 and 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        s = svdvals(x)
        ratio: _core.GPUArray = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        check_square(x)
        dtype = common_type(x)
        numpy_result: Any = _core._by_numpy("linalg.cond", x, (x, p))
        if numpy_result is not NotImplemented:
            result: _core.GPUArray = numpy_result
            return result
        inverted, info = inverse(x, dtype)
        norm_product = norm(x, p, (-2, -1)) * norm(inverted, p, (-2, -1))
        ratio = _core.where(info > 0, real_type(dtype).type(math.inf), norm_product.astype(real_type(dtype)))
    has_nan = _core.isnan(x).any((-2, -1))
    result_without_nan: _core.GPUArray = _core.where(_core.isnan(ratio) & ~has_nan, ratio.dtype.type(math.inf), ratio)
    return result_without_nan


def lstsq(
    a: Any, b: Any, rcond: float | None = None
) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray, _core.GPUArray]:
    """Find the least-squares solution: the smallest `x` that minimizes ``norm(b - a @ x)``.

    Parameters
    ----------
    a : GPUArray
        A matrix.
    b : GPUArray
        Right side: a vector, or a matrix with one right side in each column.
    rcond : float, optional
        Singular values up to this multiple of the largest singular value count as 0. None and negative numbers select
        max(rows, columns) times the machine epsilon.

    Returns
    -------
    x : GPUArray
    residuals : GPUArray
        Sum of squared residuals for each right side; empty if the rank of `a` is less than its number of columns, or if
        `a` has no more rows than columns. The host waits for the rank.
    rank : GPUArray
        Number of singular values of `a` that do not count as 0.
    s : GPUArray
        The singular values of `a`, in descending order.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.to_gpu([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> x, residuals, rank, s = PyGPU.linalg.lstsq(a, PyGPU.to_gpu([1.0, 2.0, 3.0]))
    >>> x.round(6).tolist(), residuals.round(6).tolist(), rank.item()
    ([1.0, 1.0], [9.0], 2)
    """
    a, b = arrays((a, b), "lstsq")
    right_sides = b[:, None] if b.ndim == 1 else b
    check_matrices(a, right_sides)
    if a.shape[0] != right_sides.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    dtype = common_type(a, b)
    numpy_result: Any = solver_library.by_numpy("lstsq", a, b, rcond)
    if numpy_result is not NotImplemented:
        return numpy_result  # type: ignore[no-any-return]
    m, n = a.shape
    if rcond is None or rcond < 0:
        rcond = float(np.finfo(dtype).eps) * max(m, n)
    u, s, vh = svd(a.astype(dtype), full_matrices=False)
    is_large, inverted = _inverted(s, s.max(-1, keepdims=True, initial=0) * rcond)
    right_sides = right_sides.astype(dtype)
    v, uh = conjugate(transposed(vh)), conjugate(transposed(u))

    def projected(right_sides: _core.GPUArray) -> _core.GPUArray:
        return _core.matmul(v, inverted[:, None] * _core.matmul(uh, right_sides))

    # The absolute error of each singular value is about as large as the rounding error of the largest singular value.
    # Small singular values therefore have a large relative error, which affects the solution.
    # One step of iterative refinement removes the error of the solution, if the residual is small.
    x = projected(right_sides)
    x = x + projected(right_sides - _core.matmul(a.astype(dtype), x))
    k = _core.count_nonzero(is_large, -1)
    residuals = _core.empty((0,), real_type(dtype), device=a.device)
    if m > n and k.item() == n:
        residuals = _core.square(_core.abs(right_sides - _core.matmul(a.astype(dtype), x))).sum(0)
    return (x[:, 0] if b.ndim == 1 else x), residuals, k.astype("int32"), s
