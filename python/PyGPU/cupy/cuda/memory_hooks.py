"""CuPy's module `cupy.cuda.memory_hooks`: memory hooks that print or sum allocations."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.memory_hooks import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
