"""CuPy's module `cupy.cuda.driver`: functions of the CUDA driver."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._cupy.cuda.driver import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
