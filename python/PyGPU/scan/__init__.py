"""PyCUDA's module ``pycuda.scan``: kernels that compute prefix sums and other scans."""

from PyGPU._core import ExclusiveScanKernel, InclusiveScanKernel

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]
