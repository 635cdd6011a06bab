"""Functions that compute eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._linalg import solver_library
from PyGPU._linalg.operands import check_square, common_type, copy_column_major, real_type, transposed
from PyGPU._linalg.results import EighResult, EigResult

__all__ = ["eig", "eigh", "eigvals", "eigvalsh"]

_NOT_CONVERGED = "Eigenvalues did not converge"


def _checked(a: Any, function: str, UPLO: str) -> tuple[_core.GPUArray, np.dtype[Any]]:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    matrices = array(a, function)
    check_square(matrices)
    return matrices, common_type(matrices)


def _symmetric(a: _core.GPUArray, dtype: np.dtype[Any], is_lower: bool, vectors: bool) -> EighResult:
    work = copy_column_major(a, dtype)
    if not work.size:
        return EighResult(_core.empty(a.shape[:-1], real_type(dtype), device=a.device), transposed(work))
    values, info = solver_library.eigh(work, is_lower, vectors)
    solver_library.check(info, _NOT_CONVERGED)
    return EighResult(values, transposed(work))


def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Compute eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : GPUArray
        Hermitian matrices, in the last two axes; only the triangle that `UPLO` selects is read.
    UPLO : {'L', 'U'}, optional
        Triangle to read: lower or upper.

    Returns
    -------
    EighResult
        Named tuple of `eigenvalues`, in ascending order, and `eigenvectors`, in columns.

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
    matrices, dtype = _checked(a, "eigh", UPLO)
    numpy_result: Any = solver_library.by_numpy("eigh", matrices, UPLO)
    return (
        _symmetric(matrices, dtype, UPLO.upper() == "L", True)
        if numpy_result is NotImplemented
        else EighResult(*numpy_result)
    )


def eigvalsh(a: Any, UPLO: str = "L") -> _core.GPUArray:
    """Compute the eigenvalues of Hermitian matrices, in ascending order.

    Parameters
    ----------
    a : GPUArray
        Hermitian matrices, in the last two axes; only the triangle that `UPLO` selects is read.
    UPLO : {'L', 'U'}, optional
        Triangle to read: lower or upper.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.eigvalsh(PyGPU.to_gpu([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    matrices, dtype = _checked(a, "eigvalsh", UPLO)
    numpy_result: _core.GPUArray = solver_library.by_numpy("eigvalsh", matrices, UPLO)
    return (
        _symmetric(matrices, dtype, UPLO.upper() == "L", False).eigenvalues
        if numpy_result is NotImplemented
        else numpy_result
    )


def _general(a: Any, function: str, vectors: bool) -> EigResult:
    matrices = array(a, function)
    check_square(matrices)
    dtype = np.result_type(common_type(matrices), np.complex64)
    numpy_result: Any = solver_library.by_numpy(function, matrices)
    if numpy_result is not NotImplemented:
        # NumPy 2.4 returns real arrays if all imaginary parts are 0. PyGPU always returns complex arrays.
        values, vectors_by_column = (
            result.astype(dtype) for result in (numpy_result if vectors else (numpy_result, numpy_result))
        )
        return EigResult(values, vectors_by_column)
    if not matrices.size:
        empty = (_core.empty(shape, dtype, device=matrices.device) for shape in (matrices.shape[:-1], matrices.shape))
        return EigResult(*empty)
    # Real matrices stay real, because the library then computes exact conjugate pairs.
    work = copy_column_major(matrices, common_type(matrices))
    if not _core.current_stream(matrices.device).is_capturing and not _core.isfinite(matrices).all():
        raise LinAlgError("Array must not contain infs or NaNs")
    values, vectors_by_column, info = solver_library.eig(work, vectors)
    solver_library.check(info, _NOT_CONVERGED)
    return EigResult(values, transposed(vectors_by_column))


def eig(a: Any) -> EigResult:
    """Compute eigenvalues and eigenvectors of arbitrary square matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.

    Returns
    -------
    EigResult
        Named tuple of `eigenvalues`, unordered, and `eigenvectors`, in columns. Both are complex, as in NumPy 2.5 and
        the array API. NumPy 2.4 returns real arrays if no eigenvalue has an imaginary part. PyGPU makes no such test,
        because the host would wait for it.

    Raises
    ------
    NotSupportedError
        On an NVIDIA GPU with cuSOLVER from a CUDA version before 12.6, and on AMD GPUs, because hipSOLVER has no such
        function.

    Examples
    --------
    >>> import PyGPU
    >>> values = PyGPU.linalg.eig(PyGPU.to_gpu([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    >>> sorted(values.get().imag.round(3).tolist())
    [-1.0, 1.0]
    """
    return _general(a, "eig", True)


def eigvals(a: Any) -> _core.GPUArray:
    """Compute the eigenvalues of arbitrary square matrices.

    Parameters
    ----------
    a : GPUArray
        The matrices, in the last two axes.

    Returns
    -------
    GPUArray
        Complex eigenvalues in no particular order, as from `eig`.

    Examples
    --------
    >>> import PyGPU
    >>> values = PyGPU.linalg.eigvals(PyGPU.to_gpu([[0.0, 1.0], [-1.0, 0.0]]))
    >>> sorted(values.get().imag.round(3).tolist())
    [-1.0, 1.0]
    """
    return _general(a, "eigvals", False).eigenvalues
