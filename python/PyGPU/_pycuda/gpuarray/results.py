"""Where the results of PyCUDA's functions go, and of which dtype they are, which is not as in NumPy.

A result has the dtype of the array, whatever the function; of integers the whole part is kept. In PyCUDA the rule is in
``_make_unary_array_func`` of ``cumath.py``, which makes results by ``_new_like_me``, and in
``_make_binary_minmax_func`` of ``gpuarray.py``, which makes them by ``empty_like``.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from PyGPU import _core


def on(stream: Any) -> AbstractContextManager[Any]:
    """Make an argument ``stream=`` the thread's current stream; None leaves that as it is."""
    return nullcontext() if stream is None else stream


class allocating:
    """Let results come from an argument ``allocator=``, and those of operations on them; None leaves that as it is."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._chosen: Any = None

    def __enter__(self) -> None:
        if self._allocator is not None:
            self._chosen = _core._ThreadsAllocator(self._allocator, True)

    def __exit__(self, *exception: object) -> None:
        if self._chosen is not None:
            self._chosen.put_back()


def like_first(
    function: _core.Ufunc, operands: tuple[Any, ...], out: _core.GPUArray | None, dtype: Any = None
) -> _core.GPUArray:
    """Compute into `out`, or a new array of the first array's dtype; in the loop for `dtype` if one is given."""
    arrays = [one for one in operands if isinstance(one, _core.GPUArray)]
    if out is None:
        out = _core.empty_like(arrays[0], shape=np.broadcast_shapes(*(one.shape for one in arrays)))
    result: _core.GPUArray = function(*operands, out=out, casting="unsafe", dtype=dtype)
    return result
