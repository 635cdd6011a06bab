"""Kernels that join all elements to one value, under PyCUDA's names."""

from PyGPU._core import ReductionKernel
from PyGPU._native.c_arguments import ScalarArg, VectorArg

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]
