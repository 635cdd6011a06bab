"""Kernels that join to each element what stands before it, under PyCUDA's names."""

from PyGPU._core import ExclusiveScanKernel, InclusiveScanKernel

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]
