"""PyCUDA's module ``pycuda.reduction``: kernels that reduce arrays to one value."""

from PyGPU._core import ReductionKernel
from PyGPU._native.c_arguments import ScalarArg, VectorArg

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]
