"""Kernels that do one thing for each element, under PyCUDA's names."""

from PyGPU._c_types import ScalarArg, VectorArg
from PyGPU._core import ElementwiseKernel

__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg"]
