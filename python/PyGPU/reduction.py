"""PyCUDA's module ``pycuda.reduction``: kernels that reduce arrays to one value."""

from PyGPU._arguments.c_arguments import ScalarArg, VectorArg
from PyGPU._core import ReductionKernel
from PyGPU._names import public_modules as _public_modules

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]


_public_modules.publish(globals())
