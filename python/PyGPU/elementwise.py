"""PyCUDA's module ``pycuda.elementwise``: kernels that execute an operation for each element."""

# ruff: noqa: F403
from typing import TYPE_CHECKING

from PyGPU._core import ElementwiseKernel as ElementwiseKernel
from PyGPU._native.c_arguments import ScalarArg as ScalarArg, VectorArg as VectorArg
from PyGPU._pycuda.elementwise.kernel_factories import *
from PyGPU._pycuda.elementwise.source import *
from PyGPU._pycuda.elementwise.texture_kernels import *

if not TYPE_CHECKING:
    from PyGPU._native.public import listing as _listing

    __all__ = _listing.listed(globals())
    _listing.publish(globals())
