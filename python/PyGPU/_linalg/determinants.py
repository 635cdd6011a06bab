"""The functions `det` and `slogdet`, which multiply the diagonal elements of triangular factors."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._functions.array_arguments import array
from PyGPU._linalg import solver_library
from PyGPU._linalg.operands import check_square, common_type, copy_in_memory_order, real_type
from PyGPU._linalg.results import SlogdetResult

__all__ = ["det", "slogdet"]


def _factors(a: _core.GPUArray, dtype: Any) -> tuple[_core.GPUArray, _core.GPUArray, _core.GPUArray]:
    """Return the diagonals of matrices' LU factors, the signs of the row exchanges, and a mask of singular matrices."""
    factors, _ = copy_in_memory_order(a, dtype)
    _, pivots, info, _ = solver_library.lu(factors)
    row_numbers = _core.arange(1, a.shape[-1] + 1, dtype="int32", device=a.device)
    exchanges = (pivots != row_numbers).sum(-1) % 2
    sign: _core.GPUArray = _core.where(exchanges == 1, real_type(dtype).type(-1), real_type(dtype).type(1))
    return factors.diagonal(0, -2, -1), sign, info > 0


def det(a: Any) -> _core.GPUArray:
    """Compute the determinants of square matrices.

    Parameters
    ----------
    a : GPUArray
        Square matrices, in the last two axes.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.linalg.det(PyGPU.to_gpu([[2.0, 0.0], [0.0, 4.0]])).round(6).item()
    8.0
    """
    a = array(a, "det")
    check_square(a)
    dtype = common_type(a)
    numpy_result: _core.GPUArray = solver_library.by_numpy("det", a)
    if numpy_result is not NotImplemented:
        return numpy_result
    if not a.size:
        return _core.ones(a.shape[:-2], dtype, device=a.device)
    diagonal, sign, is_singular = _factors(a, dtype)
    product: _core.GPUArray = _core.where(is_singular, dtype.type(0), diagonal.prod(-1) * sign)
    return product


def slogdet(a: Any) -> SlogdetResult:
    """Compute the signs of the determinants of square matrices, and the logarithms of their absolute values.

    Parameters
    ----------
    a : GPUArray
        Square matrices, in the last two axes.

    Returns
    -------
    SlogdetResult
        Named tuple of `sign`, for complex matrices a number of absolute value 1, and `logabsdet`. For a singular
        matrix, `sign` is 0 and `logabsdet` is -inf.

    Examples
    --------
    >>> import PyGPU
    >>> sign, logabsdet = PyGPU.linalg.slogdet(PyGPU.to_gpu([[-1.0, 0.0], [0.0, 1.0]]))
    >>> sign.item(), logabsdet.item()
    (-1.0, 0.0)
    """
    a = array(a, "slogdet")
    check_square(a)
    dtype = common_type(a)
    numpy_result = solver_library.by_numpy("slogdet", a)
    if numpy_result is not NotImplemented:
        return SlogdetResult(*numpy_result)
    real = real_type(dtype)
    if not a.size:
        shape = a.shape[:-2]
        return SlogdetResult(_core.ones(shape, dtype, device=a.device), _core.zeros(shape, real, device=a.device))
    diagonal, sign, is_singular = _factors(a, dtype)
    sizes: _core.GPUArray = _core.abs(diagonal)
    sign = (diagonal / sizes).prod(-1) * sign
    return SlogdetResult(
        _core.where(is_singular, dtype.type(0), sign),
        _core.where(is_singular, real.type(-float("inf")), _core.log(sizes).sum(-1)),
    )
