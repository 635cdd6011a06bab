"""CuPy's module of NVRTC: its exception class `NVRTCError`, which is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import NVRTCError

__all__ = ["NVRTCError"]
