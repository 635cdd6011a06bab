"""PyCUDA's module ``pycuda.cumath``: elementwise functions whose results have the array's dtype.

For integer arrays, the results are integers as well.

The functions of `PyGPU` itself follow NumPy.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.cumath import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
