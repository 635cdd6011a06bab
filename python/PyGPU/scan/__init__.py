"""Scan kernels with PyCUDA's names."""

from PyGPU._core import ExclusiveScanKernel, InclusiveScanKernel

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]
