"""PyCUDA's module ``pycuda.tools``: the default context, memory pools, caches for each context, C types, occupancy."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._arguments.c_arguments import *
from PyGPU._arguments.c_types import *
from PyGPU._pycuda.tools.bitlog2 import *
from PyGPU._pycuda.tools.context import *
from PyGPU._pycuda.tools.dtypes import *
from PyGPU._pycuda.tools.occupancy import *
from PyGPU._pycuda.tools.pools import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
