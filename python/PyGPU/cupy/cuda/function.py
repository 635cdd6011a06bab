"""CuPy's module `cupy.cuda.function`, with the classes `Module` and `Function` of compiled code."""

from PyGPU._cupy.cuda.function import Module
from PyGPU._cupy.kernels.function import Function
from PyGPU._native.public import listing as _listing

__all__ = ["Function", "Module"]


_listing.publish(globals())
