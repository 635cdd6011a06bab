"""CuPy's module `cupy.cuda.compiler`; `CompileException` is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import CompileException
from PyGPU._cupy.cuda.function import compile_with_cache
from PyGPU._names import public_modules as _public_modules

__all__ = ["CompileException", "compile_with_cache"]


_public_modules.publish(globals())
