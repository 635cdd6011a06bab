"""CuPy's module `cupy.cuda.compiler`; `CompileException` is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import CompileException
from PyGPU._cupy.cuda.function import compile_with_cache
from PyGPU._native.public import listing as _listing

__all__ = ["CompileException", "compile_with_cache"]


_listing.publish(globals())
