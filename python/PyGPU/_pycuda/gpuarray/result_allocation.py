"""Choose the stream, the allocator and the dtype of results of PyCUDA's functions.

The result of every function has the dtype of its array argument; for arrays of integers, the computed values are
truncated to integers. In PyCUDA this rule follows from ``_make_unary_array_func`` of ``cumath.py``, which creates
results by ``_new_like_me``, and from ``_make_binary_minmax_func`` of ``gpuarray.py``, which creates results by
``empty_like``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from PyGPU import _core


def on(stream: Any) -> AbstractContextManager[Any]:
    """Return a context manager that makes `stream` the thread's current stream, or does nothing if `stream` is None."""
    return nullcontext() if stream is None else stream


class allocating:
    """Context manager in which `allocator` allocates the results of functions, and of operations on these results."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._scope: Any = None

    def __enter__(self) -> None:
        if self._allocator is not None:
            self._scope = _core._ThreadsAllocator(self._allocator, True)

    def __exit__(self, *exception: object) -> None:
        if self._scope is not None:
            self._scope.put_back()


def like_first(
    function: _core.Ufunc, operands: tuple[Any, ...], out: _core.GPUArray | None, dtype: Any = None
) -> _core.GPUArray:
    """Call a ufunc; the result has the dtype of the first array among the operands, unless `out` is given.

    The ufunc computes in `dtype`, and the results are then converted to the dtype of the output.
    """
    arrays = [operand for operand in operands if isinstance(operand, _core.GPUArray)]
    if out is None:
        out = _core.empty_like(arrays[0], shape=np.broadcast_shapes(*(operand.shape for operand in arrays)))
    result: _core.GPUArray = function(*operands, out=out, casting="unsafe", dtype=dtype)
    return result
