"""CuPy's module of compiled code: `Module` and `Function`."""

from PyGPU._cupy.cuda.function import Module
from PyGPU._cupy.kernels.function import Function

__all__ = ["Function", "Module"]
