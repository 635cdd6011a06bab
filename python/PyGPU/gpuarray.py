"""The array class and its makers under the module name that PyCUDA and PybindGPU give them.

Everything here is also in `PyGPU`, except `HostAllocator`, `PagelockedAllocator` and `UnsupportedDataType`, whose plain
names only this module has, as in PybindGPU.
"""

from __future__ import annotations

from PyGPU import backend
from PyGPU._core import (
    GPUArray,
    arange,
    asarray,
    broadcast_to,
    empty,
    empty_like,
    expand_dims,
    flip,
    from_dlpack,
    full,
    full_like,
    moveaxis,
    ones,
    ones_like,
    to_gpu,
    to_gpu_async,
    zeros,
    zeros_like,
)
from PyGPU._labels import SUPPORTED_DTYPES, UnsupportedDataType, dtype
from PyGPU.allocators import Allocator, HostAllocator, PagelockedAllocator

__all__ = [
    "SUPPORTED_DTYPES",
    "Allocator",
    "GPUArray",
    "HostAllocator",
    "PagelockedAllocator",
    "UnsupportedDataType",
    "arange",
    "asarray",
    "backend",
    "broadcast_to",
    "dtype",
    "empty",
    "empty_like",
    "expand_dims",
    "flip",
    "from_dlpack",
    "full",
    "full_like",
    "moveaxis",
    "ones",
    "ones_like",
    "to_gpu",
    "to_gpu_async",
    "zeros",
    "zeros_like",
]
