"""PyCUDA's module ``pycuda.characterize``, whose functions report properties of device code."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.characterize import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
