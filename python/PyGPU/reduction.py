"""Reduction kernels with PyCUDA's names."""

from PyGPU._core import ReductionKernel
from PyGPU._native.c_arguments import ScalarArg, VectorArg

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]
