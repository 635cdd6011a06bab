"""Marks and ranges in a profiler's timeline; ``available`` is true if NVTX or ROCTX is installed.

The first call of a function also calls `PyGPU.profile.annotate`, which enables the ranges of PyGPU's own functions.
Without NVTX and ROCTX, the functions do nothing.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.nvtx import *

if TYPE_CHECKING:
    available: bool
else:
    from PyGPU._cupy.cuda import nvtx as _nvtx
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())

    def __getattr__(name: str):
        # Reading `available` opens the library, so its value is computed at the first access and not at import.
        if name == "available":
            return _nvtx.is_available()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    _public_modules.publish(globals(), "available")
