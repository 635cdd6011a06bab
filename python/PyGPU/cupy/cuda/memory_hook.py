"""CuPy's module `cupy.cuda.memory_hook`, with the base class of memory hooks."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.memory_hook import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
