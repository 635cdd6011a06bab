"""CuPy's module `cupy.lib`, which contains `stride_tricks`."""

from PyGPU._native.public import listing as _listing
from PyGPU.cupy.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]


_listing.publish(globals())
