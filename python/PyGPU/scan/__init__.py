"""PyCUDA's module ``pycuda.scan``: kernels that compute prefix sums and other scans."""

from PyGPU._core import ExclusiveScanKernel, InclusiveScanKernel
from PyGPU._native.public import listing as _listing

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


_listing.publish(globals())
