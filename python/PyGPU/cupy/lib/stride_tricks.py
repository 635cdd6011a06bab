"""Functions that create views with given strides, as in `cupy.lib.stride_tricks`."""

from PyGPU._names import public_modules as _public_modules
from PyGPU.lib.stride_tricks import as_strided, broadcast_arrays, broadcast_to, sliding_window_view

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]


_public_modules.publish(globals())
