"""Check matrices, and copy matrices to the layouts that cuSOLVER and hipSOLVER require."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from PyGPU import _core

__all__: list[str] = []


def common_type(*arrays: _core.GPUArray) -> np.dtype[Any]:
    """Return the dtype in which the function computes; raise NumPy's error for an unsupported dtype."""
    first = arrays[0].dtype
    if first.char in "fdFD" and all(array.dtype == first for array in arrays):
        return first
    types = [
        array.dtype if array.dtype.kind in "fcV" or array.dtype.kind not in "biu" else np.dtype(float)
        for array in arrays
    ]
    for dtype in types:
        if dtype.name not in ("float32", "float64", "complex64", "complex128"):
            raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    return np.result_type(*types)


def real_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the real parts of the numbers that have a given dtype."""
    return np.empty(0, dtype).real.dtype


def check_stack(a: _core.GPUArray) -> None:
    """Raise NumPy's error for an array with fewer than two axes, because it contains no matrices."""
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")


def check_matrices(*arrays: _core.GPUArray) -> None:
    """Raise NumPy's error for an array that does not have exactly two axes."""
    for a in arrays:
        if a.ndim != 2:
            raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")


def check_square(a: _core.GPUArray) -> None:
    """Raise NumPy's error unless the last two axes of an array have equal length, so that its matrices are square."""
    check_stack(a)
    if a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def transposed(a: _core.GPUArray) -> _core.GPUArray:
    """Return a view of the transposed matrices."""
    return a.swapaxes(-1, -2)


def copy_row_major(a: _core.GPUArray, dtype: np.dtype[Any]) -> _core.GPUArray:
    """Copy matrices to C order, which a column-major library reads as their transposes."""
    if a.dtype == dtype and type(a) is _core.GPUArray:
        return a.copy("C")
    result = _core.empty(a.shape, dtype, device=a.device)
    result[...] = a
    return result


def copy_column_major(a: _core.GPUArray, dtype: np.dtype[Any]) -> _core.GPUArray:
    """Copy matrices to column order; in the result the axis of columns precedes the axis of rows."""
    return copy_row_major(transposed(a), dtype)


def copy_in_memory_order(a: _core.GPUArray, dtype: np.dtype[Any]) -> tuple[_core.GPUArray, bool]:
    """Copy matrices in their own memory order; also return whether a column-major library reads their transposes."""
    if transposed(a).flags.c_contiguous:
        return copy_column_major(a, dtype), False
    return copy_row_major(a, dtype), True


def view_in_memory_order(a: _core.GPUArray, dtype: np.dtype[Any]) -> tuple[_core.GPUArray, bool]:
    """Return contiguous matrices, as a view if possible; also return whether these are the transposed matrices."""
    if a.dtype == dtype:
        if a.flags.c_contiguous:
            return a, False
        view = transposed(a)
        if view.flags.c_contiguous:
            return view, True
    return copy_row_major(a, dtype), False


def identity(a: _core.GPUArray, row_count: int, column_count: int, dtype: np.dtype[Any]) -> _core.GPUArray:
    """Return a stack of identity matrices with the shape of a given stack of matrices."""
    result = _core.zeros((*a.shape[:-2], row_count, column_count), dtype, device=a.device)
    if result.size:
        result.diagonal(0, -2, -1).fill(1)
    return result


def conjugate(a: _core.GPUArray) -> _core.GPUArray:
    """Return the conjugates of the elements; return a real array unchanged."""
    return _core.conj(a) if a.dtype.kind == "c" else a
