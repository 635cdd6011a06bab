"""CuPy's module `cupy.cuda.nvrtc`; its exception class `NVRTCError` is `PyGPU.CompileError`."""

from PyGPU._cupy.cuda.errors import NVRTCError
from PyGPU._native.public import listing as _listing

__all__ = ["NVRTCError"]


_listing.publish(globals())
