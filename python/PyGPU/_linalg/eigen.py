"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._linalg import library
from PyGPU._linalg.operands import check_square, columns, common_type, real_type, turned
from PyGPU._linalg.results import EighResult, EigResult

__all__ = ["eig", "eigh", "eigvals", "eigvalsh"]

_NOT_CONVERGED = "Eigenvalues did not converge"


def _checked(a: Any, function: str, UPLO: str) -> tuple[_core.GPUArray, np.dtype[Any]]:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    given = array(a, function)
    check_square(given)
    return given, common_type(given)


def _symmetric(a: _core.GPUArray, dtype: np.dtype[Any], is_lower: bool, vectors: bool) -> EighResult:
    made = columns(a, dtype)
    if not made.size:
        return EighResult(_core.empty(a.shape[:-1], real_type(dtype), device=a.device), turned(made))
    values, info = library.eigh(made, is_lower, vectors)
    library.check(info, _NOT_CONVERGED)
    return EighResult(values, turned(made))


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Compute eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : GPUArray
        Matrices, in the last two axes; only one triangle is read.
    UPLO : {'L', 'U'}, optional
        The lower or the upper triangle.

    Returns
    -------
    EighResult
        `eigenvalues`, in ascending order, and `eigenvectors`, in columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the iterations do not converge. The host waits for the result, except in a capture.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.eigh(PyGPU.to_gpu([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]
    """
    given, dtype = _checked(a, "eigh", UPLO)
    done: Any = library.by_numpy("eigh", given, UPLO)
    return _symmetric(given, dtype, UPLO.upper() == "L", True) if done is NotImplemented else EighResult(*done)


def eigvalsh(a: Any, UPLO: str = "L") -> _core.GPUArray:
    """Compute the eigenvalues of Hermitian matrices, in ascending order.

    Parameters
    ----------
    a : GPUArray
        Matrices, in the last two axes; only one triangle is read.
    UPLO : {'L', 'U'}, optional
        The lower or the upper triangle.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.eigvalsh(PyGPU.to_gpu([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    given, dtype = _checked(a, "eigvalsh", UPLO)
    done: _core.GPUArray = library.by_numpy("eigvalsh", given, UPLO)
    return _symmetric(given, dtype, UPLO.upper() == "L", False).eigenvalues if done is NotImplemented else done


def _general(a: Any, function: str, vectors: bool) -> EigResult:
    given = array(a, function)
    check_square(given)
    dtype = np.result_type(common_type(given), np.complex64)
    done: Any = library.by_numpy(function, given)
    if done is not NotImplemented:
        # NumPy returns real values if no imaginary part remains; here the type does not depend on values.
        values, columned = (one.astype(dtype) for one in (done if vectors else (done, done)))
        return EigResult(values, columned)
    made = columns(given, dtype)
    if not made.size:
        return EigResult(_core.empty(given.shape[:-1], dtype, device=given.device), turned(made))
    if not _core.current_stream(given.device).is_capturing and not _core.isfinite(given).all():
        raise LinAlgError("Array must not contain infs or NaNs")
    values, columned, info = library.eig(made, vectors)
    library.check(info, _NOT_CONVERGED)
    return EigResult(values, turned(columned))


def eig(a: Any) -> EigResult:
    """Compute eigenvalues and eigenvectors of arbitrary square matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.

    Returns
    -------
    EigResult
        `eigenvalues`, unordered, and `eigenvectors`, in columns. They are complex; NumPy returns real ones if no
        eigenvalue has an imaginary part.

    Raises
    ------
    NotSupportedError
        On a GPU without cuSOLVER of CUDA 12.6 or newer; hipSOLVER has no such function.

    Examples
    --------
    >>> import PyGPU
    >>> values = PyGPU.linalg.eig(PyGPU.to_gpu([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    >>> sorted(values.get().imag.round(3).tolist())
    [-1.0, 1.0]
    """
    return _general(a, "eig", True)


def eigvals(a: Any) -> _core.GPUArray:
    """Compute eigenvalues of arbitrary square matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.

    Returns
    -------
    GPUArray
        Unordered; complex, as those of `eig`.

    Examples
    --------
    >>> import PyGPU
    >>> values = PyGPU.linalg.eigvals(PyGPU.to_gpu([[0.0, 1.0], [-1.0, 0.0]]))
    >>> sorted(values.get().imag.round(3).tolist())
    [-1.0, 1.0]
    """
    return _general(a, "eigvals", False).eigenvalues
