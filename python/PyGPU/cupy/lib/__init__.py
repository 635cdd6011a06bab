"""CuPy's module `cupy.lib`, which contains `stride_tricks`."""

from PyGPU.cupy.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
