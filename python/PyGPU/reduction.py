"""Kernels that join all elements to one value, under PyCUDA's names."""

from PyGPU._c_types import ScalarArg, VectorArg
from PyGPU._core import ReductionKernel

__all__ = ["ReductionKernel", "ScalarArg", "VectorArg"]
