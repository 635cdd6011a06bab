"""CuPy's module `cupy.cuda.nvrtc`; its exception class `NVRTCError` is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import NVRTCError
from PyGPU._names import public_modules as _public_modules

__all__ = ["NVRTCError"]


_public_modules.publish(globals())
