"""Call cuSOLVER or hipSOLVER, which factorise stacks of matrices in place.

The matrices must be in column order; the module `operands` copies matrices to this order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._linalg.operands import real_type

__all__: list[str] = []

SMALL = 32
"""Maximum number of rows or columns for which a stack of matrices is factorised in one batch, by rotations."""

_SMALL_CHOLESKY = 256
_MEDIUM = 512


def _empty(like: _core.GPUArray, shape: tuple[int, ...], dtype: Any) -> _core.GPUArray:
    return _core.empty(shape, dtype, device=like.device)


def _stack(a: _core.GPUArray) -> tuple[tuple[int, ...], int, int, int]:
    """Return a stack's shape without the matrix axes, and the numbers of matrices, rows and columns."""
    shape = a.shape[:-2]
    return shape, math.prod(shape), a.shape[-1], a.shape[-2]


def check(info: _core.GPUArray, sentence: str) -> None:
    """Raise an error if the factorisation of a matrix failed. The host waits for the status, except in a capture."""
    if not succeeded(info):
        raise LinAlgError(sentence)


def succeeded(info: _core.GPUArray) -> bool:
    """Return whether all matrices were factorised; return true in a capture, where the host cannot wait."""
    if _core.current_stream(info.device).is_capturing:
        return True
    return not (info.item() if info.size == 1 else info.get().any())


def _fills_device(batch: int, n: int) -> bool:
    """Return whether one call for a stack is faster than one call per matrix, which uses the whole device if large."""
    return batch > 1 and n <= min(_MEDIUM, batch * SMALL)


def by_numpy(name: str, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of `numpy.linalg` if the arrays are in host memory; otherwise return NotImplemented."""
    return _core._by_numpy(f"linalg.{name}", arguments[0], arguments, keywords or None)


class LU(NamedTuple):
    """Result of the LU factorisation of a stack of matrices: triangular factors, pivots and status."""

    factors: _core.GPUArray
    pivots: _core.GPUArray
    """Row exchanges: for each row, the number of the row with which it was exchanged, counted from 1."""
    info: _core.GPUArray
    addresses: _core.GPUArray | None
    """Address of each matrix; None unless the stack was factorised in one batch."""


def _addresses(a: _core.GPUArray) -> _core.GPUArray:
    """Return a device array with the address of each matrix of a stack.

    The device computes the addresses, because a capture does not permit copies from the host.
    """
    _, batch, columns, rows = _stack(a)
    step = columns * rows * a.dtype.itemsize
    return _core.arange(a.ptr, a.ptr + batch * step, step, dtype="uint64", device=a.device)


def lu(a: _core.GPUArray) -> LU:
    """Factorise a stack of square matrices in place into triangular factors."""
    shape, batch, n, _ = _stack(a)
    pivots, info = _empty(a, (*shape, n), "int32"), _empty(a, shape, "int32")
    if _fills_device(batch, n):
        addresses = _addresses(a)
        if _core._factorize("lu_of_many", [a, addresses, pivots, info], batch, [n, n, 0], False, False):
            return LU(a, pivots, info, addresses)
    _core._factorize("lu", [a, pivots, info], batch, [n, n, 0], False, False)
    return LU(a, pivots, info, None)


def lu_solve(lu: LU, b: _core.GPUArray, is_transposed: bool) -> None:
    """Solve linear systems by LU factors, and overwrite the right sides `b` by the solutions."""
    a, pivots, _, addresses = lu
    shape, batch, n, _ = _stack(a)
    sizes = [n, n, b.size // (n * batch)]
    if addresses is not None:
        operands = [a, addresses, pivots, b, _addresses(b)]
        if _core._factorize("lu_solve_of_many", operands, batch, sizes, is_transposed, False):
            return
    _core._factorize("lu_solve", [a, pivots, b, _empty(a, shape, "int32")], batch, sizes, is_transposed, False)


def cholesky(a: _core.GPUArray, is_lower: bool) -> _core.GPUArray:
    """Overwrite matrices by their Cholesky factors, and return the status of each matrix."""
    shape, batch, n, _ = _stack(a)
    info = _empty(a, shape, "int32")
    if batch == 1 or n > _SMALL_CHOLESKY:
        _core._factorize("cholesky", [a, info], batch, [n, n, 0], is_lower, False)
    else:
        _core._factorize("cholesky_of_many", [a, _addresses(a), info], batch, [n, n, 0], is_lower, False)
    return info


def qr(a: _core.GPUArray) -> _core.GPUArray:
    """Overwrite matrices by the triangle and the reflectors of their QR factorisation.

    Return the scalar factors of the reflectors, as LAPACK's `geqrf` does.
    """
    shape, batch, m, n = _stack(a)
    factors, info = _empty(a, (*shape, min(m, n)), a.dtype), _empty(a, shape, "int32")
    _core._factorize("qr", [a, factors, info], batch, [m, n, 0], False, False)
    return factors


def qr_vectors(a: _core.GPUArray, factors: _core.GPUArray) -> None:
    """Overwrite the reflectors that `qr` computed by the orthonormal columns."""
    shape, batch, m, n = _stack(a)
    info = _empty(a, shape, "int32")
    _core._factorize("qr_vectors", [a, factors, info], batch, [m, n, factors.shape[-1]], False, False)


def eigh(a: _core.GPUArray, is_lower: bool, vectors: bool) -> tuple[_core.GPUArray, _core.GPUArray]:
    """Return the eigenvalues and the status of each matrix; overwrite the matrices by the eigenvectors."""
    shape, batch, n, _ = _stack(a)
    w, info = _empty(a, (*shape, n), real_type(a.dtype)), _empty(a, shape, "int32")
    operands = [a, w, info], batch, [n, n, 0], is_lower, vectors
    if not (_fills_device(batch, n) and _core._factorize("eigh_of_many", *operands)):
        _core._factorize("eigh", *operands)
    return w, info


def svd(a: _core.GPUArray, vectors: bool, full: bool) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray, Any]:
    """Compute singular value decompositions; return left vectors, values, right vectors and status.

    The vectors are in column order. A stack of small matrices has full bases even if `full` is false.
    """
    shape, batch, m, n = _stack(a)
    k = min(m, n)
    is_many = batch > 1 and max(m, n) <= SMALL
    u_columns, v_columns = (m, n) if is_many or (vectors and full) else (k, k)
    # Some versions of the library access the buffers for singular vectors even if no vectors are computed.
    u, v = _empty(a, (*shape, u_columns, m), a.dtype), _empty(a, (*shape, v_columns, n), a.dtype)
    s, info = _empty(a, (*shape, k), real_type(a.dtype)), _empty(a, shape, "int32")
    name = "svd_of_many" if is_many else "svd"
    _core._factorize(name, [a, s, u, v, info], batch, [m, n, 0], vectors, vectors and full)
    return u, s, v, info


def svd_by_qr(
    a: _core.GPUArray, vectors: bool, full: bool
) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray, Any]:
    """Compute singular value decompositions by QR iterations, for matrices for which `svd` fails.

    The right vectors are conjugated, and are the rows of matrices in column order.
    """
    shape, batch, m, n = _stack(a)
    u = _empty(a, (*shape, m if vectors and full else n, m), a.dtype)
    v = _empty(a, (*shape, n, n), a.dtype)
    s, info = _empty(a, (*shape, n), real_type(a.dtype)), _empty(a, shape, "int32")
    _core._factorize("svd_by_qr", [a, s, u, v, info], batch, [m, n, 0], vectors, vectors and full)
    return u, s, v, info


def eig(a: _core.GPUArray, vectors: bool) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray]:
    """Compute the complex eigenvalues and the eigenvectors, in column order, of matrices; return also the status.

    The eigenvalues and eigenvectors of a real matrix are real or form exact pairs of conjugates. For a pair the library
    stores the real and the imaginary part of the first eigenvector, as LAPACK's `geev` does.
    """
    shape, batch, n, _ = _stack(a)
    of_values = np.result_type(a.dtype, np.complex64)
    w, v, info = _empty(a, (*shape, n), of_values), _empty(a, (*shape, n, n), a.dtype), _empty(a, shape, "int32")
    _core._factorize("eig", [a, w, v, info], batch, [n, n, 0], vectors, False)
    return w, _complex_vectors(w, v) if vectors and a.dtype.kind == "f" else v, info


def _complex_vectors(w: _core.GPUArray, v: _core.GPUArray) -> _core.GPUArray:
    """Convert eigenvectors of real matrices from the form of LAPACK's `geev` to one complex vector in each row."""
    is_first, is_second = ((_core.sign(w.imag) == sign)[..., None] for sign in (1, -1))
    vectors = _core.zeros(v.shape, w.dtype, device=v.device)
    vectors.real[..., :1, :] = v[..., :1, :]
    vectors.real[..., 1:, :] = _core.where(is_second[..., 1:, :], v[..., :-1, :], v[..., 1:, :])
    vectors.imag[..., :-1, :] = _core.where(is_first[..., :-1, :], v[..., 1:, :], 0)
    vectors.imag[..., 1:, :] -= _core.where(is_second[..., 1:, :], v[..., 1:, :], 0)
    return vectors
