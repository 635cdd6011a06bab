"""The classes `Allocator`, `HostAllocator` and `PagelockedAllocator`, for ``GPUArray(allocator=...)``.

These objects describe memory that already exists.

The array reads these attributes of the object that is passed as `allocator`:

- `shape` and `dtype` of the array;
- `strides` in bytes, or None for C order;
- `device_ptr`, the device address to use, or None to let the array allocate its own device memory;
- `host_data`, the ndarray used as the array's host side, or None for no host side.

The array keeps the object alive, and the object keeps the memory alive. These classes raise exceptions, in contrast to
the `cuda*` calls, which return a status.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pybindgpu.allocators import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
