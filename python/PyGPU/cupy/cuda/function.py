"""CuPy's module `cupy.cuda.function`, with the classes `Module` and `Function` of compiled code."""

from PyGPU._cupy.cuda.function import Module
from PyGPU._cupy.kernels.function import Function
from PyGPU._names import public_modules as _public_modules

__all__ = ["Function", "Module"]


_public_modules.publish(globals())
