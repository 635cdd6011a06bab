"""NumPy's module `lib`, as far as it is about arrays: `stride_tricks`."""

from PyGPU.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
