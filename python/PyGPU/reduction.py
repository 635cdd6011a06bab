"""PyCUDA's module ``pycuda.reduction``: kernels that reduce arrays to one value."""

from PyGPU._core import ReductionKernel
from PyGPU._native.c_arguments import ScalarArg, VectorArg
from PyGPU._native.public import listing as _listing

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]


_listing.publish(globals())
