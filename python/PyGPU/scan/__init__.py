"""PyCUDA's module ``pycuda.scan``: kernels that compute prefix sums and other scans."""

from PyGPU._core import ExclusiveScanKernel, InclusiveScanKernel
from PyGPU._names import public_modules as _public_modules

__all__ = ["ExclusiveScanKernel", "InclusiveScanKernel"]


_public_modules.publish(globals())
