"""CuPy's module `cupy.lib`, which contains `stride_tricks`."""

from PyGPU._names import public_modules as _public_modules
from PyGPU.cupy.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]


_public_modules.publish(globals())
