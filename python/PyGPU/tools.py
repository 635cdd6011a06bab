"""PyCUDA's module ``pycuda.tools``: the default context, memory pools, caches for each context, C types, occupancy."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._native.c_arguments import *
from PyGPU._native.c_types import *
from PyGPU._pycuda.tools.bin_numbers import *
from PyGPU._pycuda.tools.context import *
from PyGPU._pycuda.tools.dtypes import *
from PyGPU._pycuda.tools.occupancy import *
from PyGPU._pycuda.tools.pools import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
