"""The method `GPUArray.reduced_view`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PyGPU import _core

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

__all__ = ["reduced_view"]


def reduced_view(a: _core.GPUArray, dtype: DTypeLike | None = None) -> _core.GPUArray:
    """Return a view in which adjacent axes that are contiguous in memory are merged."""
    view = a if dtype is None else a.view(dtype)
    if view.size == 0:
        return view.reshape(0)
    lengths: list[int] = []
    last_stride = 0
    for length, stride in zip(view.shape, view.strides, strict=True):
        if length == 1:
            continue
        if lengths and last_stride == length * stride:
            lengths[-1] *= length
        else:
            lengths.append(length)
        last_stride = stride
    return view.reshape(lengths, copy=False)
