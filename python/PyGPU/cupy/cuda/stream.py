"""CuPy's module `cupy.cuda.stream`: streams and events."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.event import *
from PyGPU._cupy.cuda.stream import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
