"""Marks and ranges in a profiler's timeline.

``available`` tells whether a library for them exists. The first call enables PyGPU's own ranges too
(`PyGPU.profile.annotate`). Without a library, the functions do nothing.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.nvtx import *

if TYPE_CHECKING:
    available: bool
else:
    from PyGPU._cupy.cuda import nvtx as _nvtx
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())

    def __getattr__(name: str):
        # Access to `available` opens the library. It is therefore no constant.
        if name == "available":
            return _nvtx.is_available()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
