"""Compute stacks of small matrices by PyGPU's kernels, without the vendors' libraries.

Each function returns None if the matrices are too large for a thread block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._linalg.operands import copy_row_major, real_type, view_in_memory_order
from PyGPU._linalg.results import SVDResult

__all__: list[str] = []

_Computed = tuple[_core.GPUArray, _core.GPUArray]


def fits(name: str, a: _core.GPUArray, dtype: np.dtype[Any], columns: int) -> bool:
    """Return whether a kernel can compute the matrices, whose results have the given number of columns."""
    return _core._fits_small(name, a, dtype, a.shape[-2], columns)


def _run(name: str, a: _core.GPUArray, dtype: np.dtype[Any], result: _core.GPUArray) -> _Computed:
    """Compute `result`, and return it with the status of each matrix."""
    matrices, is_transposed = view_in_memory_order(a, dtype)
    info = _core.empty(a.shape[:-2], np.int32, device=a.device)
    _core._factorize_small(name, matrices, result, info, is_transposed)
    return result, info


def cholesky(a: _core.GPUArray, dtype: np.dtype[Any], upper: bool) -> _Computed | None:
    """Compute Cholesky factors; the other triangle is zero."""
    name = "cholesky_upper" if upper else "cholesky"
    if not fits(name, a, dtype, a.shape[-1]):
        return None
    return _run(name, a, dtype, _core.empty(a.shape, dtype, device=a.device))


def inverse(a: _core.GPUArray, dtype: np.dtype[Any]) -> _Computed | None:
    """Compute inverses."""
    if not fits("inverse", a, dtype, a.shape[-1]):
        return None
    return _run("inverse", a, dtype, _core.empty(a.shape, dtype, device=a.device))


def solve(a: _core.GPUArray, right_sides: _core.GPUArray, dtype: np.dtype[Any]) -> _Computed | None:
    """Solve linear systems whose matrices and right sides have the same number of matrices."""
    if not fits("solve", a, dtype, right_sides.shape[-1]):
        return None
    return _run("solve", a, dtype, copy_row_major(right_sides, dtype))


def refine(
    a: _core.GPUArray, vectors: tuple[_core.GPUArray, _core.GPUArray], is_conjugated: bool, counts: tuple[int, int]
) -> SVDResult | None:
    """Refine left and right singular vectors, which are rows, and compute the singular values.

    `counts` contains the numbers of left and right vectors of the result.
    """
    m, n = a.shape[-2:]
    dtype = vectors[0].dtype
    if not fits("refine", a, dtype, n):
        return None
    matrices, is_transposed = view_in_memory_order(a, dtype)
    result = SVDResult(
        _core.empty((*a.shape[:-1], counts[0]), dtype, device=a.device),
        _core.empty((*a.shape[:-2], min(m, n)), real_type(dtype), device=a.device),
        _core.empty((*a.shape[:-2], counts[1], n), dtype, device=a.device),
    )
    _core._refine_small([matrices, *vectors, *result], is_transposed, is_conjugated)
    return result
