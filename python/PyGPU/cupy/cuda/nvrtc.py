"""CuPy's module `cupy.cuda.nvrtc`; its exception class `NVRTCError` is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import NVRTCError

__all__ = ["NVRTCError"]
