"""PyCUDA's module ``pycuda.characterize``, whose functions report properties of device code."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.characterize import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
