"""CuPy's module `cupy.cuda.driver`: functions of the CUDA driver."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.driver import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
