"""PyCUDA's ``pycuda.characterize``: what the platform has."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.characterize import *

if not TYPE_CHECKING:
    from PyGPU._native import names as _names

    __all__ = _names.listed(globals())
