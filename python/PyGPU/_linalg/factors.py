"""Cholesky, QR and singular value decompositions."""

from __future__ import annotations

from typing import Any, Literal, overload

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._functions.matrices import tril, triu
from PyGPU._functions.selection import take_along_axis
from PyGPU._linalg import library
from PyGPU._linalg.eigen import eigh, eigvalsh
from PyGPU._linalg.operands import (
    as_they_lie,
    check_square,
    check_stack,
    columns,
    common_type,
    conjugated,
    identity,
    real_type,
    rows,
    turned,
)
from PyGPU._linalg.results import QRResult, SVDResult

__all__ = ["cholesky", "qr", "svd", "svdvals"]

_NOT_CONVERGED = "SVD did not converge"


def cholesky(a: Any, /, *, upper: bool = False) -> _core.GPUArray:
    """Factorise positive definite matrices into a triangular matrix and its conjugate transpose.

    Parameters
    ----------
    a : GPUArray
        Hermitian matrices, in the last two axes; only one triangle is read.
    upper : bool, optional
        Whether the upper triangle is read and returned, instead of the lower one.

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
    # By keyword only if needed: NumPy has `upper` from 2.0 on.
    done: _core.GPUArray = library.by_numpy("cholesky", a, **({"upper": True} if upper else {}))
    if done is not NotImplemented:
        return done
    made = rows(a, dtype)
    # In column order the lower triangle is the upper one of the conjugates: in row order their factor is the result.
    info = library.cholesky(made, is_lower=upper) if made.size else None
    root = triu(made) if upper else tril(made)
    # After the last launch, because the host waits here.
    if info is not None:
        library.check(info, "Matrix is not positive definite")
    return root


@overload
def qr(a: Any, mode: Literal["reduced", "complete"] = "reduced") -> QRResult: ...
@overload
def qr(a: Any, mode: Literal["r"]) -> _core.GPUArray: ...
@overload
def qr(a: Any, mode: Literal["raw"]) -> tuple[_core.GPUArray, _core.GPUArray]: ...
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factorise matrices into orthonormal columns and an upper triangle.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    mode : {'reduced', 'complete', 'r', 'raw'}, optional
        As many columns as needed, a complete basis, the triangle only, or the reflectors and their factors in
        LAPACK's layout, transposed.

    Returns
    -------
    QRResult, GPUArray or tuple of GPUArray
        `Q` and `R`, or the results selected by `mode`.

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
    done: Any = library.by_numpy("qr", a, mode)
    if done is not NotImplemented:
        return QRResult(*done) if mode in ("reduced", "complete") else done
    m, n = a.shape[-2:]
    few = min(m, n)
    made = columns(a, dtype)
    factors = library.qr(made) if made.size else _core.empty((*a.shape[:-2], few), dtype, device=a.device)
    if mode == "raw":
        return made, factors
    wide = m if mode == "complete" else few
    triangle = triu(turned(made)[..., :wide, :])
    if mode == "r":
        return triangle
    if not made.size:
        return QRResult(identity(a, m, wide, dtype), triangle)
    if wide != n:
        reflectors = made
        made = _core.empty((*a.shape[:-2], wide, m), dtype, device=a.device)
        made[..., :few, :] = reflectors[..., :few, :]
    library.qr_vectors(made, factors)
    return QRResult(turned(made), triangle)


def _by_eigh(a: _core.GPUArray, compute_uv: bool) -> Any:
    """Return the singular values of Hermitian matrices: the absolute eigenvalues in descending order."""
    if not compute_uv:
        return _core.flip(_core.sort(_core.abs(eigvalsh(a)), -1), -1)
    values, vectors = eigh(a)
    sizes: _core.GPUArray = _core.abs(values)
    order = _core.flip(_core.argsort(sizes, -1), -1)
    signs = take_along_axis(_core.copysign(values.dtype.type(1), values), order, -1)
    left = take_along_axis(vectors, order[..., None, :], -1)
    return SVDResult(left, take_along_axis(sizes, order, -1), conjugated(turned(left * signs[..., None, :])))


def _on_device(a: _core.GPUArray, dtype: Any, full: bool, vectors: bool) -> SVDResult:
    matrices, is_turned = as_they_lie(a, dtype)
    u, s, v, info = library.svd(matrices, vectors, full)
    if library.has_worked(info):
        # The library's right vectors are columns; they are the conjugated left vectors of the transposes.
        sides = (conjugated(turned(v)), u) if is_turned else (turned(u), conjugated(v))
        return SVDResult(sides[0], s, sides[1])
    is_wide = a.shape[-1] > a.shape[-2]
    u, s, v, info = library.svd_by_qr(rows(a, dtype) if is_wide else columns(a, dtype), vectors, full)
    library.check(info, _NOT_CONVERGED)
    return SVDResult(v, s, u) if is_wide else SVDResult(turned(u), s, turned(v))


@overload
def svd(a: Any, full_matrices: bool = True, compute_uv: Literal[True] = True, hermitian: bool = False) -> SVDResult: ...
@overload
def svd(
    a: Any, full_matrices: bool = True, *, compute_uv: Literal[False], hermitian: bool = False
) -> _core.GPUArray: ...
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Factorise matrices by their singular values.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.
    full_matrices : bool, optional
        Whether the vectors of each side form a complete basis.
    compute_uv : bool, optional
        Whether to compute the vectors.
    hermitian : bool, optional
        Whether the matrices are Hermitian, which is faster.

    Returns
    -------
    SVDResult or GPUArray
        `U`, `S` in descending order, and `Vh`; only the values without `compute_uv`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iterations do not converge. The host waits for the result, except in a capture.

    Examples
    --------
    >>> import PyGPU
    >>> u, s, vh = PyGPU.linalg.svd(PyGPU.to_gpu([[0.0, 2.0], [1.0, 0.0]]))
    >>> s.tolist()
    [2.0, 1.0]
    """
    a = array(a, "svd")
    check_stack(a)
    dtype = common_type(a)
    if hermitian:
        return _by_eigh(a, compute_uv)
    done: Any = library.by_numpy("svd", a, full_matrices, compute_uv)
    if done is not NotImplemented:
        return SVDResult(*done) if compute_uv else done
    m, n = a.shape[-2:]
    few = min(m, n)
    if a.size:
        made = _on_device(a, dtype, full_matrices, compute_uv)
    else:
        left, right = (m, n) if full_matrices else (few, few)
        values = _core.empty((*a.shape[:-2], few), real_type(dtype), device=a.device)
        made = SVDResult(identity(a, m, left, dtype), values, identity(a, right, n, dtype))
    return made if compute_uv else made.S


def svdvals(x: Any, /) -> _core.GPUArray:
    """Compute singular values in descending order.

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
    >>> PyGPU.linalg.svdvals(PyGPU.to_gpu([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [2.0, 1.0]
    """
    return svd(x, compute_uv=False)
