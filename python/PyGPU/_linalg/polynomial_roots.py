"""The functions `roots` and `poly`, which convert between coefficients and roots of a polynomial.

Coefficients begin with the highest power, as in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._functions.calculus.polynomials import _coefficients
from PyGPU._functions.joining import concatenate
from PyGPU._linalg.eigen import eigvals
from PyGPU._names.public import public


@public("Slopes, areas, filters, polynomials")
def poly(seq_of_zeros: Any) -> _core.GPUArray:
    """Return the coefficients of the polynomial with given roots, or the characteristic polynomial of a matrix.

    The coefficients are real if the conjugate of each root is also a root. For complex roots the host waits for this
    comparison.

    Parameters
    ----------
    seq_of_zeros : GPUArray
        Roots, or a square matrix, whose eigenvalues are the roots.

    Returns
    -------
    GPUArray
        Coefficients, the highest power first; the first coefficient is 1. If `seq_of_zeros` is empty, an array without
        axes.

    Raises
    ------
    ValueError
        If the array has two axes and is no square matrix, or more than two axes.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.poly(PyGPU.to_gpu([1, 2])).tolist()
    [1.0, -3.0, 2.0]
    """
    (sequence,) = _coefficients(seq_of_zeros)
    is_matrix = sequence.ndim == 2 and sequence.shape[0] == sequence.shape[1] != 0
    if not is_matrix and sequence.ndim != 1:
        raise ValueError(f"input must be 1d or non-empty square 2d array, not of shape {sequence.shape}")
    zeros = eigvals(sequence) if is_matrix else sequence.astype(np.mintypecode(sequence.dtype.char))
    if zeros.size == 0:
        return _core.ones((), np.float64, device=sequence.device)
    coefficients = _core.zeros(zeros.size + 1, zeros.dtype, device=zeros.device)
    coefficients[0] = 1
    for degree in range(zeros.size):
        # Multiply the polynomial by (x - zero). The right side is computed before the subtraction begins.
        coefficients[1 : degree + 2] -= zeros[degree : degree + 1] * coefficients[: degree + 1]
    is_real = zeros.dtype.kind == "c" and ((is_matrix and sequence.dtype.kind != "c") or _are_conjugate(zeros))
    return coefficients.real.copy() if is_real else coefficients


def _are_conjugate(zeros: _core.GPUArray) -> bool:
    """Test whether the conjugate of each root is also a root; the host waits for the result."""
    roots = zeros.astype(np.complex128)
    return bool((_core.sort(roots) == _core.sort(roots.conj())).all())


@public("Slopes, areas, filters, polynomials")
def roots(p: Any) -> _core.GPUArray:
    """Return the roots of a polynomial, which are the eigenvalues of its companion matrix.

    The host waits for the positions of the first and the last coefficient that is not 0, which determine the number of
    roots.

    Parameters
    ----------
    p : GPUArray
        One-dimensional array of the coefficients, the highest power first.

    Returns
    -------
    GPUArray
        Roots in no particular order, always complex. NumPy's roots are real if no root has an imaginary part.

    Raises
    ------
    ValueError
        If `p` has more than one axis.
    NotSupportedError
        If `linalg.eigvals` does not support the device.

    Examples
    --------
    >>> import PyGPU
    >>> sorted(PyGPU.roots(PyGPU.to_gpu([1.0, -3.0, 2.0, 0.0])).real.round(6).tolist())
    [0.0, 1.0, 2.0]
    """
    (coefficients,) = _coefficients(p)
    if coefficients.ndim != 1:
        raise ValueError(f"Input must be a rank-1 array, not of shape {coefficients.shape}.")
    first, last = _ends(coefficients)
    if last < 0:
        return _core.empty(0, np.float64, device=coefficients.device)
    zeros_at_0 = coefficients.size - 1 - last
    stripped = coefficients[first : last + 1]
    if stripped.dtype.kind not in "fc":
        stripped = stripped.astype(np.float64)
    if stripped.size == 1:
        return _core.zeros(zeros_at_0, np.float64, device=coefficients.device)
    companion = _core.zeros((stripped.size - 1, stripped.size - 1), stripped.dtype, device=stripped.device)
    companion.reshape(-1)[stripped.size - 1 :: stripped.size] = 1
    companion[0] = -stripped[1:] / stripped[:1]
    result = eigvals(companion)
    return concatenate([result, _core.zeros(zeros_at_0, result.dtype, device=result.device)]) if zeros_at_0 else result


def _ends(coefficients: _core.GPUArray) -> tuple[int, int]:
    """Return the indices of the first and the last nonzero coefficient; the last index is -1 if all are 0."""
    if coefficients.size == 0:
        return 0, -1
    is_not_zero = coefficients != 0
    ends = _core.empty(3, np.int64, device=coefficients.device)
    ends[0], ends[1], ends[2] = is_not_zero.argmax(), is_not_zero[::-1].argmax(), is_not_zero.any()
    first, after, has_any = ends.tolist()
    return (first, coefficients.size - 1 - after) if has_any else (0, -1)
