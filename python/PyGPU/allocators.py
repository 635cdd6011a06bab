"""`Allocator`, `HostAllocator` and `PagelockedAllocator`: memory described for ``GPUArray(allocator=...)``.

The array reads these attributes: `shape` and `dtype`; `strides` in bytes, or None for C order; `device_ptr`, the
device address to use, or None for separate device memory; `host_data`, the ndarray used as the host side, or
None for no host side. The array keeps the object alive, and the object keeps the memory.

Unlike the calls that return a status, these raise.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.allocators import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
