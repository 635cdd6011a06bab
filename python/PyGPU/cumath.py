"""PyCUDA's module ``pycuda.cumath``: elementwise functions whose results have the array's dtype.

For integer arrays, the results are integers as well.

The functions of `PyGPU` itself follow NumPy.
"""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._pycuda.cumath import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
