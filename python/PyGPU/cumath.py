"""Mathematics of each element under PyCUDA's names, with its dtypes: a result has that of the array, also of integers.

The functions of `PyGPU` itself follow NumPy.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.cumath import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
