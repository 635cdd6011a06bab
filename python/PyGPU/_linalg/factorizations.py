"""Functions for Cholesky, QR and singular value decompositions."""

from __future__ import annotations

from typing import Any, Literal, overload

from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._functions.matrices import triu
from PyGPU._functions.selection import take_along_axis
from PyGPU._linalg import small_matrices, solver_library
from PyGPU._linalg.eigen import eigh, eigvalsh
from PyGPU._linalg.operands import (
    check_square,
    check_stack,
    common_type,
    conjugate,
    copy_column_major,
    copy_in_memory_order,
    copy_row_major,
    identity,
    real_type,
    transposed,
)
from PyGPU._linalg.results import QRResult, SVDResult

__all__ = ["cholesky", "qr", "svd", "svdvals"]

_NOT_CONVERGED = "SVD did not converge"
_NOT_POSITIVE = "Matrix is not positive definite"


def cholesky(a: Any, /, *, upper: bool = False) -> _core.GPUArray:
    """Factorise positive definite matrices into a triangular factor and its conjugate transpose; return the factor.

    Parameters
    ----------
    a : GPUArray
        Hermitian matrices, in the last two axes; only one triangle is read.
    upper : bool, optional
        Whether the upper triangle is read and returned instead of the lower triangle.

    Returns
    -------
    GPUArray

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not positive definite. The host waits for the result, except in a capture.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.cholesky(PyGPU.to_gpu([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    a = array(a, "cholesky")
    check_square(a)
    dtype = common_type(a)
    # `upper` is passed to NumPy only if it is true, because NumPy before 2.0 lacks the parameter.
    numpy_result: _core.GPUArray = solver_library.by_numpy("cholesky", a, **({"upper": True} if upper else {}))
    if numpy_result is not NotImplemented:
        return numpy_result
    if small := small_matrices.cholesky(a, dtype, upper):
        solver_library.check(small[1], _NOT_POSITIVE)
        return small[0]
    # The library is twice as fast for lower triangles, so it always receives a lower triangle. The library reads a
    # matrix in C order as the matrix's transpose, whose lower triangle is the matrix's upper triangle.
    work = copy_row_major(a, dtype) if upper else copy_column_major(a, dtype)
    info = solver_library.cholesky(work, is_lower=True) if work.size else None
    if upper:
        factor = triu(work)
    else:
        factor = _core.empty(a.shape, dtype, device=a.device)
        _core._copy_lower_triangle(work, factor)
    # The host waits for the check, which therefore follows the last launch.
    if info is not None:
        solver_library.check(info, _NOT_POSITIVE)
    return factor


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> _core.GPUArray: ...
@overload
def qr(a: Any, mode: Literal["raw"]) -> tuple[_core.GPUArray, _core.GPUArray]: ...
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factorise matrices into a matrix with orthonormal columns and an upper triangular matrix.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    mode : {'reduced', 'complete', 'r', 'raw'}, optional
        ``'reduced'``: `Q` has min(rows, columns) columns. ``'complete'``: `Q` is square. ``'r'``: only `R` is returned.
        ``'raw'``: the Householder reflectors and their factors are returned, in LAPACK's layout, transposed.

    Returns
    -------
    QRResult, GPUArray or tuple of GPUArray
        Named tuple of `Q` and `R`, or the results that `mode` selects.

    Examples
    --------
    >>> import PyGPU
    >>> q, r = PyGPU.linalg.qr(PyGPU.ones((4, 2)))
    >>> q.shape, r.shape
    ((4, 2), (2, 2))
    """
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    a = array(a, "qr")
    check_stack(a)
    dtype = common_type(a)
    numpy_result: Any = solver_library.by_numpy("qr", a, mode)
    if numpy_result is not NotImplemented:
        return QRResult(*numpy_result) if mode in ("reduced", "complete") else numpy_result
    m, n = a.shape[-2:]
    k = min(m, n)
    work = copy_column_major(a, dtype)
    factors = solver_library.qr(work) if work.size else _core.empty((*a.shape[:-2], k), dtype, device=a.device)
    if mode == "raw":
        return work, factors
    column_count = m if mode == "complete" else k
    triangle = triu(transposed(work)[..., :column_count, :])
    if mode == "r":
        return triangle
    if not work.size:
        return QRResult(identity(a, m, column_count, dtype), triangle)
    if column_count != n:
        reflectors = work
        work = _core.empty((*a.shape[:-2], column_count, m), dtype, device=a.device)
        work[..., :k, :] = reflectors[..., :k, :]
    solver_library.qr_vectors(work, factors)
    return QRResult(transposed(work), triangle)


def _by_eigh(a: _core.GPUArray, compute_uv: bool) -> Any:
    """Compute the singular values of Hermitian matrices as the sorted absolute values of their eigenvalues."""
    if not compute_uv:
        return _core.flip(_core.sort(_core.abs(eigvalsh(a)), -1), -1)
    values, vectors = eigh(a)
    magnitudes: _core.GPUArray = _core.abs(values)
    order = _core.flip(_core.argsort(magnitudes, -1), -1)
    signs = take_along_axis(_core.copysign(values.dtype.type(1), values), order, -1)
    left = take_along_axis(vectors, order[..., None, :], -1)
    return SVDResult(left, take_along_axis(magnitudes, order, -1), conjugate(transposed(left * signs[..., None, :])))


def _orthonormalized(columns: _core.GPUArray) -> _core.GPUArray:
    """Make nearly orthonormal columns more orthonormal by one Newton-Schulz step.

    If the columns deviate from orthonormality by e, the result deviates by about e^2. Source: N. J. Higham, "Functions
    of Matrices", SIAM 2008, section 8.3.
    """
    step = identity(columns, columns.shape[-1], columns.shape[-1], columns.dtype) * 1.5
    return columns @ (step - conjugate(transposed(columns)) @ columns * 0.5)


def _refined(a: _core.GPUArray, u: _core.GPUArray, vh: _core.GPUArray) -> SVDResult:
    """Compute a more accurate singular value decomposition from the singular vectors that the library computed.

    After the library's Jacobi iterations the lengths of the vectors are not exactly 1. The singular values have the
    same relative error: 1600 units of the type's precision for a 1000 x 1000 matrix. With vectors of length 1, the
    values u^H A v have an error of about 15 units.
    """
    left, right = _orthonormalized(u), _orthonormalized(conjugate(transposed(vh)))
    count = min(a.shape[-2:])
    values = abs(_core.sum(conjugate(left[..., :count]) * (a @ right[..., :count]), -2))
    # Rounding may change the order of nearly equal values; the cumulative minimum makes them descending again.
    return SVDResult(left, _core.minimum.accumulate(values, -1), conjugate(transposed(right)))


def _on_device(a: _core.GPUArray, dtype: Any, full: bool, vectors: bool) -> SVDResult:
    # The elements are tested first, because cuSOLVER's iterations for infinities or NaN may never end, or may return
    # NaN without an error.
    if a.dtype.kind in "fc" and not _core.isfinite(a).all():
        raise LinAlgError(_NOT_CONVERGED)
    matrices, is_transposed = copy_in_memory_order(a, dtype)
    # The singular vectors are always computed, because `_refined` computes the singular values from the vectors.
    u, _, v, info = solver_library.svd(matrices, True, vectors and full)
    m, n = a.shape[-2:]
    counts = (m, n) if vectors and full else (min(m, n),) * 2
    # The library returns the right vectors as columns.
    # The right vectors of a transposed matrix are the conjugates of the matrix's left vectors.
    left, right = (v, u) if is_transposed else (u, v)
    refined = small_matrices.refine(a, (left, right), is_transposed, counts)
    if refined is None:
        left, right = left[..., : counts[0], :], right[..., : counts[1], :]
        left, right = (conjugate(left), right) if is_transposed else (left, conjugate(right))
        refined = _refined(a.astype(dtype, copy=False), transposed(left), right)
    # The host waits for the status, which is therefore tested after the last launch.
    if solver_library.succeeded(info):
        return refined
    is_wide = a.shape[-1] > a.shape[-2]
    u, s, v, info = solver_library.svd_by_qr(
        copy_row_major(a, dtype) if is_wide else copy_column_major(a, dtype), vectors, full
    )
    solver_library.check(info, _NOT_CONVERGED)
    return SVDResult(v, s, u) if is_wide else SVDResult(transposed(u), s, transposed(v))


@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False) -> SVDResult: ...
@overload
def svd(
    a: Any, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False
) -> _core.GPUArray: ...
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Compute the singular value decomposition of matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    full_matrices : bool, optional
        Whether `U` and `Vh` are square, instead of having min(rows, columns) columns or rows.
    compute_uv : bool, optional
        Whether to compute `U` and `Vh` as well as the singular values.
    hermitian : bool, optional
        Whether the matrices are Hermitian. True selects a faster method.

    Returns
    -------
    SVDResult or GPUArray
        Named tuple of `U`, `S` in descending order, and `Vh`; only `S` if `compute_uv` is False.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iterations do not converge. The host waits for the result, except in a capture.

    Examples
    --------
    >>> import PyGPU
    >>> u, s, vh = PyGPU.linalg.svd(PyGPU.to_gpu([[0.0, 2.0], [1.0, 0.0]]))
    >>> s.round(6).tolist()
    [2.0, 1.0]
    """
    a = array(a, "svd")
    check_stack(a)
    dtype = common_type(a)
    if hermitian:
        return _by_eigh(a, compute_uv)
    numpy_result: Any = solver_library.by_numpy("svd", a, full_matrices, compute_uv)
    if numpy_result is not NotImplemented:
        return SVDResult(*numpy_result) if compute_uv else numpy_result
    m, n = a.shape[-2:]
    k = min(m, n)
    if a.size:
        result = _on_device(a, dtype, full_matrices, compute_uv)
    else:
        u_columns, v_rows = (m, n) if full_matrices else (k, k)
        values = _core.empty((*a.shape[:-2], k), real_type(dtype), device=a.device)
        result = SVDResult(identity(a, m, u_columns, dtype), values, identity(a, v_rows, n, dtype))
    return result if compute_uv else result.S


def svdvals(x: Any, /) -> _core.GPUArray:
    """Compute the singular values of matrices, in descending order.

    Parameters
    ----------
    x : GPUArray
        Matrices, in the last two axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.svdvals(PyGPU.to_gpu([[0.0, 2.0], [1.0, 0.0]])).round(6).tolist()
    [2.0, 1.0]
    """
    return svd(x, compute_uv=False)
