"""Compute stacks of small matrices by PyGPU's kernels, without the vendors' libraries.

Each function returns None if the matrices are too large for a thread block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._linalg.operands import copy_row_major, transposed

__all__: list[str] = []

SIDE = 64
"""Maximum number of rows of a matrix."""


def _in_memory_order(a: _core.GPUArray, dtype: np.dtype[Any]) -> tuple[_core.GPUArray, bool]:
    """Return contiguous matrices without a copy if possible; also return whether these are the transposed matrices."""
    if a.dtype == dtype:
        if a.flags.c_contiguous:
            return a, False
        view = transposed(a)
        if view.flags.c_contiguous:
            return view, True
    return copy_row_major(a, dtype), False


def _run(
    name: str, a: _core.GPUArray, dtype: np.dtype[Any], result: _core.GPUArray
) -> tuple[_core.GPUArray, _core.GPUArray] | None:
    """Compute `result`, and return it with the status of each matrix."""
    matrices, is_transposed = _in_memory_order(a, dtype)
    info = _core.empty(a.shape[:-2], np.int32, device=a.device)
    return (result, info) if _core._factorize_small(name, matrices, result, info, is_transposed) else None


def cholesky(a: _core.GPUArray, dtype: np.dtype[Any], upper: bool) -> tuple[_core.GPUArray, _core.GPUArray] | None:
    """Compute Cholesky factors; the other triangle is zero."""
    if not 0 < a.shape[-1] <= SIDE:
        return None
    result = _core.empty(a.shape, dtype, device=a.device)
    return _run("cholesky_upper" if upper else "cholesky", a, dtype, result)


def inverse(a: _core.GPUArray, dtype: np.dtype[Any]) -> tuple[_core.GPUArray, _core.GPUArray] | None:
    """Compute inverses."""
    if not 0 < a.shape[-1] <= SIDE:
        return None
    return _run("inverse", a, dtype, _core.empty(a.shape, dtype, device=a.device))


def solve(
    a: _core.GPUArray, right_sides: _core.GPUArray, dtype: np.dtype[Any]
) -> tuple[_core.GPUArray, _core.GPUArray] | None:
    """Solve linear systems whose matrices and right sides have the same number of matrices."""
    n, columns = right_sides.shape[-2:]
    if not (0 < n <= SIDE and 0 < columns <= SIDE):
        return None
    return _run("solve", a, dtype, copy_row_major(right_sides, dtype))
