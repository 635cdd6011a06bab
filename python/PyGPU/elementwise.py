"""Kernels that do one thing for each element, under PyCUDA's names."""

from PyGPU._core import ElementwiseKernel
from PyGPU._native.c_arguments import ScalarArg, VectorArg

__all__ = ["ElementwiseKernel", "ScalarArg", "VectorArg"]
