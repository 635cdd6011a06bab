"""PyCUDA's module ``pycuda.elementwise``: kernels that execute an operation for each element."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._arguments.c_arguments import ScalarArg as ScalarArg, VectorArg as VectorArg
from PyGPU._core import ElementwiseKernel as ElementwiseKernel
from PyGPU._pycuda.elementwise.kernel_factories import *
from PyGPU._pycuda.elementwise.source import *
from PyGPU._pycuda.elementwise.texture_kernels import *

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = _public_modules.listed(globals())
    _public_modules.publish(globals())
